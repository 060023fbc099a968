// Calls of functions, models and workflows, and `for`.

#include <algorithm>

#include "runtime/base/error_codes.h"
#include "tests/diff/models.h"
#include "tests/diff/oracle.h"
#include "tests/diff/tree_run.h"

namespace wf::diff {

ir::TypeId TreeRun::TypeOf(TypeRef type) {
  ir::TypeTable& types = program_.types;
  switch (type->kind) {
    case sema::TypeKind::kScalar:
      return types.Scalar(type->dtype);
    case sema::TypeKind::kString:
      return types.String();
    case sema::TypeKind::kBytes:
      return types.Bytes();
    case sema::TypeKind::kTensor: {
      std::vector<int64_t> dims;
      for (const base::Dim& dim : type->dims) dims.push_back(dim.constant().value_or(-1));
      return types.Tensor(type->dtype, std::move(dims));
    }
    case sema::TypeKind::kRecord: {
      std::vector<ir::Field> fields;
      for (const sema::Field& field : type->fields) fields.push_back({field.name, TypeOf(field.type)});
      return types.Record(type->name, std::move(fields));
    }
    case sema::TypeKind::kList:
      return types.List(TypeOf(type->element));
    case sema::TypeKind::kMap:
      return types.Map(TypeOf(type->element));
    case sema::TypeKind::kOptional:
      return types.Optional(TypeOf(type->element));
    case sema::TypeKind::kNone:
      return types.Optional(types.Scalar(ir::DType::kBool));
    default:
      return types.Scalar(ir::DType::kBool);  // of what is never there
  }
}

// What a loop over elements goes on with.
ir::Value TreeRun::Zero(TypeRef type) {
  switch (type->kind) {
    case sema::TypeKind::kString:
    case sema::TypeKind::kBytes:
      return ir::Value::Text("");
    case sema::TypeKind::kTensor: {
      std::vector<int64_t> dims;
      for (const base::Dim& dim : type->dims) dims.push_back(dim.constant().value_or(0));
      const size_t bytes = static_cast<size_t>(CountOf(dims)) * ir::SizeOf(type->dtype);
      return ir::Value::Tensor(dims, std::string(bytes, '\0'));
    }
    case sema::TypeKind::kRecord: {
      std::vector<ir::Value> fields;
      for (const sema::Field& field : type->fields) fields.push_back(Zero(field.type));
      return ir::Value::Items(std::move(fields));
    }
    default:
      return ir::Value{};
  }
}

// The symbols of a signature get their values: first those that stand alone or in a * n + b, and then all are compared.
void TreeRun::BindParams(Frame& frame, size_t n_params, Made& made, int32_t code) {
  Frame* const caller = std::exchange(frame_, &frame);
  std::set<int32_t> codes;
  for (int pass = 0; pass < 2; ++pass)
    for (size_t i = 0; i < n_params; ++i) {
      const sema::Local& param = (*frame.names)[i];
      const ir::Value& value = *frame.locals[i]->value;
      if (param.type->kind == sema::TypeKind::kScalar && !ir::IsFloat(param.type->dtype) && param.type->dtype != ir::DType::kBool)
        frame.symbols[param.name] = static_cast<int64_t>(ir::ConvertScalar(param.type->dtype, ir::DType::kI64, value.bits));
      if (pass == 0) codes.clear();
      HasShape(param.type, value, codes);
      AddSymbols(param.type, value, false);
    }
  frame_ = caller;
  if (codes.empty()) return;
  made.codes.insert(code);
  if (tensor_depth_ > 0) made.codes.insert(kNoted);
}

// What the checker says of the callee's symbols, beside what the arguments really have. One that no argument says has its value from there.
void TreeRun::CompareSymbols(const Expr& expr, Frame& callee, Made& made) {
  if (!made.codes.empty()) return;
  for (const auto& [symbol, dim] : expr.symbols) {
    std::set<int32_t> codes;
    const std::optional<int64_t> said = Value(dim, codes);
    if (!said) continue;
    const auto [own, is_new] = callee.symbols.try_emplace(symbol, *said);
    if (*said == own->second) continue;
    const std::string name = (*callee.names).empty() ? "" : (*callee.names)[0].name;
    Unsettle(made, "`" + symbol + "` of the callee is " + std::to_string(own->second) + ", and `" + dim.ToString() + "` of the caller " +
                       std::to_string(*said));
  }
}

Made TreeRun::OfCall(const Expr& expr) {
  const sema::Function& function = checked_.functions[expr.index];
  Made made;
  std::vector<ir::Value> args;
  if (!Args(expr, args, made)) return made;
  Frame frame;
  frame.names = &function.locals;
  frame.locals.resize(std::max<size_t>(function.locals.size(), args.size()));
  for (size_t i = 0; i < args.size(); ++i) frame.locals[i] = Made{args[i], {}};
  BindParams(frame, args.size(), made, code::kDimension);
  if (made.codes.contains(code::kDimension)) return made;
  CompareSymbols(expr, frame, made);
  Made value;
  Frame* const caller = std::exchange(frame_, &frame);
  if (function.body != nullptr) {
    value = Eval(*function.body);
  } else {
    const ir::Outcome outcome = CallNative(program_, function.native, args, TypeOf(function.result));
    if (outcome.failure) value.codes.insert(outcome.failure->code);
    if (!outcome.failure) value.value = outcome.value;
  }
  if (value.value && !HasShape(function.result, *value.value, value.codes)) value.value.reset();
  frame_ = caller;
  value.Take(made);
  return value;
}

namespace {

Array ArrayOf(TypeRef type, const ir::Value& value) {
  if (type->kind == sema::TypeKind::kTensor) return {type->dtype, value.dims, *value.text};
  return {type->dtype, {}, std::string(reinterpret_cast<const char*>(&value.bits), ir::SizeOf(type->dtype))};
}

ir::Value ValueOf(TypeRef type, const Array& array) {
  if (type->kind == sema::TypeKind::kTensor) return ir::Value::Tensor(array.dims, array.bytes);
  uint64_t bits = 0;
  std::copy(array.bytes.begin(), array.bytes.end(), reinterpret_cast<char*>(&bits));
  return ir::Value::Scalar(bits);
}

}  // namespace

Made TreeRun::OfModel(const Expr& expr) {
  const sema::Model& model = checked_.models[expr.index];
  Made made;
  std::vector<ir::Value> args;
  if (!Args(expr, args, made)) return made;
  Frame frame;
  std::vector<sema::Local> names;
  for (const sema::ModelPort& port : model.in) names.push_back({port.name, port.type, model.span});
  frame.names = &names;
  for (const ir::Value& arg : args) frame.locals.push_back(Made{arg, {}});
  BindParams(frame, args.size(), made, code::kDimension);
  if (made.codes.contains(code::kDimension)) return made;
  const KnownModel* const known = FindModel(model.path);
  if (known == nullptr) return Unknown("model " + model.path);
  std::vector<Array> in, out(model.out.size());
  for (size_t i = 0; i < args.size(); ++i) in.push_back(ArrayOf(model.in[i].type, args[i]));
  if (!Step(in.empty() ? 1 : in[0].bytes.size() / 8)) return {};
  if (!known->compute(in, out)) {
    made.codes.insert(code::kInference);
    return made;
  }
  std::vector<ir::Value> items;
  for (size_t i = 0; i < out.size(); ++i) items.push_back(ValueOf(model.out[i].type, out[i]));
  made.value = expr.type->kind == sema::TypeKind::kRecord ? ir::Value::Items(std::move(items)) : std::move(items[0]);
  return made;
}

// In textual order: what it answers is one value.
Made TreeRun::OfWorkflow(const Expr& expr) {
  const sema::Workflow& workflow = checked_.workflows[expr.index];
  Made made;
  std::vector<ir::Value> args;
  if (!Args(expr, args, made)) return made;
  Frame frame;
  frame.names = &workflow.locals;
  frame.locals.resize(workflow.locals.size());
  frame.workflow = &workflow;
  for (size_t i = 0; i < args.size(); ++i) frame.locals[workflow.params[i].local] = Made{args[i], {}};
  BindParams(frame, args.size(), made, code::kDimension);
  if (made.codes.contains(code::kDimension)) return made;
  CompareSymbols(expr, frame, made);
  Frame* const caller = std::exchange(frame_, &frame);
  const int each_depth = std::exchange(each_depth_, 0);
  const Passed passed = RunWorkflow(made.codes);
  each_depth_ = each_depth;
  frame_ = caller;
  if (passed == Passed::kReturned && made.codes.empty()) made.value = ir::Value::Items(std::move(*frame.returned));
  return made;
}

// The failure is that of the lowest element.
Made TreeRun::OfEach(const Expr& expr) {
  Made made;
  std::vector<ir::Value> sources, items;
  int64_t count = 0;
  if (!Sources(*expr.loop, sources, count, made)) return made;
  elements_ += count;
  if (elements_ > limit_ && (each_depth_ > 0 || elements_ != count)) return Unknown("limit of several loops");
  if (elements_ > limit_) {
    made.codes.insert(code::kInputParams);
    return made;
  }
  ++each_depth_;
  bool is_there = true;
  for (int64_t i = 0; i < count && is_there && !stopped(); ++i) {
    BindLoop(*expr.loop, sources, i);
    Made item = Eval(*expr.args[0]);
    if (!item.codes.empty() && expr.args.size() > 1) {
      frame_->errors[expr.local] = item.codes;
      item = Eval(*expr.args[1]);
    }
    is_there = item.value && item.codes.empty();
    made.Take(item);
    if (is_there) items.push_back(std::move(*item.value));
  }
  --each_depth_;
  if (is_there && !stopped()) made.value = ir::Value::Items(std::move(items));
  return made;
}

}  // namespace wf::diff
