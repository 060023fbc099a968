#include "compiler/sema/dims.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <set>

#include "compiler/ir/scalar.h"
#include "compiler/sema/builtins.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/default_value.h"
#include "compiler/sema/dim_bounds.h"
#include "compiler/sema/help.h"
#include "compiler/sema/resolve_type.h"
#include "compiler/sema/waiting.h"

namespace wf::sema {
namespace {

// Dimensions of a value that can be read from it: through record fields to tensors.
void ForEachReadable(TypeRef type, std::vector<uint32_t>& path,
                     const std::function<void(const std::vector<uint32_t>&, uint32_t, const Dim&)>& visit) {
  if (type->kind == TypeKind::kTensor) {
    for (uint32_t axis = 0; axis < type->dims.size(); ++axis) visit(path, axis, type->dims[axis]);
  }
  if (type->kind != TypeKind::kRecord) return;
  for (uint32_t i = 0; i < type->fields.size(); ++i) {
    path.push_back(i);
    ForEachReadable(type->fields[i].type, path, visit);
    path.pop_back();
  }
}

class Settler {
 public:
  Settler(Body& body, Expr& expr, uint32_t mark) : body_(body), expr_(expr), mark_(mark) {}

  void Run() {
    if (!NeedsWork()) return;
    std::vector<uint32_t> path;
    ForEachReadable(expr_.type, path, [&](const std::vector<uint32_t>& at, uint32_t axis, const Dim& dim) { Locate(at, axis, dim); });
    expr_.type = Rebuild(expr_.type, /*readable=*/true);
  }

 private:
  bool IsOpen(const std::string& symbol) const {
    return symbol == kAnySymbol || body_.IsBornSince(symbol, mark_) || !body_.symbols.contains(symbol);
  }
  bool IsOpen(const Dim& dim) const {
    const std::vector<std::string> symbols = dim.Symbols();
    return std::any_of(symbols.begin(), symbols.end(),
                       [&](const std::string& symbol) { return IsOpen(symbol) && !located_.contains(symbol); });
  }
  bool NeedsWork() const {
    bool open = false;
    ForEachDim(expr_.type, [&](const Dim& dim) { open = open || IsOpen(dim); });
    return open && expr_.type->kind != TypeKind::kError;
  }
  void Locate(const std::vector<uint32_t>& path, uint32_t axis, const Dim& dim) {
    const auto linear = dim.AsLinear();
    if (!linear || linear->symbol == kAnySymbol) return;
    if (!body_.symbols.contains(linear->symbol) || !IsOpen(linear->symbol) || !located_.insert(linear->symbol).second) return;
    const bool known =
        std::any_of(expr_.fresh.begin(), expr_.fresh.end(), [&](const FreshSymbol& f) { return f.symbol == linear->symbol; });
    if (!known) expr_.fresh.push_back({linear->symbol, path, axis, linear->mul, linear->add});
  }
  TypeRef Rebuild(TypeRef type, bool readable) {
    Types& types = body_.env.types;
    if (type->kind == TypeKind::kTensor) {
      Type tensor = *type;
      for (uint32_t axis = 0; axis < tensor.dims.size(); ++axis) {
        if (!IsOpen(tensor.dims[axis])) continue;
        tensor.dims[axis] = AnyDim();
        if (!readable) continue;
        tensor.dims[axis] = body_.NewSymbol(kAnySymbol, expr_.span);
        expr_.fresh.push_back({*tensor.dims[axis].symbol(), path_, axis});
        located_.insert(*tensor.dims[axis].symbol());
        body_.extents.insert(*tensor.dims[axis].symbol());
      }
      return types.Intern(std::move(tensor));
    }
    if (type->kind == TypeKind::kList) return types.List(Rebuild(type->element, false));
    if (type->kind == TypeKind::kMap) return types.Map(Rebuild(type->element, false));
    if (type->kind == TypeKind::kOptional) return types.Optional(Rebuild(type->element, false));
    if (type->kind != TypeKind::kRecord || !type->name.empty()) return type;
    std::vector<Field> fields = type->fields;
    for (uint32_t i = 0; i < fields.size(); ++i) {
      path_.push_back(i);
      fields[i].type = Rebuild(fields[i].type, readable);
      path_.pop_back();
    }
    return types.Record("", std::move(fields));
  }

