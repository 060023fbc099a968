#include "compiler/sema/build_elements.h"

#include <algorithm>

#include "compiler/sema/walk.h"
#include "runtime/base/error_codes.h"

namespace wf::sema {

using ir::OpKind;
using ir::ValueId;

namespace {

constexpr int64_t kMostOfOne = int64_t{1} << 46;  // elements that one loop counts as: sums over 65,536 turns do not wrap

std::optional<int64_t> FixedLength(const Expr& source) {
  if (source.type->kind == TypeKind::kTensor) return source.type->dims[0].constant();
  if (source.kind == ExprKind::kList) return static_cast<int64_t>(source.args.size());
  return std::nullopt;
}

}  // namespace

ValueId ElementCount::Write(BodyWriter& writer, const Expr& each, const std::vector<ValueId>& sources) {
  count_ = writer.CountOf(sources);
  WriteCheck(writer, count_);
  Enter(each, nullptr);
  for (size_t i = 0; i < sources.size(); ++i) elements_[each.loop->locals[i + each.loop->enumerate]].list = {sources[i]};
  CountInside(writer, *each.args[0]);
  return count_;
}

void ElementCount::WriteCheck(BodyWriter& writer, ValueId all) const {
  ir::Builder& b = writer.builder();
  const ValueId over = b.Binary(OpKind::kLt, b.I64(limit_), all);
  if (b.IsConstant(over, 0)) return;
  const ir::BlockId message = b.Open({});
  const std::string text = "{} elements, and `limit` is " + std::to_string(limit_);
  b.Close(b.Emit(OpKind::kText, b.types().String(), {all}, ir::AddText(out_, text)));
  b.FailIf(over, code::kInputParams, message);
}

// Goes through what every element runs: neither the arms of an `if` nor what a fallback replaces.
void ElementCount::CountInside(BodyWriter& writer, const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kEach:
      for (const ExprPtr& source : expr.loop->sources) CountInside(writer, *source);
      return CountEach(writer, expr);
    case ExprKind::kIf:
    case ExprKind::kAnd:
    case ExprKind::kOr:
    case ExprKind::kCoalesce:
      return CountInside(writer, *expr.args[0]);
    case ExprKind::kBlock:
      for (const BlockStep& step : expr.steps) {
        if (!step.is_let && IsCaught()) return;  // the `require` may spare an element the rest
        if (step.is_let) lets_[step.local] = step.value.get();
        CountInside(writer, *step.value);
      }
      return CountInside(writer, *expr.args[0]);
    default:
      ForEachChild(expr, [&](const Expr& child) { CountInside(writer, child); });
  }
}

void ElementCount::Enter(const Expr& each, const Expr* known) {
  around_.push_back({&each, known});
  const Loop& loop = *each.loop;
  for (size_t i = 0; i < loop.sources.size(); ++i) elements_[loop.locals[i + loop.enumerate]] = {.source = loop.sources[i].get()};
}

void ElementCount::CountEach(BodyWriter& writer, const Expr& each) {
  const Expr* const known = KnownSource(each);
  if (known == nullptr) return;
  Enter(each, known);
  WriteCheck(writer, SumFrom(writer, 0, count_));
  counted_.insert(&each);
  CountInside(writer, *each.args[0]);
  around_.pop_back();
}

// The elements of the last of the loops, for all turns of the one at `level`, which has `count`, and of those between.
ValueId ElementCount::SumFrom(BodyWriter& writer, size_t level, ValueId count) {
  ir::Builder& b = writer.builder();
  if (level + 1 == around_.size()) return b.Binary(OpKind::kMin, count, b.I64(kMostOfOne));
  const Expr& next = *around_[level + 1].known;
  const auto varies = [&](const Around& one) {
    const Expr& source = Meant(*one.known);
    return !FixedLength(source) && Varies(source);
  };
  if (std::none_of(around_.begin() + static_cast<ptrdiff_t>(level) + 1, around_.end(), varies)) {
    return b.Mul(count, SumFrom(writer, level + 1, LengthOf(writer, next)));
  }
  const ir::TypeId integer = b.ScalarType(DType::kI64);
  const ir::BlockId turn = b.Open({integer, integer});
  const ValueId so_far = b.Param(1);
  const Loop& loop = *around_[level].each->loop;
  for (size_t i = loop.enumerate; i < loop.locals.size(); ++i) elements_[loop.locals[i]].index = b.Param(0);
  b.Close(b.Add(so_far, SumFrom(writer, level + 1, LengthOf(writer, next))));
  return b.Emit(OpKind::kFold, integer, {count, b.I64(0)}, 0, {turn});
}

