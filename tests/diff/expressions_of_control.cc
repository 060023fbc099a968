// Control flow: blocks, choices, and what a node may wait for.

#include <utility>

#include "tests/diff/writer.h"

namespace wf::diff {

std::string Writer::Let(int depth, const WriteValue& value) {
  if (!in_tensor_block_ && OneIn(8)) {  // one that nobody reads, and that may fail
    const std::vector<Name> divisors = Unknown(Scalar(DType::kI64));
    if (!divisors.empty()) return "let " + Fresh("_v") + " = 7 / " + Any(divisors).text + ";";
  }
  const Type type = in_tensor_block_ ? ElementType(true) : SmallType(1);
  const std::string name = Fresh("v"), text = value(type, depth);
  scope_.push_back({.text = name, .type = type, .extent = "", .is_constant = IsScalar(type), .is_value = true});
  return "let " + name + ": " + ToText(type) + " = " + text + ";";
}

std::string Writer::Require(int depth) {
  const std::string condition = Expression(Scalar(DType::kBool), depth);
  may_fail_ = true;
  return "require " + condition + (Below(2) == 0 ? "" : " else " + FailWith(1)) + ";";
}

std::string Writer::Steps(const Type& type, int depth, const WriteValue& value) {
  const size_t known = scope_.size();
  std::string text;
  for (uint32_t i = 0, count = depth > 0 && OneIn(4) ? 1 + Below(2) : 0; i < count; ++i)
    text += (!in_tensor_block_ && OneIn(3) ? Require(1) : Let(depth - 1, value)) + " ";
  text += value(type, depth);
  scope_.resize(known);
  return text;
}

std::string Writer::Block(const Type& type, int depth, const WriteValue& value) { return "{ " + Steps(type, depth, value) + " }"; }

std::string Writer::If(const Type& type, int depth, const WriteValue& value) {
  const std::string condition = Expression(Scalar(DType::kBool), depth);
  std::string text = "if " + condition + " " + Block(type, depth, value);
  if (OneIn(3)) {
    text += " else if " + Expression(Scalar(DType::kBool), depth - 1);
    text += " " + Block(type, depth - 1, value);
  }
  return text + " else " + Block(type, depth, value);
}

std::string Writer::Choice(const Type& type, int depth) {
  return "(" + If(type, depth, [this](const Type& of, int most) { return Expression(of, most); }) + ")";
}

std::string Writer::Match(const Type& type, int depth) {
  return "(" + MatchOf(type, depth, [this](const Type& of, int most) { return Expression(of, most); }) + ")";
}

std::string Writer::MatchOf(const Type& type, int depth, const WriteValue& value) {
  static const std::vector<DType> kTypes = {DType::kI64, DType::kI32, DType::kU8, DType::kBool, DType::kU64, DType::kI16};
  if (!in_tensor_block_ && OneIn(2)) {
    const std::vector<Name> maybe = Names([](const Name& name) { return IsOptional(name.type); });
    if (!maybe.empty()) return ArmsOfNone(Any(maybe), type, depth, value);
  }
  const Type of = !in_tensor_block_ && OneIn(4) ? String() : Scalar(Any(kTypes));
  const std::string subject = Expression(of, depth);
  return "match " + subject + " { " + Arms({.text = Fresh("b"), .type = of, .extent = "", .is_constant = true}, type, depth, value) + " }";
}

// Of literals, and of what is left, which `binder` names.
std::string Writer::Arms(const Name& binder, const Type& type, int depth, const WriteValue& value) {
  static const std::vector<std::string> kTexts = {"\"a\"", "\"\"", "\"12\"", "\"\\n\""};
  std::string text;
  if (IsBool(binder.type)) {
    const bool first = Below(2) == 0;
    text = (first ? "true => " : "false => ") + value(type, depth) + ", ";
    if (Below(2) == 0) return text + (first ? "false => " : "true => ") + value(type, depth);
  } else if (binder.type == String() || (IsScalar(binder.type) && !ir::IsFloat(binder.type.dtype))) {
    const bool is_text = binder.type == String();
    const auto lowest = static_cast<int64_t>(Below(3)) - (!is_text && ir::IsSigned(binder.type.dtype) ? 2 : 0);
    int64_t at = lowest;
    const int64_t most = is_text ? 4 : lowest + 4;
    for (uint32_t i = 0, count = 1 + Below(2); i < count && at < most; ++i) {
      for (uint32_t k = 0, alternatives = 1 + Below(2); k < alternatives && at < most; ++k, ++at)
        text += (k == 0 ? "" : " | ") + (is_text ? kTexts[static_cast<size_t>(at)] : std::to_string(at));
      text += " => " + value(type, depth) + ", ";
    }
  }
  if (Below(2) == 0) return text + "_ => " + value(type, depth);
  const size_t known = scope_.size();
  scope_.push_back(binder);
  text += binder.text + " => " + value(type, depth);
  scope_.resize(known);
  return text;
}

std::string Writer::ArmsOfNone(const Name& subject, const Type& type, int depth, const WriteValue& value) {
  Name binder{.text = Fresh("b"), .type = subject.type, .extent = "", .is_constant = true};
  if (OneIn(4)) return "match " + subject.text + " { " + Arms(binder, type, depth, value) + " }";  // it may be none still
  binder.type = subject.type.of[0];
  const std::string otherwise = value(type, depth);
  return "match " + subject.text + " { none => " + otherwise + ", " + Arms(binder, type, depth, value) + " }";
}

// ---- in nodes only ----

std::string Writer::Fallback(const Type& type, int depth, const WriteValue& value) {
  const size_t known = scope_.size();
  const bool was_in_fallback = std::exchange(in_fallback_, true);
  scope_.push_back({.text = "err.code", .type = Scalar(DType::kI32), .extent = ""});
  scope_.push_back({.text = "err.message", .type = String(), .extent = ""});
  scope_.push_back({.text = "err.node", .type = String(), .extent = ""});
  const std::string text = OneIn(6) ? FailWith(1) : value(type, depth);
  scope_.resize(known);
  in_fallback_ = was_in_fallback;
  return text;
}

std::string Writer::Waiting(const Type& type, int depth) {
  const WriteValue waiting = [this](const Type& of, int most) { return Waiting(of, most); };
  std::string text;
  const uint32_t kind = depth <= 0 ? 0 : Below(models_.empty() ? 10 : 14);
  if (kind >= 10) {
    text = CallModel(type, depth);
  } else if (kind >= 6 && type.kind == Kind::kList) {
    text = Each(type, depth - 1);
  } else if (kind >= 5) {
    text = CallWorkflow(type, depth - 1);
  } else if (kind == 4) {
    text = If(type, depth - 1, waiting);
  } else if (kind == 3) {
    text = MatchOf(type, depth - 1, waiting);
  }
  return text.empty() ? Expression(type, depth) : text;
}

std::string Writer::Each(const Type& type, int depth) {
  const Source source = Loop(0);
  if (source.text.empty()) return "";
  has_each_ = true;
  const bool was_in_each = std::exchange(in_each_, true);
  const size_t known = scope_.size();
  scope_.insert(scope_.end(), source.bound.begin(), source.bound.end());
  const WriteValue waiting = [this](const Type& of, int most) { return Waiting(of, most); };
  std::string text = "for " + source.names + " in " + source.text + " { " + Steps(type.of[0], depth, waiting);
  if (!in_fallback_ && OneIn(3)) text += " else " + Fallback(type.of[0], 1, waiting);
  scope_.resize(known);
  in_each_ = was_in_each;
  return text + " }";
}

std::vector<std::pair<Writer::Callee, std::string>> Writer::Fitting(const std::vector<Function>& functions, const Type& type) const {
  std::vector<std::pair<Callee, std::string>> fitting;
  for (const Function& function : functions) {
    const Type& result = function.result;
    if (Callee whole = Fit(function, result, type); whole.function != nullptr) fitting.emplace_back(std::move(whole), "");
    for (size_t i = 0; result.kind == Kind::kTuple && i < result.of.size(); ++i)
      if (Callee part = Fit(function, result.of[i], type); part.function != nullptr)
        fitting.emplace_back(std::move(part), "." + result.names[i]);
  }
  return fitting;
}

std::string Writer::CallWorkflow(const Type& type, int depth) {
  auto fitting = Fitting(workflows_, type);
  std::erase_if(fitting, [this](const auto& one) { return in_each_ && one.first.function->annotates; });
  if (fitting.empty()) return "";
  const auto& [callee, field] = Any(fitting);
  annotates_ = annotates_ || callee.function->annotates;
  has_call_ = true;
  return CallTo(callee, depth) + field;
}

// Or an extern node. What it is called with may be what another one answers.
std::string Writer::CallModel(const Type& type, int depth) {
  const auto fitting = Fitting(models_, type);
  if (fitting.empty()) return "";
  const auto& [callee, field] = Any(fitting);
  if (const KnownModel* model = callee.function->model; model != nullptr)
    called_.push_back(model);
  else
    has_extern_ = true;
  const WriteValue argument = [this](const Type& of, int most) {
    const std::string text = most > 0 && OneIn(4) ? CallModel(of, most) : "";
    return text.empty() ? Expression(of, most) : text;
  };
  return CallTo(callee, depth, argument) + field;
}

}  // namespace wf::diff
