// Expressions: values, choices, lists and loops over them.

#include <algorithm>

#include "runtime/base/error_codes.h"
#include "tests/diff/tree_run.h"

namespace wf::diff {
namespace {

constexpr size_t kMostStepsOfTree = 400'000;

}  // namespace

const std::vector<ir::Value>& ItemsOf(const ir::Value& value) {
  static const std::vector<ir::Value> none;
  return value.items == nullptr ? none : *value.items;
}

Made TreeRun::Unknown(const std::string& why) {
  if (!stopped()) answer_.unknown = why;
  return {};
}

Made TreeRun::Broken(const std::string& what) {
  if (!stopped()) answer_.broken = what;
  return {};
}

void TreeRun::Unsettle(Made& made, const std::string& what) {
  if (unsettled_.empty()) unsettled_ = what;
  made.codes.insert(kUnsettled);
  made.value.reset();
}

bool TreeRun::Step(size_t steps) {
  steps_ += steps;
  if (steps_ > kMostStepsOfTree) Unknown("steps");
  return !stopped();
}

void TreeRun::Note(Made& made, int32_t code) {
  made.codes.insert(code);
  if (tensor_depth_ > 0) made.codes.insert(kNoted);
  made.value.reset();
}

Made TreeRun::Eval(const Expr& expr) {
  if (!Step()) return {};
  Made made = Kind(expr);
  if (made.value) AddSymbols(expr, *made.value);
  if (!expr.checks.empty()) Check(expr, made);
  return made;
}

const Made& TreeRun::Ref(const Expr& expr, Made& storage) {
  if (expr.kind == ExprKind::kLocal && expr.checks.empty() && expr.fresh.empty() && Step()) return Read(expr.local);
  storage = Eval(expr);
  return storage;
}

bool TreeRun::Take(const Expr& expr, ir::Value& value, Made& made) {
  Made storage;
  const Made& taken = Ref(expr, storage);
  made.Take(taken);
  if (!taken.value) return false;
  value = *taken.value;
  return true;
}

bool TreeRun::TakeI64(const Expr& expr, int64_t& value, Made& made) {
  ir::Value taken;
  if (!Take(expr, taken, made)) return false;
  value = static_cast<int64_t>(ir::ConvertScalar(expr.type->dtype, ir::DType::kI64, taken.bits));
  return true;
}

// All, so that each failure of several is told.
bool TreeRun::Args(const Expr& expr, std::vector<ir::Value>& args, Made& made) {
  bool is_there = true;
  args.resize(expr.args.size());
  for (size_t i = 0; i < args.size(); ++i) is_there = Take(*expr.args[i], args[i], made) && is_there;
  return is_there;
}

Made TreeRun::Kind(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kScalar:
      return {ir::Value::Scalar(expr.bits), {}};
    case ExprKind::kNone:
      return {ir::Value{}, {}};
    case ExprKind::kLocal:
      return Read(expr.local);
    case ExprKind::kConst:
      return {checked_.consts[expr.index].value, {}};
    case ExprKind::kDimValue: {
      Made made;
      const std::optional<int64_t> value = Value(expr.dim, made.codes);
      if (value) made.value = I64(*value);
      return value || !made.codes.empty() || stopped() ? made : Broken("`" + expr.dim.ToString() + "` has no value");
    }
    case ExprKind::kText:
      return OfText(expr);
    case ExprKind::kField:
      return OfField(expr);
    case ExprKind::kListLoop:
      return OfListLoop(expr);
    case ExprKind::kAnd:
    case ExprKind::kOr:
    case ExprKind::kCoalesce:
      return OfLazy(expr);
    case ExprKind::kIf:
      return OfIf(expr);
    case ExprKind::kBlock:
      return OfBlock(expr);
    case ExprKind::kFold:
      return OfFold(expr);
    case ExprKind::kFail:
      return Failed(expr.code, expr.args.empty() ? nullptr : expr.args[0].get());
    case ExprKind::kBuild:
      return OfBuild(expr);
    case ExprKind::kReduce:
      return OfReduce(expr);
    case ExprKind::kIndex:
      return OfIndex(expr);
    case ExprKind::kCallFn:
    case ExprKind::kCallExtern:
      return OfCall(expr);
    case ExprKind::kCallModel:
      return OfModel(expr);
    case ExprKind::kCallWorkflow:
      return OfWorkflow(expr);
    case ExprKind::kEach:
      return OfEach(expr);
    case ExprKind::kCallRemote:
      return Unknown("remotes");
    default:
      return OfArgs(expr);
  }
}

