// Locals, and what dimensions are worth.

#include <algorithm>

#include "runtime/base/error_codes.h"
#include "tests/diff/tree_run.h"

namespace wf::diff {
namespace {

using base::Dim;

// Of an expression, not of a signature: new each time that it is computed.
bool IsBornInside(const std::string& symbol) { return symbol.find('#') != std::string::npos; }

}  // namespace

const Made& TreeRun::Read(LocalId local) {
  static const Made none;
  std::optional<Made>& made = frame_->locals[local];
  if (made) return *made;
  const auto statement = frame_->statements.find(local);
  if (statement != frame_->statements.end()) Force(*statement->second);
  if (!made) Broken("`" + (*frame_->names)[local].name + "` is read where it has no value");
  return made ? *made : none;
}

void TreeRun::Bind(LocalId local, Made made, bool is_again) {
  if (made.value) AddSymbols((*frame_->names)[local].type, *made.value, is_again);
  frame_->locals[local] = std::move(made);
}

// A name may be that of an extent of a node or `let` that nothing has read yet, or that failed.
const int64_t* TreeRun::Symbol(const std::string& name, std::set<int32_t>& codes) {
  const auto known = frame_->symbols.find(name);
  if (known != frame_->symbols.end()) return &known->second;
  const auto mentions = [&](const Dim& dim) {
    const std::vector<std::string> symbols = dim.Symbols();
    return std::find(symbols.begin(), symbols.end(), name) != symbols.end();
  };
  const std::function<bool(TypeRef)> has = [&](TypeRef type) {
    return std::any_of(type->dims.begin(), type->dims.end(), mentions) ||
           std::any_of(type->fields.begin(), type->fields.end(), [&](const sema::Field& field) { return has(field.type); });
  };
  for (const auto& [local, stmt] : frame_->statements) {
    const auto& fresh = stmt->value->fresh;
    const bool brings = std::any_of(fresh.begin(), fresh.end(), [&](const sema::FreshSymbol& one) { return one.symbol == name; }) ||
                        has((*frame_->names)[local].type);
    if (!brings || frame_->under_way.contains(local)) continue;
    const Made& made = Read(local);
    codes.insert(made.codes.begin(), made.codes.end());
    const auto found = frame_->symbols.find(name);
    if (found != frame_->symbols.end()) return &found->second;
  }
  return nullptr;
}

std::optional<int64_t> TreeRun::Value(const Dim& dim, std::set<int32_t>& codes) {
  std::map<std::string, int64_t> values;
  for (const std::string& name : dim.Symbols()) {
    const int64_t* const value = Symbol(name, codes);
    if (value == nullptr) return {};
    values[name] = *value;
  }
  const std::optional<int64_t> value = dim.Evaluate([&](const std::string& name) -> std::optional<int64_t> { return values.at(name); });
  if (!value) codes.insert({code::kDivisor, code::kDimension});  // a divisor of 0, or more than a number holds
  return value;
}

void TreeRun::AddSymbols(const Expr& expr, const ir::Value& value) {
  for (const sema::FreshSymbol& fresh : expr.fresh) {
    const ir::Value* part = &value;
    TypeRef type = expr.type;
    for (const uint32_t field : fresh.path) {
      part = &ItemsOf(*part)[field];
      type = type->fields[field].type;
    }
    int64_t& symbol = frame_->symbols[fresh.symbol];
    if (fresh.axis == sema::FreshSymbol::kWholeValue || type->kind == sema::TypeKind::kScalar) {
      symbol = static_cast<int64_t>(ir::ConvertScalar(type->dtype, ir::DType::kI64, part->bits));
    } else {
      symbol = (part->dims[fresh.axis] - fresh.add) / fresh.mul;
    }
  }
}

void TreeRun::AddSymbols(TypeRef type, const ir::Value& value, bool is_again) {
  if (type->kind == sema::TypeKind::kRecord)
    for (size_t i = 0; i < type->fields.size(); ++i) AddSymbols(type->fields[i].type, ItemsOf(value)[i], is_again);
  if (type->kind != sema::TypeKind::kTensor) return;
  for (size_t axis = 0; axis < type->dims.size(); ++axis) {
    const std::optional<std::string> symbol = type->dims[axis].symbol();
    if (!symbol || !IsBornInside(*symbol)) continue;
    if (is_again || !frame_->symbols.contains(*symbol)) frame_->symbols[*symbol] = value.dims[axis];
  }
}

bool TreeRun::HasShape(TypeRef type, const ir::Value& value, std::set<int32_t>& codes) {
  bool has = true;
  switch (type->kind) {
    case sema::TypeKind::kRecord:
      for (size_t i = 0; i < type->fields.size(); ++i) has = HasShape(type->fields[i].type, ItemsOf(value)[i], codes) && has;
      return has;
    case sema::TypeKind::kList:
    case sema::TypeKind::kMap:
    case sema::TypeKind::kOptional:
      for (const ir::Value& item : ItemsOf(value)) has = HasShape(type->element, item, codes) && has;
      return has;
    case sema::TypeKind::kTensor:
      break;
    default:
      return true;
  }
  for (size_t axis = 0; axis < type->dims.size(); ++axis) {
    const Dim& dim = type->dims[axis];
    const std::vector<std::string> symbols = dim.Symbols();
    const bool is_of_signature =
        std::none_of(symbols.begin(), symbols.end(), [](const std::string& name) { return IsBornInside(name) || name == "_"; });
    if (!is_of_signature) continue;
    const std::optional<Dim::Linear> linear = dim.AsLinear();
    if (linear && !frame_->symbols.contains(linear->symbol)) {
      const int64_t rest = value.dims[axis] - linear->add;
      if (rest % linear->mul == 0 && rest / linear->mul >= 0) {
        frame_->symbols[linear->symbol] = rest / linear->mul;
        continue;
      }
    }
    std::set<int32_t> why;
    const std::optional<int64_t> wanted = Value(dim, why);
    codes.insert(why.begin(), why.end());
    if (wanted == value.dims[axis] || (!wanted && why.empty() && !linear)) continue;
    codes.insert(code::kDimension);
    if (tensor_depth_ > 0) codes.insert(kNoted);
    has = false;
  }
  return has;
}

// Those that the checker left for the run; the rules of this evaluator are asked besides.
void TreeRun::Check(const Expr& expr, Made& made) {
  for (const sema::DimCheck& check : expr.checks) {
    const std::optional<int64_t> left = Value(check.left, made.codes), right = Value(check.right, made.codes);
    if (!left || !right) {
      made.value.reset();
      if (made.codes.empty())
        Unsettle(made, "`" + check.left.ToString() + "` and `" + check.right.ToString() + "` are compared without values");
      continue;
    }
    if (check.is_least ? *left <= *right : *left == *right) continue;
    Note(made, code::kDimension);
  }
}

}  // namespace wf::diff
