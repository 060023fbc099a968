#include "compiler/sema/outcome.h"

#include <algorithm>

namespace wf::sema {

LocalId OutcomeMaker::Declare(const std::string& name, TypeRef type, const Span& span) {
  const LocalId local = body_.Declare(LocalKind::kLet, {"_", span}, type);
  body_.locals[local].name = name;
  body_.infos[local].used = true;
  return local;
}

LocalId OutcomeMaker::DeclareError(const Span& span) {
  const TypeRef text = types_.Simple(TypeKind::kString);
  const TypeRef err = types_.Record("", {{"code", types_.Scalar(DType::kI32)}, {"message", text}, {"node", text}});
  return Declare("err", err, span);
}

ExprPtr OutcomeMaker::Read(LocalId local, const Span& span) {
  ExprPtr read = Make(ExprKind::kLocal, body_.locals[local].type, span);
  read->local = local;
  return read;
}

ExprPtr OutcomeMaker::FieldOf(ExprPtr record, uint32_t index) {
  ExprPtr field = Make(ExprKind::kField, record->type->fields[index].type, record->span);
  field->index = index;
  field->args.push_back(std::move(record));
  return field;
}

// A read of a local or of a field of one, once more.
ExprPtr OutcomeMaker::Again(const Expr& read) {
  return read.kind == ExprKind::kField ? FieldOf(Again(*read.args[0]), read.index) : Read(read.local, read.span);
}

TypeRef OutcomeMaker::OutcomeType(TypeRef side) {
  const TypeRef text = types_.Simple(TypeKind::kString);
  std::vector<Field> fields{{"ok", types_.Scalar(DType::kBool)}, {"code", types_.Scalar(DType::kI32)}, {"message", text}, {"node", text}};
  if (side != nullptr) {
    fields.push_back({"left", types_.List(side)});
    fields.push_back({"right", types_.List(side)});
  }
  return types_.Record("", std::move(fields));
}

// Without a failure and without sides.
ExprPtr OutcomeMaker::Record(ExprPtr ok, TypeRef side, const Span& span) {
  ExprPtr record = Make(ExprKind::kRecord, OutcomeType(side), span);
  record->args.push_back(std::move(ok));
  record->args.push_back(MakeInt(body_, 0, DType::kI32, span));
  record->args.push_back(Text("", span));
  record->args.push_back(Text("", span));
  for (int i = 0; side != nullptr && i < 2; ++i) record->args.push_back(Make(ExprKind::kList, types_.List(side), span));
  return record;
}

ExprPtr OutcomeMaker::OfCondition(ExprPtr holds) {
  const Span span = holds->span;
  return Record(std::move(holds), nullptr, span);
}

ExprPtr OutcomeMaker::After(ExprPtr value) {
  const Span span = value->span;
  if (value->type->kind == TypeKind::kNever) return value;
  ExprPtr ok = Make(ExprKind::kScalar, types_.Scalar(DType::kBool), span);
  ok->bits = 1;
  ExprPtr record = Record(std::move(ok), nullptr, span);
  ExprPtr block = Make(ExprKind::kBlock, record->type, span);
  BlockStep step;
  step.local = Declare("value", value->type, span);
  step.value = std::move(value);
  step.span = span;
  block->steps.push_back(std::move(step));
  block->args.push_back(std::move(record));
  return block;
}

// { let left = a; let right = b; let holds = left == right; (ok: holds, .., left: if holds { [] } else { [left] }, ..) }
ExprPtr OutcomeMaker::OfComparison(ExprPtr comparison, TypeRef side) {
  const Span span = comparison->span;
  LocalId sides[2];
  ExprPtr block = Make(ExprKind::kBlock, OutcomeType(side), span);
  const auto add = [&](const std::string& name, ExprPtr value) {
    BlockStep step;
    step.local = Declare(name, value->type, span);
    step.value = std::move(value);
    step.span = span;
    block->steps.push_back(std::move(step));
    return block->steps.back().local;
  };
  for (size_t i = 0; i < 2; ++i) {
    sides[i] = add(i == 0 ? "left" : "right", std::move(comparison->args[i]));
    comparison->args[i] = Read(sides[i], span);
  }
  const LocalId holds = add("holds", std::move(comparison));
  ExprPtr record = Record(Read(holds, span), side, span);
  for (size_t i = 0; i < 2; ++i) record->args[4 + i] = ShownUnless(holds, Read(sides[i], span), side);
  block->args.push_back(std::move(record));
  return block;
}

ExprPtr OutcomeMaker::ShownUnless(LocalId holds, ExprPtr value, TypeRef side) {
  const Span span = value->span;
  ExprPtr choice = Make(ExprKind::kIf, types_.List(side), span);
  ExprPtr shown = Make(ExprKind::kList, types_.List(side), span);
  shown->args.push_back(Shown(std::move(value)));
  choice->args.push_back(Read(holds, span));
  choice->args.push_back(Make(ExprKind::kList, types_.List(side), span));
  choice->args.push_back(std::move(shown));
  return choice;
}

ExprPtr OutcomeMaker::OfFailure(LocalId err, TypeRef side, const Span& span) {
  ExprPtr no = Make(ExprKind::kScalar, types_.Scalar(DType::kBool), span);
  ExprPtr record = Record(std::move(no), side, span);
  for (uint32_t i = 0; i < 3; ++i) record->args[1 + i] = FieldOf(Read(err, span), i);
  return record;
}

bool OutcomeMaker::HoldsFloats(TypeRef type) {
  if (type->kind == TypeKind::kScalar || type->kind == TypeKind::kTensor) return ir::IsFloat(type->dtype);
  if (type->kind == TypeKind::kList) return HoldsFloats(type->element);
  return type->kind == TypeKind::kRecord &&
         std::any_of(type->fields.begin(), type->fields.end(), [](const Field& field) { return HoldsFloats(field.type); });
}

TypeRef OutcomeMaker::ShownType(TypeRef type) {
  if (!HoldsFloats(type)) return WithoutSymbols(types_, type);
  if (type->kind == TypeKind::kScalar) return types_.Simple(TypeKind::kString);
  if (type->kind == TypeKind::kList) return types_.List(ShownType(type->element));
  if (type->kind == TypeKind::kTensor) {
    TypeRef shown = types_.Simple(TypeKind::kString);
    for (size_t i = 0; i < type->dims.size(); ++i) shown = types_.List(shown);
    return shown;
  }
  std::vector<Field> fields = type->fields;
  for (Field& field : fields) field.type = ShownType(field.type);
  return types_.Record("", std::move(fields));
}

ExprPtr OutcomeMaker::Shown(ExprPtr value) {
  const TypeRef type = value->type;
  const Span span = value->span;
  if (!HoldsFloats(type)) return value;
  if (type->kind == TypeKind::kScalar) {
    ExprPtr text = Text("{}", span);
    text->args.push_back(std::move(value));
    return text;
  }
  if (type->kind == TypeKind::kRecord) {
    ExprPtr record = Make(ExprKind::kRecord, ShownType(type), span);
    for (uint32_t i = 0; i < type->fields.size(); ++i) record->args.push_back(Shown(FieldOf(Again(*value), i)));
    return record;
  }
  TypeRef element = type->element;
  if (type->kind == TypeKind::kTensor) {
    std::vector<Dim> rest(type->dims.begin() + 1, type->dims.end());
    element = rest.empty() ? types_.Scalar(type->dtype) : types_.Tensor(type->dtype, std::move(rest));
  }
  ExprPtr list = Make(ExprKind::kListLoop, ShownType(type), span);
  const LocalId each = Declare("element", element, span);
  list->loop.emplace();
  list->loop->sources.push_back(std::move(value));
  list->loop->locals = {each};
  list->args.push_back(Shown(Read(each, span)));
  return list;
}

}  // namespace wf::sema