Made TreeRun::OfArgs(const Expr& expr) {
  switch (expr.kind) {
    case ExprKind::kUnary:
      return OfUnary(expr);
    case ExprKind::kBinary:
      return OfBinary(expr);
    case ExprKind::kConvert:
      return OfConvert(expr);
    case ExprKind::kBuiltin:
      return OfBuiltin(expr);
    case ExprKind::kListIndex:
      return OfListIndex(expr);
    case ExprKind::kMapIndex:
      return OfMapIndex(expr);
    case ExprKind::kMeta:
      return OfMeta(expr);
    default:
      break;
  }
  Made made;
  std::vector<ir::Value> args;
  if (!Args(expr, args, made)) return made;
  switch (expr.kind) {
    case ExprKind::kSome:
      made.value = ir::Value::Items(std::move(args));
      made.value->bits = 1;
      return made;
    case ExprKind::kRecord:
    case ExprKind::kList:
      made.value = ir::Value::Items(std::move(args));
      return made;
    case ExprKind::kHas:
      made.value = ir::Value::Scalar(args[0].bits);
      return made;
    case ExprKind::kUnwrap:
      if (args[0].bits == 0) return Broken("`none` is unwrapped");
      made.value = ItemsOf(args[0])[0];
      return made;
    default:
      return Unknown("kind " + std::to_string(static_cast<int>(expr.kind)));
  }
}

Made TreeRun::Failed(int32_t code, const Expr* message) {
  Made made;
  made.codes.insert(code);
  if (message != nullptr) made.Take(Eval(*message));
  return made;
}

// Of `err` the code is known where there is only one; the message and the node are not this evaluator's.
Made TreeRun::OfField(const Expr& expr) {
  const Expr& record = *expr.args[0];
  if (record.kind == ExprKind::kLocal) {
    const auto error = frame_->errors.find(record.local);
    if (error != frame_->errors.end()) {
      if (expr.index != 0) return Unknown("err.message and err.node");
      if (error->second.size() != 1) return Unknown("err.code of several");
      return {ir::Value::Scalar(static_cast<uint32_t>(*error->second.begin())), {}};
    }
  }
  Made storage, made;
  const Made& taken = Ref(record, storage);
  made.codes = taken.codes;
  if (taken.value) made.value = ItemsOf(*taken.value)[expr.index];
  return made;
}

Made TreeRun::OfText(const Expr& expr) {
  Made made;
  std::vector<ir::Value> args;
  if (!Args(expr, args, made)) return made;
  std::string text;
  size_t from = 0;
  for (size_t i = 0; i < args.size(); ++i) {
    const size_t hole = expr.text.find("{}", from);
    text += expr.text.substr(from, hole - from);
    from = hole + 2;
    const sema::Type& type = *expr.args[i]->type;
    text += type.kind == sema::TypeKind::kScalar ? ir::ScalarText(type.dtype, args[i].bits) : *args[i].text;
    if (text.size() > (size_t{1} << 20)) return Unknown("long text");
  }
  if (!Step(text.size() / 64)) return {};
  made.value = ir::Value::Text(text + expr.text.substr(from));
  return made;
}

Made TreeRun::OfIf(const Expr& expr) {
  Made made;
  for (size_t i = 0; i + 1 < expr.args.size(); i += 2) {
    ir::Value condition;
    if (!Take(*expr.args[i], condition, made)) return made;
    if (condition.bits == 0) continue;
    Made arm = Eval(*expr.args[i + 1]);
    arm.Take(made);
    return arm;
  }
  Made arm = Eval(*expr.args.back());
  arm.Take(made);
  return arm;
}

Made TreeRun::OfLazy(const Expr& expr) {
  Made made;
  ir::Value first;
  if (!Take(*expr.args[0], first, made)) return made;
  const bool is_known = (first.bits != 0) != (expr.kind == ExprKind::kAnd);  // `a ?? b` has a where that is not none
  if (!is_known) {
    Made second = Eval(*expr.args[1]);
    second.Take(made);
    return second;
  }
  const bool unwraps = expr.kind == ExprKind::kCoalesce && expr.type->kind != sema::TypeKind::kOptional;
  made.value = unwraps ? ItemsOf(first)[0] : first;
  return made;
}

// What fails in a step fails the whole, read or not.
Made TreeRun::OfBlock(const Expr& expr) {
  Made made;
  for (const sema::BlockStep& step : expr.steps) {
    Made value = Eval(*step.value);
    made.Take(value);
    if (!value.value) return made;
    if (step.is_let) {
      HasShape((*frame_->names)[step.local].type, *value.value, made.codes);
      Bind(step.local, std::move(value), false);
    } else if (value.value->bits == 0) {
      made.Take(Failed(step.code, step.message.get()));
      return made;
    }
  }
  Made value = Eval(*expr.args[0]);
  value.Take(made);
  return value;
}

// ---- lists ----

Made TreeRun::OfListIndex(const Expr& expr) {
  Made made, storage;
  int64_t index = 0;
  const Made& list = Ref(*expr.args[0], storage);
  made.codes = list.codes;
  const bool is_there = TakeI64(*expr.args[1], index, made);
  if (!list.value || !is_there) return made;
  const std::vector<ir::Value>& items = ItemsOf(*list.value);
  if (index >= 0 && index < static_cast<int64_t>(items.size())) {
    made.value = items[static_cast<size_t>(index)];
    return made;
  }
  made.codes.insert(code::kIndex);
  if (tensor_depth_ > 0) made.value = Zero(expr.type);
  return made;
}