// ---- what is known ----

// A fallback of an element takes the place of what fails in it.
bool ElementCount::IsCaught() const {
  return std::any_of(around_.begin(), around_.end(), [](const Around& one) { return one.each->args.size() > 1; });
}

const Expr& ElementCount::Meant(const Expr& expr) const {
  const Expr* meant = &expr;
  while (meant->kind == ExprKind::kLocal && meant->checks.empty()) {
    const auto inside = lets_.find(meant->local);
    const Expr* value = inside != lets_.end() ? inside->second : values_.LetOf(meant->local);
    if (value == nullptr) break;
    meant = value;
  }
  return *meant;
}

bool ElementCount::IsKnown(const Expr& expr) const {
  const Expr& meant = Meant(expr);
  if (!meant.checks.empty()) return false;
  if (meant.kind == ExprKind::kField) return IsKnown(*meant.args[0]);
  if (meant.kind != ExprKind::kLocal) return meant.kind == ExprKind::kConst;
  if (const auto element = elements_.find(meant.local); element != elements_.end()) {
    return element->second.list.value != ValueId::kNone || IsKnown(*element->second.source);
  }
  const auto is_it = [&](const Param& param) { return param.local == meant.local; };
  const bool is_param = std::any_of(workflow_.params.begin(), workflow_.params.end(), is_it);
  return values_.PlainSlot(meant) && (is_param || !IsCaught());
}

// Of sources that run beside each other, which are of one length, the first that is known.
const Expr* ElementCount::KnownSource(const Expr& each) const {
  for (const ExprPtr& source : each.loop->sources) {
    if (FixedLength(Meant(*source)) || IsKnown(*source)) return source.get();
  }
  return nullptr;
}

// Whether it is another with each element of a loop around.
bool ElementCount::Varies(const Expr& expr) const {
  const Expr& meant = Meant(expr);
  if (meant.kind == ExprKind::kField) return Varies(*meant.args[0]);
  const auto found = meant.kind == ExprKind::kLocal ? elements_.find(meant.local) : elements_.end();
  if (found == elements_.end()) return false;
  const Element& element = found->second;
  if (element.source->type->kind != TypeKind::kTensor) return true;
  return element.list.value == ValueId::kNone && Varies(*element.source);  // the rows of a tensor are alike
}

ElementCount::Part ElementCount::Read(BodyWriter& writer, const Expr& expr) const {
  const Expr& meant = Meant(expr);
  if (meant.kind == ExprKind::kField) return {writer.builder().Field(Read(writer, *meant.args[0]).value, meant.index)};
  if (meant.kind == ExprKind::kConst) return {writer.Write(meant)};
  const auto found = elements_.find(meant.local);
  if (found == elements_.end()) return {writer.ReadOuter(meant.local)};
  const Element& element = found->second;
  const Part list = element.list.value != ValueId::kNone ? element.list : Read(writer, *element.source);
  if (element.source->type->kind == TypeKind::kTensor) return {list.value, list.axis + 1};
  return {writer.ElementOf(list.value, element.index)};
}

ValueId ElementCount::LengthOf(BodyWriter& writer, const Expr& source) const {
  if (const auto fixed = FixedLength(Meant(source))) return writer.builder().I64(*fixed);
  const Part part = Read(writer, source);
  return source.type->kind == TypeKind::kTensor ? writer.builder().Dim(part.value, part.axis) : writer.CountOf({part.value});
}

}  // namespace wf::sema