  Body& body_;
  Expr& expr_;
  const uint32_t mark_;
  std::set<std::string> located_;
  std::vector<uint32_t> path_;
};

// As i64, whatever it is.
bool KeepsValue(const Expr& from, const Expr& to) {
  const DType narrow = from.type->dtype, wide = to.type->dtype;
  return ir::SizeOf(wide) == 8 || narrow == wide ||
         (ir::SizeOf(narrow) < ir::SizeOf(wide) && (ir::IsSigned(wide) || !ir::IsSigned(narrow)));
}

bool IsIntegerScalar(TypeRef type) { return type->kind == TypeKind::kScalar && !ir::IsFloat(type->dtype) && type->dtype != DType::kBool; }

// Nobody reads the product that a chain of calls has made.
std::string DimWords(const Dim& value) {
  constexpr size_t kMostShown = 80;
  const std::string text = value.ToString();
  if (text.size() <= kMostShown) return "the value " + text;
  const size_t terms = value.terms().size();
  return "a value of " + (terms == 1 ? "" : std::to_string(terms) + " terms and ") + std::to_string(value.weight() - 1 - terms) +
         " factors";
}

}  // namespace

void DimSolver::Bind(const std::string& symbol, Dim value, const Span& origin, const SigParam* param) {
  values_.emplace(symbol, std::move(value));
  origins_.emplace(symbol, origin);
  params_.emplace(symbol, param);
}

void DimSolver::BindTo(const std::string& symbol, Dim value, const Waiting& item) {
  Bind(symbol, std::move(value), item.span(), item.param);
  if (item.is_default) by_default_.insert(symbol);
}

bool DimSolver::IsOpen(const std::string& symbol) const {
  return !values_.contains(symbol) && std::find(callee_.symbols.begin(), callee_.symbols.end(), symbol) != callee_.symbols.end();
}

std::optional<Dim> DimSolver::ValueOf(const Dim& callee_dim) const {
  bool open = false;
  Dim value = callee_dim.Substitute([&](const std::string& symbol) -> std::optional<Dim> {
    const auto at = values_.find(symbol);
    if (at != values_.end()) return at->second;
    open = true;
    return std::nullopt;
  });
  if (open) return std::nullopt;
  return value;
}

bool DimSolver::TrySolve(const Waiting& item) {
  const auto linear = item.pair.wanted.AsLinear();
  if (!linear || !IsOpen(linear->symbol) || IsAny(item.pair.found)) return false;
  const Dim& found = item.pair.found;
  const bool falls = linear->mul < 0;
  Dim value =
      falls ? Dim::FloorDiv(Dim(linear->add) - found, Dim(-linear->mul)) : Dim::FloorDiv(found - Dim(linear->add), Dim(linear->mul));
  if (value.constant().value_or(0) < 0) {  // no value of the symbol
    ReportDifferent(item, value, true);
    return true;
  }
  BindTo(linear->symbol, value, item);
  Compare(item, value * Dim(linear->mul) + Dim(linear->add), true);
  if (auto least = LeastCheck(body_, *linear, found, MessageOf(item, true))) checks_.push_back(std::move(*least));
  return true;
}

void DimSolver::Learn(const DimPair& pair) {
  const auto linear = pair.wanted.AsLinear();
  if (pair.bound || pair.nested || !linear || !IsOpen(linear->symbol) || IsAny(pair.found)) return;
  const Dim rest = linear->mul < 0 ? Dim(linear->add) - pair.found : pair.found - Dim(linear->add);
  Dim value = Dim::FloorDiv(rest, Dim(std::abs(linear->mul)));
  if (value.constant().value_or(0) >= 0) values_.emplace(linear->symbol, std::move(value));
}

namespace {
// The axes of tensors that are there whatever else is: of the value, and of members of a tuple.
void ForEachSureDim(TypeRef type, const std::function<void(const Dim&)>& visit) {
  const bool is_tuple = type->kind == TypeKind::kRecord && type->name.empty();
  if (type->kind == TypeKind::kTensor) std::for_each(type->dims.begin(), type->dims.end(), visit);
  for (size_t i = 0; is_tuple && i < type->fields.size(); ++i) ForEachSureDim(type->fields[i].type, visit);
}
}  // namespace

// As a server has it of what a client leaves open (runtime/protocol/json/open_axes.cc): no axis of a parameter is below 0.
void DimSolver::LearnLeast(const Dim& wanted) {
  const auto linear = wanted.AsLinear();
  if (!linear || !IsOpen(linear->symbol)) return;
  if (linear->mul < 0 && linear->add < 0) return;
  int64_t least = 0, most = INT64_MAX;
  for (const SigParam& param : callee_.params) {
    ForEachSureDim(param.type, [&](const Dim& dim) {
      const auto other = dim.AsLinear();
      if (!other || other->symbol != linear->symbol) return;
      if (other->mul > 0 && other->add < 0) least = std::max(least, -(other->add + 1) / other->mul + 1);
      if (other->mul < 0) most = std::min(most, other->add / -other->mul);
    });
  }
  values_.emplace(linear->symbol, Dim(linear->mul < 0 ? std::max(least, most) : least));
}

void DimSolver::Add(const DimPair& pair, TypeRef wanted, const Expr& argument, const SigParam* param, bool is_default) {
  const Waiting item{pair, wanted, &argument, param, is_default};
  if (param != nullptr && !callee_.may_wait && (arguments_.empty() || arguments_.back() != &argument)) arguments_.push_back(&argument);
  if (IsAny(pair.wanted)) return;
  if (pair.bound) return Compare(item, pair.wanted);
  if (TrySolve(item)) return;
  const auto value = ValueOf(pair.wanted);
  const bool is_unknown = IsAny(pair.found) && !pair.nested;  // of `[]`, whose axes are 0 where nothing else is said
  if (value && is_unknown && value->constant() == 0) return;
  if (value && !is_unknown) {
    Compare(item, *value);
  } else {
    waiting_.push_back(item);
  }
}

void DimSolver::Finish() {
  for (const Waiting& item : waiting_) {
    if (TrySolve(item)) continue;
    const auto value = ValueOf(item.pair.wanted);
    if (value && (item.pair.nested || !IsAny(item.pair.found))) {
      Compare(item, *value);
    } else if (IsAny(item.pair.found) && !failed_) {
      const std::vector<Dim>& dims = item.argument->type->dims;
      const bool is_empty = std::any_of(dims.begin(), dims.end(), [](const Dim& dim) { return dim.constant() == 0; });
      if (IsWrittenEmpty(*item.argument) && IsSolvedBy0(item)) continue;
      failed_ = true;
      const std::string no_value = " gives `" + item.pair.wanted.ToString() + "` no value; ";
      const bool is_optional = item.argument->type->kind == TypeKind::kOptional;
      const DType dtype = item.argument->type->dtype;
      const std::string zero = ir::IsFloat(dtype) ? "0.0" : (dtype == DType::kBool ? "false" : "0");
      body_.env.Report(item.argument->span, kTypeMismatch, {ToString(item.wanted), ToString(item.argument->type)})
          .Help(is_empty      ? "a list of nothing" + no_value + "`[i < 0, j < 3] => " + zero + "` has one"
                : is_optional ? "`_`" + no_value + "`match` it first: what is there has one"
                              : "`_`" + no_value + "elements of one shape are needed");
    }
  }
  waiting_.clear();
  for (const std::string& symbol : callee_.symbols) {
    if (IsOpen(symbol)) Bind(symbol, Dim(0), {});  // only an empty list or `none` names it
  }
}

// Of `[]`: an axis within it that nothing else says is 0, where it may be.
bool DimSolver::IsSolvedBy0(const Waiting& item) {
  const auto linear = item.pair.wanted.AsLinear();
  if (linear && IsOpen(linear->symbol)) {
    const int64_t value = -linear->add / linear->mul;
    if (value >= 0 && value * linear->mul + linear->add == 0) BindTo(linear->symbol, Dim(value), item);
  }
  const auto value = ValueOf(item.pair.wanted);
  return value && value->constant() == 0;
}

// Of a check that does not hold when it runs: both dimensions and where each comes from.
std::string DimSolver::MessageOf(const Waiting& item, bool solves) const {
  const Dim& wanted = item.pair.wanted;
  if (wanted.is_constant() || item.pair.bound) {
    const std::string of = item.param == nullptr ? "" : (item.is_default ? " of the default of `" : " of `") + item.param->name + "`";
    return "axis " + std::to_string(item.pair.axis) + of + " is {1}, `" + callee_.name + "` wants {0}";
  }
  const std::string name = "`" + wanted.ToString() + "` of `" + callee_.name + "`";
  const std::string found =
      item.param == nullptr ? "{1}" : (item.is_default ? "{1} in the default of `" : "{1} in `") + item.param->name + "`";
  if (solves) return name + " is " + found + ", which no `" + wanted.AsLinear()->symbol + "` gives";
  const auto symbol = wanted.symbol();
  const auto from = symbol ? params_.find(*symbol) : params_.end();
  const bool is_known = from != params_.end() && from->second != nullptr && from->second != item.param;
  const std::string in = is_known && by_default_.contains(*symbol) ? " in the default of `" : " in `";
  return name + " is {0}" + (is_known ? in + from->second->name + "`" : "") + " and " + found;
}

std::optional<diag::Builder> DimSolver::ReportNoValue(const Dim& callee_dim, const Span& span) {
  const std::optional<Dim> value = ValueOf(callee_dim);
  auto report = value ? ReportNoExtent(body_.env, *value, span, callee_dim.ToString()) : std::nullopt;
  if (!report) return std::nullopt;
  failed_ = true;
  LabelValues(callee_dim, span, *report);
  return report;
}

void DimSolver::LabelValues(const Dim& callee_dim, const Span& beside, diag::Builder& builder) const {
  for (const std::string& symbol : callee_dim.Symbols()) {
    const auto origin = origins_.find(symbol);
    if (origin == origins_.end() || origin->second == beside || values_.at(symbol) == Dim::Symbol(symbol)) continue;
    builder.Label(origin->second, "this gives `" + symbol + "` of `" + callee_.name + "` " + DimWords(values_.at(symbol)));
  }
}

void DimSolver::Compare(const Waiting& item, const Dim& wanted, bool solves) {
  if (wanted.fault() != Dim::Fault::kNone) {
    auto report = failed_ ? std::nullopt : ReportNoExtent(body_.env, wanted, item.argument->span, item.pair.wanted.ToString());
    failed_ = true;
    if (report && !item.pair.bound) LabelValues(item.pair.wanted, item.argument->span, *report);
    if (report && item.param != nullptr) report->Label(item.param->span, "parameter `" + item.param->name + "` of `" + callee_.name + "`");
    return;
  }
  if (wanted == item.pair.found) return;
  const bool differ = Dim::ProvedDifferent(wanted, item.pair.found);
  if (!differ && !item.pair.nested) {
    DimCheck check = CheckOf(body_, wanted, item.pair.found, MessageOf(item, solves));
    const auto holds = [&](const Expr* argument) { return Holds(HeldBy(body_, *argument), check.left, check.right); };
    Equalities held;
    for (const DimCheck& before : checks_) {
      if (!before.is_least) held.emplace_back(before.left, before.right);
    }
    check.is_held =
        Holds(held, check.left, check.right) || holds(item.argument) || std::any_of(arguments_.begin(), arguments_.end(), holds);
    checks_.push_back(std::move(check));
    return;
  }
  ReportDifferent(item, wanted, solves);
}

void DimSolver::ReportDifferent(const Waiting& item, const Dim& wanted, bool solves) {
  failed_ = true;
  const std::vector<std::string> symbols = item.pair.bound ? std::vector<std::string>() : item.pair.wanted.Symbols();
  if (std::any_of(symbols.begin(), symbols.end(), [&](const std::string& symbol) { return doubted_.contains(symbol); })) return;
  for (const std::string& symbol : symbols) {
    if (const auto origin = origins_.find(symbol); origin != origins_.end() && origin->second == item.span()) doubted_.insert(symbol);
  }
  const Expr& argument = *item.argument;
  const std::string there = (solves ? item.pair.wanted : wanted).ToString();
  auto builder = body_.env.Report(argument.span, kShapeMismatch,
                                  {WantedText(item), ToString(argument.type), item.pair.axis, item.pair.found.ToString(), there});
  builder.Here(AxisText(item.pair));
  if (!item.pair.bound) LabelValues(item.pair.wanted, argument.span, builder);
  if (item.param != nullptr) builder.Label(item.param->span, "parameter `" + item.param->name + "` of `" + callee_.name + "`");
  if (item.param == nullptr && callee_.span.file != source::FileId::kNone) builder.Label(callee_.span, "the result declared here");
  LabelOrigins(body_, {item.pair.found, wanted}, builder);
  if (item.is_default && item.span() != argument.span) {  // of a call, which stands elsewhere
    builder.Label(item.span(), "the default of `" + item.param->name + "` is `" + ToString(argument.type) + "`");
  } else {
    LabelSourceOf(body_, argument, item.pair.found, builder);
  }
  if (solves)
    builder.Help("no `" + item.pair.wanted.AsLinear()->symbol + "` makes `" + item.pair.wanted.ToString() + "` " +
                 item.pair.found.ToString());
  builder.HelpIf(HelpWithDivision(wanted, item.pair.found));
  if (item.pair.nested && !Dim::ProvedDifferent(wanted, item.pair.found)) builder.Help(HelpToCompareParts(body_, item.wanted, argument));
}

// What is wanted; with the caller's extents where it reads as what is found.
std::string DimSolver::WantedText(const Waiting& item) const {
  const std::string text = ToString(item.wanted);
  if (text != ToString(item.argument->type) || item.pair.bound) return text;
  const TypeRef type = MapDims(body_.env.types, item.wanted, [&](const Dim& dim) { return ValueOf(dim).value_or(dim); });
  const std::string here = ToString(type);
  return here == text ? text : here + "` as `" + text + "` of `" + callee_.name;
}

void Settle(Body& body, Expr& expr, uint32_t mark) { Settler(body, expr, mark).Run(); }

void LabelOrigins(Body& body, std::initializer_list<Dim> dims, diag::Builder& builder) {
  std::set<std::string> symbols;
  for (const Dim& dim : dims) {
    for (std::string& symbol : dim.Symbols()) symbols.insert(std::move(symbol));
  }
  for (const std::string& symbol : symbols) {
    const auto origin = body.symbols.find(symbol);
    if (origin == body.symbols.end()) continue;
    const std::string name = symbol.substr(0, symbol.find('#'));
    builder.Label(origin->second, name == kAnySymbol ? "how long this is, is known only when it runs" : "`" + name + "` comes from here");
  }
}

std::string AxisText(const DimPair& pair) {
  return "axis " + std::to_string(pair.axis) + " is " + (IsAny(pair.found) ? "of any length" : pair.found.ToString());
}

void LabelSource(Body& body, const Expr& expr, diag::Builder& builder) {
  const Expr* root = &expr;
  while (root->kind == ExprKind::kField || root->kind == ExprKind::kBlock) root = root->args[0].get();
  const Span* declared = nullptr;
  if (root->kind == ExprKind::kLocal) declared = &body.locals[root->local].span;
  if (root->kind == ExprKind::kConst) declared = &body.env.program.consts[root->index].span;
  if (declared == nullptr) return;
  const std::string text(body.env.input.sources.Text(expr.span));
  builder.Label(*declared, "`" + text + "` is `" + ToString(expr.type) + "`");
}

void LabelSourceOf(Body& body, const Expr& expr, const Dim& dim, diag::Builder& builder) {
  if (!dim.is_constant()) return;
  LabelSource(body, expr, builder);
  const bool is_made = expr.kind == ExprKind::kCallFn || expr.kind == ExprKind::kBinary || expr.kind == ExprKind::kUnary;
  for (size_t i = 0; is_made && i < expr.args.size(); ++i) {
    const Expr& from = *expr.args[i];
    const bool has_it =
        from.type->kind == TypeKind::kTensor && std::find(from.type->dims.begin(), from.type->dims.end(), dim) != from.type->dims.end();
    if (has_it) LabelSource(body, from, builder);
    if (IsIntegerScalar(from.type) && AsDim(body, from) == dim) builder.Label(from.span, "`" + dim.ToString() + "` comes from here");
  }
}

std::string ExtentText(const Dim& stated, bool solves, const std::string& where) {
  const std::string text = '`' + stated.ToString() + '`';
  const std::vector<std::string> symbols = stated.Symbols();
  const bool is_named = std::none_of(symbols.begin(), symbols.end(), [](const std::string& symbol) { return symbol.starts_with("_#"); });
  if (!solves && !is_named) return "is {1}, wanted {0}" + where;
  if (!solves) return "is {1}, wanted {0} (" + text + where + ')';
  const Dim::Linear linear = *stated.AsLinear();
  if (linear.add == 0) return "is {1}, wanted a multiple of " + std::to_string(linear.mul) + " (" + text + where + ')';
  return "is {1}, and no `" + linear.symbol.substr(0, linear.symbol.find('#')) + "` makes " + text + where + " that";
}

namespace {

// The code of an extent, which no other dimension is called: `a / b`. Where it is long, or would end the name of a symbol or a text that
// names it, it is an `n` as good as any.
std::string SymbolFor(const Body& body, const Expr& expr) {
  constexpr size_t kLongest = 30;
  const std::string text = expr.span.file == source::FileId::kNone ? "n" : CodeAt(body, expr.span, "n");
  return text.size() > kLongest || text.find_first_of("#{}\"`\\") != std::string::npos ? "n" : text;
}

// Nothing: a u64 that no extent reaches, which is told when it runs.
std::optional<Dim> DimOfBits(ir::DType dtype, uint64_t bits) {
  return !ir::IsSigned(dtype) && bits > INT64_MAX ? std::nullopt : std::optional(Dim(ir::SignedOf(dtype, bits)));
}

}  // namespace

std::optional<Dim> AsDim(Body& body, const Expr& expr) {
  if (!IsIntegerScalar(expr.type)) return std::nullopt;
  switch (expr.kind) {
    case ExprKind::kScalar:
      return DimOfBits(expr.type->dtype, expr.bits);
    case ExprKind::kDimValue:
      return expr.dim;
    case ExprKind::kConst:
      return DimOfBits(expr.type->dtype, body.env.program.consts[expr.index].value.bits);
    case ExprKind::kLocal:
      return body.infos[expr.local].value;
    case ExprKind::kBuiltin: {
      if (static_cast<Builtin>(expr.index) != Builtin::kLen) return std::nullopt;
      const Expr& measured = *expr.args[0];
      const bool is_named = measured.kind == ExprKind::kLocal && measured.fresh.empty() && measured.type->kind == TypeKind::kTensor;
      return is_named ? std::optional(measured.type->dims[0]) : std::nullopt;
    }
    case ExprKind::kConvert:
      return KeepsValue(*expr.args[0], expr) ? AsDim(body, *expr.args[0]) : std::nullopt;
    case ExprKind::kBinary: {
      if (!expr.dim.is_constant()) return expr.dim;
      if (expr.binary > BinaryOp::kMul || ir::SizeOf(expr.type->dtype) < 8) return std::nullopt;  // i32 wraps where i64 does not
      const auto left = AsDim(body, *expr.args[0]), right = AsDim(body, *expr.args[1]);
      if (!left || !right) return std::nullopt;
      Dim value = expr.binary == BinaryOp::kAdd ? *left + *right : expr.binary == BinaryOp::kSub ? *left - *right : *left * *right;
      return value.fault() == Dim::Fault::kNone ? std::optional<Dim>(std::move(value)) : std::nullopt;  // an integer like any other
    }
    default:
      return std::nullopt;
  }
}

Dim DimOf(Body& body, Expr& expr, std::string_view name) {
  if (auto value = AsDim(body, expr)) return *value;
  Dim symbol = body.NewSymbol(name.empty() || name == kAnySymbol ? SymbolFor(body, expr) : std::string(name), expr.span);
  expr.fresh.push_back({*symbol.symbol(), {}, FreshSymbol::kWholeValue});
  return symbol;
}

}  // namespace wf::sema