Made TreeRun::OfMapIndex(const Expr& expr) {
  Made made;
  std::vector<ir::Value> args;
  if (!Args(expr, args, made)) return made;
  made.value = ir::Value{};
  if (args[0].keys == nullptr) return made;
  const auto found = std::find(args[0].keys->begin(), args[0].keys->end(), *args[1].text);
  if (found == args[0].keys->end()) return made;
  made.value = ir::Value::Items({ItemsOf(args[0])[static_cast<size_t>(found - args[0].keys->begin())]});
  made.value->bits = 1;
  return made;
}

bool TreeRun::Sources(const sema::Loop& loop, std::vector<ir::Value>& sources, int64_t& count, Made& made) {
  bool is_there = true;
  sources.resize(loop.sources.size());
  for (size_t i = 0; i < sources.size(); ++i) is_there = Take(*loop.sources[i], sources[i], made) && is_there;
  if (!is_there) return false;
  for (size_t i = 0; i < sources.size(); ++i) {
    const sema::Type& type = *loop.sources[i]->type;
    const bool is_tensor = type.kind == sema::TypeKind::kTensor;
    int64_t length = is_tensor ? sources[i].dims[0] : static_cast<int64_t>(ItemsOf(sources[i]).size());
    if (type.kind == sema::TypeKind::kScalar) length = static_cast<int64_t>(sources[i].bits);
    if (i == 0) count = length;
    if (length == count) continue;
    made.codes.insert(code::kZip);
    if (tensor_depth_ == 0) return false;
    count = std::min(count, length);
  }
  return true;
}

void TreeRun::BindLoop(const sema::Loop& loop, const std::vector<ir::Value>& sources, int64_t index) {
  size_t local = 0;
  if (loop.enumerate) Bind(loop.locals[local++], {I64(index), {}}, true);
  for (size_t i = 0; i < sources.size(); ++i) {
    const sema::Type& type = *loop.sources[i]->type;
    ir::Value item = I64(index);
    if (type.kind == sema::TypeKind::kList) item = ItemsOf(sources[i])[static_cast<size_t>(index)];
    if (type.kind == sema::TypeKind::kTensor && type.dims.size() == 1) item = ir::Value::Scalar(ElementAt(sources[i], type.dtype, index));
    if (type.kind == sema::TypeKind::kTensor && type.dims.size() > 1) {
      std::vector<int64_t> dims(sources[i].dims.begin() + 1, sources[i].dims.end());
      const size_t bytes = static_cast<size_t>(CountOf(dims)) * ir::SizeOf(type.dtype);
      item = ir::Value::Tensor(dims, sources[i].text->substr(static_cast<size_t>(index) * bytes, bytes));
    }
    Bind(loop.locals[local++], {std::move(item), {}}, true);
  }
}

Made TreeRun::OfListLoop(const Expr& expr) {
  Made made;
  std::vector<ir::Value> sources, items;
  int64_t count = 0;
  if (!Sources(*expr.loop, sources, count, made)) return made;
  ++loop_depth_;
  bool is_there = true;
  for (int64_t i = 0; i < count && is_there; ++i) {
    BindLoop(*expr.loop, sources, i);
    ir::Value item = ir::Value::Scalar(1);
    if (expr.condition) is_there = Take(*expr.condition, item, made);
    if (!is_there || item.bits == 0) continue;
    is_there = Take(*expr.args[0], item, made);
    if (is_there) items.push_back(std::move(item));
  }
  --loop_depth_;
  if (is_there) made.value = ir::Value::Items(std::move(items));
  return made;
}

Made TreeRun::OfFold(const Expr& expr) {
  Made made = Eval(*expr.args[0]);
  std::vector<ir::Value> sources;
  int64_t count = 0;
  std::optional<ir::Value> value = std::exchange(made.value, std::nullopt);
  if (!Sources(*expr.loop, sources, count, made) || !value) return made;
  ++loop_depth_;
  for (int64_t i = 0; i < count && value; ++i) {
    Bind(expr.local, {std::move(value), {}}, true);
    BindLoop(*expr.loop, sources, i);
    Made next = Eval(*expr.args[1]);
    made.Take(next);
    value = std::move(next.value);
  }
  --loop_depth_;
  made.value = std::move(value);
  return made;
}

Made TreeRun::OfMeta(const Expr& expr) {
  Made made = Eval(*expr.args[1]);
  for (const auto& [key, text] : input_->metadata) {
    if (key != expr.args[0]->text) continue;
    if (expr.type->kind == sema::TypeKind::kString) {
      made.value = ir::Value::Text(text);
    } else if (const auto bits = ir::ParseScalar(expr.type->dtype, text)) {
      made.value = ir::Value::Scalar(*bits);
    } else {
      made = {{}, {code::kInputParams}};
    }
  }
  return made;
}

}  // namespace wf::diff
