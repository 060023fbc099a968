#include "compiler/sema/default_value.h"

#include <algorithm>
#include <span>

#include "compiler/sema/builtins.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/consts.h"
#include "compiler/sema/json_value.h"
#include "compiler/sema/rest.h"

namespace wf::sema {
namespace {

constexpr int64_t kMostRows = 64;  // `[[], []]`, as it is written; of a value that is computed there may be any number

TypeRef RowType(Types& types, TypeRef tensor) { return types.Tensor(tensor->dtype, {tensor->dims.begin() + 1, tensor->dims.end()}); }

// Written as `[]` is where an argument is: its extents are what symbols are when it runs. `rows`: of each axis, to the first that has none.
ExprPtr EmptyTensor(Body& body, TypeRef type, std::span<const int64_t> rows, const Span& span) {
  Types& types = body.env.types;
  const TypeRef row = RowType(types, type);
  ExprPtr list = Make(ExprKind::kList, types.List(row), span);
  for (int64_t i = 0; i < rows[0]; ++i) list->args.push_back(EmptyTensor(body, row, rows.subspan(1), span));
  ExprPtr tensor = Make(ExprKind::kBuiltin, type, span);
  tensor->index = static_cast<uint32_t>(Builtin::kStack);
  tensor->args.push_back(std::move(list));
  return tensor;
}

}  // namespace

DefaultPart DefaultPart::Held() const {
  const bool holds = value != nullptr && type->kind == TypeKind::kOptional && value->bits != 0;
  return holds ? DefaultPart{type->element, &value->items->front()} : *this;
}

bool DefaultPart::LeavesOpen(uint32_t axis) const {
  if (value == nullptr || type->dims[axis].is_constant() || value->dims[axis] != 0) return false;
  return std::find(value->dims.begin(), value->dims.begin() + axis, 0) != value->dims.begin() + axis;
}

bool DefaultPart::LeavesOpen() const {
  if (value == nullptr) return false;
  bool open = false;
  if (type->kind == TypeKind::kTensor) {
    for (uint32_t axis = 0; axis < type->dims.size(); ++axis) open = open || LeavesOpen(axis);
  } else if (IsTuple(type)) {
    for (uint32_t i = 0; i < type->fields.size(); ++i) open = open || Field(i).LeavesOpen();
  }
  return open;
}

ExprPtr ReadDefault(Body& body, const std::string& name, const DefaultPart& known, TypeRef wanted, const Span& span) {
  Types& types = body.env.types;
  const TypeRef type = TypeOfValue(types, known.type, *known.value);
  const bool fits = wanted != nullptr && wanted->kind == type->kind && wanted->dims.size() == type->dims.size();
  if (!fits || !known.LeavesOpen()) return MakeConst(body, name, type, *known.value, span);
  if (IsTuple(type)) {
    ExprPtr record = Make(ExprKind::kRecord, types.Error(), span);
    std::vector<Field> fields = type->fields;
    for (uint32_t i = 0; i < fields.size(); ++i) {
      record->args.push_back(ReadDefault(body, name, known.Field(i), wanted->fields[i].type, span));
      fields[i].type = record->args.back()->type;
    }
    record->type = types.Record("", std::move(fields));
    return record;
  }
  std::vector<Dim> dims = type->dims;
  for (uint32_t axis = 0; axis < dims.size(); ++axis) {
    if (known.LeavesOpen(axis) && !IsAny(wanted->dims[axis])) dims[axis] = wanted->dims[axis];
  }
  int64_t rows = 1;
  for (const int64_t extent : known.value->dims) rows = extent == 0 || rows > kMostRows ? rows : rows * std::min(extent, kMostRows + 1);
  if (dims == type->dims || rows > kMostRows) return MakeConst(body, name, type, *known.value, span);
  return EmptyTensor(body, types.Tensor(type->dtype, std::move(dims)), known.value->dims, span);
}

bool LeavesAxesOpen(const ast::Expr& written, TypeRef wanted) {
  if (const auto* paren = ast::DynAs<ast::ParenExpr>(written)) return LeavesAxesOpen(*paren->inner, wanted);
  if (wanted->kind == TypeKind::kOptional) return LeavesAxesOpen(written, wanted->element);
  if (const auto* tuple = ast::DynAs<ast::TupleExpr>(written)) {
    return IsTuple(wanted) && std::any_of(tuple->fields.begin(), tuple->fields.end(), [&](const ast::TupleExpr::Field& field) {
             const auto is_it = [&](const Field& other) { return other.name == field.label.text; };
             const auto of = std::find_if(wanted->fields.begin(), wanted->fields.end(), is_it);
             return of != wanted->fields.end() && LeavesAxesOpen(*field.value, of->type);
           });
  }
  if (wanted->kind != TypeKind::kTensor || std::any_of(wanted->dims.begin(), wanted->dims.end(), IsRest)) return false;
  const auto* list = ast::DynAs<ast::ListExpr>(written);
  size_t depth = 1;
  for (; list != nullptr && !list->elements.empty(); ++depth) list = ast::DynAs<ast::ListExpr>(*list->elements.front());
  return list != nullptr && depth < wanted->dims.size();
}

bool IsWrittenEmpty(const Expr& value) {
  if (value.kind != ExprKind::kBuiltin || static_cast<Builtin>(value.index) != Builtin::kStack) return false;
  const Expr& rows = *value.args[0];
  return rows.kind == ExprKind::kList &&
         std::all_of(rows.args.begin(), rows.args.end(), [](const ExprPtr& row) { return IsWrittenEmpty(*row); });
}

bool IsKnownButEmpty(const Expr& value) {
  if (IsTuple(value.type) && value.kind == ExprKind::kRecord)
    return std::all_of(value.args.begin(), value.args.end(), [](const ExprPtr& member) { return IsKnownButEmpty(*member); });
  bool is_known = true;
  ForEachDim(value.type, [&](const Dim& dim) { is_known = is_known && !IsAny(dim); });
  return is_known || IsWrittenEmpty(value);
}

void CloseAxes(Body& body, ExprPtr& value, TypeRef wanted) {
  Types& types = body.env.types;
  const TypeRef type = value->type;
  if (wanted->kind == TypeKind::kOptional && type->kind != TypeKind::kOptional) return CloseAxes(body, value, wanted->element);
  if (wanted->kind != type->kind) return;
  if (IsTuple(type) && value->kind == ExprKind::kRecord) {
    std::vector<Field> fields = type->fields;
    for (size_t i = 0; i < fields.size(); ++i) {
      for (const Field& other : wanted->fields) {
        if (other.name == fields[i].name) CloseAxes(body, value->args[i], other.type);
      }
      fields[i].type = value->args[i]->type;
    }
    value->type = types.Record("", std::move(fields));
  }
  if (type->kind != TypeKind::kTensor || wanted->dims.size() != type->dims.size() || !IsWrittenEmpty(*value)) return;
  std::vector<int64_t> rows;
  std::vector<Dim> dims = type->dims;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (IsAny(dims[axis])) dims[axis] = wanted->dims[axis];
    if (rows.empty() || rows.back() != 0) rows.push_back(dims[axis].constant().value_or(0));
  }
  ExprPtr closed = EmptyTensor(body, types.Tensor(type->dtype, std::move(dims)), rows, value->span);
  closed->checks = std::move(value->checks);  // of axes that it has
  value = std::move(closed);
}

}  // namespace wf::sema
