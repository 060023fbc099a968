#include "tests/diff/forms.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wf::diff {
namespace {

constexpr const char* kBegin =
    "import std.lists;\nimport std.tensor;\n\nerror Odd = 100001 \"odd\";\n\n"
    "fn line(k: i64) -> i64[_] = [i < k] => i;\n"
    "fn rows(k: i64) -> i64[_, 2] = [i < k, j < 2] => i + j;\n"
    "fn pair(k: i64) -> (a: i64[_], b: i64?) = (a: [i < k] => i, b: k);\n"
    "fn twice(x: i64[n]) -> i64[2*n] = [i] => x[i / 2];\n"
    "fn rest(x: i64[n], y: i64[m]) -> i64[n - m] = [i < n - m] => x[i];\n"
    "fn cut(x: i64[n], k: i64) -> i64[n] {\n  let part: i64[n] = x[0:k];\n  part\n}\n"
    "fn both(x: i64[n], y: i64[n]) -> i64 {\n  let z = x * 3 + y;\n  sum[i](z[i])\n}\n"
    "fn maybe(x: i64[n], c: bool) -> i64[n]? = if c { x } else { none };\n";

enum class FormKind : uint8_t { kInteger, kText, kOptional, kList, kTensor, kTuple };

// mul*symbol + add.
struct Extent {
  int mul = 0, add = 0;
  std::string symbol = {};

  std::string Text() const {
    if (mul == 0) return std::to_string(add);
    const std::string product = mul == 1 ? symbol : std::to_string(mul) + "*" + symbol;
    return add == 0 ? product : product + (add < 0 ? " - " : " + ") + std::to_string(add < 0 ? -add : add);
  }
};

struct Form {
  FormKind kind = FormKind::kInteger;
  std::vector<Form> parts = {};  // what it holds: one, or the members of a tuple, which are a, b, ..
  std::vector<Extent> extents = {};

  std::string Text() const {
    std::string text;
    switch (kind) {
      case FormKind::kInteger:
        return "i64";
      case FormKind::kText:
        return "string";
      case FormKind::kOptional:
        return parts[0].Text() + "?";
      case FormKind::kList:
        return "list<" + parts[0].Text() + ">";
      case FormKind::kTensor:
        for (const Extent& extent : extents) text += (text.empty() ? "" : ", ") + extent.Text();
        return "i64[" + text + "]";
      case FormKind::kTuple:
        break;
    }
    for (size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : ", ") + MemberName(i) + ": " + parts[i].Text();
    return "(" + text + ")";
  }
  static std::string MemberName(size_t i) { return std::string(1, static_cast<char>('a' + i)); }
};

using Extents = std::map<std::string, Extent>;  // of symbols

struct Callee {
  std::string name;
  std::vector<Form> params;
  std::vector<bool> has_default;
};

struct Local {
  std::string name;
  Form shape;
};

class FormWriter {
 public:
  explicit FormWriter(std::span<const uint8_t> answers) : answers_(answers) {}

  std::string Program() {
    std::string text = kBegin;
    for (uint32_t n = 1 + Below(3); n > 0; --n) text += Declare("fn f" + std::to_string(n));
    if (OneIn(3)) text += Declare("\nworkflow V");
    where_ = Where::kWorkflow;
    symbols_ = {"s", "t"};
    scope_ = {
        {"x", {FormKind::kTensor, {}, {{1, 0, "s"}}}}, {"y", {FormKind::kTensor, {}, {{1, 0, "s"}, {1, 0, "t"}}}}, {"o", Optional({})}};
    text += "\nworkflow W(c: bool, o: i64?, k: i64, xs: list<i64>, x: i64[s], y: i64[s, t]) -> (r: i64) {\n";
    std::string sum = "k + len(x) + len(y)";
    for (uint32_t n = 1 + Below(3); n > 0; --n) {
      const std::string name = NewName();
      text += Statement(name, sum);
    }
    return text + "  return (r: " + sum + ");\n}\n\nservice S {\n  workflow W;\n}\n";
  }

 private:
  enum class Where : uint8_t { kDefault, kFunction, kWorkflow };
  static constexpr int kDepth = 4;

  uint32_t Below(uint32_t n) {
    const uint32_t answer = at_ < answers_.size() ? answers_[at_++] : 0;
    return answer % n;
  }
  bool OneIn(uint32_t n) { return Below(n) == n - 1; }
  std::string NewName() { return "v" + std::to_string(n_names_++); }
  bool InWorkflow() const { return where_ == Where::kWorkflow; }
  std::string Xs() const { return InWorkflow() ? "xs" : "[1, 2]"; }

  static Form Optional(const Form& held) { return held.kind == FormKind::kOptional ? held : Form{FormKind::kOptional, {held}}; }

  Extent AnyExtent() {
    static constexpr std::array<std::pair<int, int>, 6> kForms{{{1, 0}, {0, 2}, {2, 0}, {1, 1}, {2, -1}, {0, 0}}};
    const auto [mul, add] = kForms[Below(kForms.size())];
    return {mul, add, Below(2) == 0 ? "n" : "m"};
  }

  Form AnyForm(int depth) {
    switch (Below(depth == 0 ? 3 : 7)) {
      case 0:
        return {FormKind::kTensor, {}, {AnyExtent()}};
      case 1:
        return {};
      case 2:
        return {FormKind::kTensor, {}, {AnyExtent(), AnyExtent()}};
      case 3:
        return Optional(AnyForm(depth - 1));
      case 4:
        return {FormKind::kList, {AnyForm(depth - 1)}};
      case 5: {
        Form tuple{FormKind::kTuple};
        for (uint32_t n = 1 + Below(3); n > 0; --n) tuple.parts.push_back(AnyForm(depth - 1));
        return tuple;
      }
      default:
        return Below(2) == 0 ? Form{FormKind::kText} : Form{FormKind::kTensor, {}, {AnyExtent(), AnyExtent(), AnyExtent()}};
    }
  }

  // With the extents that the symbols have; none is below 0 where that is known.
  static Form Bound(const Form& shape, const Extents& values) {
    Form bound{shape.kind};
    for (const Form& part : shape.parts) bound.parts.push_back(Bound(part, values));
    for (const Extent& extent : shape.extents) {
      Extent value{0, extent.add};
      if (extent.mul != 0) {
        value = values.at(extent.symbol);
        value.add = extent.mul * value.add + extent.add;
        value.mul *= extent.mul;
      }
      if (value.mul == 0 && value.add < 0) value.add = 0;
      bound.extents.push_back(value);
    }
    return bound;
  }

  Extent AnyValue() {
    static constexpr std::array<int, 4> kNumbers{2, 1, 0, 3};
    if (symbols_.empty() || Below(3) != 2) return {0, kNumbers[Below(4)]};
    return {1, 0, symbols_[Below(static_cast<uint32_t>(symbols_.size()))]};
  }
  Extents AnyValues() {
    const Extent n = AnyValue();
    return {{"n", n}, {"m", AnyValue()}};
  }

  // A function, or a workflow that nodes call.
  std::string Declare(const std::string& head) {
    Callee made{head.substr(head.find(' ') + 1), {}, {}};
    std::string text, observed;
    scope_.clear();
    symbols_.clear();
    bool may_leave = false;
    for (uint32_t n = 1 + Below(3); n > 0; --n) {
      const std::string name = "p" + std::to_string(made.params.size());
      made.params.push_back(AnyForm(2));
      may_leave = may_leave || OneIn(4);
      made.has_default.push_back(may_leave);
      text += (text.empty() ? "" : ", ") + name + ": " + made.params.back().Text();
      where_ = Where::kDefault;
      if (may_leave) text += " = " + Value(Bound(made.params.back(), {{"n", {0, 2}}, {"m", {0, 1}}}), 1);
      where_ = Where::kFunction;
      observed += (observed.empty() ? "" : " + ") + Observed(name, made.params.back());
    }
    for (size_t i = 0; i < made.params.size(); ++i) scope_.push_back({"p" + std::to_string(i), made.params[i]});
    for (const char* symbol : {"n", "m"}) {
      if (text.find(symbol) != std::string::npos) symbols_.push_back(symbol);
    }
    if (!functions_.empty() && Below(2) == 1) observed += " + " + Call(functions_[Below(static_cast<uint32_t>(functions_.size()))], 2);
    if (made.name == "V") {
      inner_ = std::move(made);
      return head + "(" + text + ") -> (r: i64) {\n  return (r: " + observed + ");\n}\n";
    }
    functions_.push_back(std::move(made));
    return head + "(" + text + ") -> i64 = " + observed + ";\n";
  }

  // A number that tells values apart.
  std::string Observed(const std::string& name, const Form& shape) {
    std::string text;
    switch (shape.kind) {
      case FormKind::kInteger:
        return name;
      case FormKind::kText:
        return "len(" + name + ")";
      case FormKind::kOptional: {
        const std::string held = NewName();
        return "(match " + name + " { none => 5, " + held + " => 1 + " + Observed(held, shape.parts[0]) + " })";
      }
      case FormKind::kList: {
        const std::string sum = NewName(), element = NewName();
        return "(fold " + sum + " = len(" + name + ") for " + element + " in " + name + " { " + sum + " * 3 + " +
               Observed(element, shape.parts[0]) + " })";
      }
      case FormKind::kTensor: {
        for (size_t i = 0; i < shape.extents.size(); ++i) text += (i == 0 ? "" : ", ") + std::string(1, static_cast<char>('h' + i));
        return "(7 * len(" + name + ") + sum[" + text + "](" + name + "[" + text + "] + 11))";
      }
      case FormKind::kTuple:
        break;
    }
    for (size_t i = 0; i < shape.parts.size(); ++i)
      text += (i == 0 ? "" : " + ") + Observed(name + "." + Form::MemberName(i), shape.parts[i]);
    return "(" + text + ")";
  }

  std::string Statement(const std::string& name, std::string& sum) {
    const bool is_node = Below(2) == 0;
    const std::string begin = std::string("  ") + (is_node ? "node " : "let ") + name;
    const uint32_t what = Below(5);
    if (what == 4) {
      sum += " + " + name + "[0] + " + name + "[1]";
      return begin + " = " + Elements() + ";\n";
    }
    if (what == 3 && is_node && inner_) {
      sum += " + " + name + ".r";
      return begin + " = " + Call(*inner_, kDepth) + ";\n";
    }
    if (what != 2) {
      sum += " + " + name;
      return begin + " = " + Call(kDepth) + ";\n";
    }
    if (is_node && OneIn(3)) return Each(name, sum);
    const Form shape = Bound(AnyForm(2), AnyValues());
    const bool is_typed = Below(4) != 3;
    const std::string value = Value(shape, kDepth);
    const std::string fallback = is_node && OneIn(3) ? " else " + Value(shape, 2) : "";
    sum += " + " + Observed(name, shape);
    scope_.push_back({name, shape});
    return begin + (is_typed ? ": " + shape.Text() : "") + " = " + value + fallback + ";\n";
  }

  // An element each, with a fallback.
  std::string Each(const std::string& name, std::string& sum) {
    const Form form = Bound(AnyForm(1), AnyValues());
    const std::string fallback = Below(2) == 0 ? " else " + Value(form, 1) : "";
    sum += " + " + Observed(name, {FormKind::kList, {form}});
    return "  node " + name + " = for _x in xs {\n    require c || k > 0 else fail Odd;\n    " + Value(form, 2) + fallback + "\n  };\n";
  }

  std::string Call(int depth) { return Call(functions_[Below(static_cast<uint32_t>(functions_.size()))], depth); }

  std::string Call(const Callee& callee, int depth) {
    const Extents values = AnyValues();
    const bool named = Below(2) == 1;
    std::vector<std::string> args;
    for (size_t i = 0; i < callee.params.size(); ++i) {
      if (callee.has_default[i] && Below(2) == 1) break;
      const std::string value = Value(Bound(callee.params[i], values), depth - 1);
      args.push_back((named ? "p" + std::to_string(i) + ": " : "") + value);
    }
    if (named && args.size() > 1 && Below(2) == 1) std::swap(args.front(), args.back());
    std::string text;
    for (const std::string& arg : args) text += (text.empty() ? "" : ", ") + arg;
    return callee.name + "(" + text + ")";
  }

  std::string Condition() {
    static constexpr std::array<const char*, 5> kConditions{"c", "k > 1", "true", "len(xs) > 1", "false"};
    return InWorkflow() ? kConditions[Below(kConditions.size())] : Below(2) == 0 ? "true" : "false";
  }

  // What is written out.
  std::string Plain(const Form& shape, int depth) {
    switch (shape.kind) {
      case FormKind::kInteger:
        return !InWorkflow() || Below(2) == 0 ? "1" : "k";
      case FormKind::kText:
        return "\"t\"";
      case FormKind::kOptional:
        return Below(3) != 2 ? "none" : Value(shape.parts[0], depth - 1);
      case FormKind::kList:
        return List(Below(3), shape.parts[0], depth);
      case FormKind::kTensor:
        return Tensor(shape, depth);
      case FormKind::kTuple:
        break;
    }
    const size_t from = Below(static_cast<uint32_t>(shape.parts.size()));
    std::string text;
    for (size_t i = 0; i < shape.parts.size(); ++i) {
      const size_t member = (from + i) % shape.parts.size();
      text += (i == 0 ? "" : ", ") + Form::MemberName(member) + ": " + Value(shape.parts[member], depth - 1);
    }
    return "(" + text + ")";
  }

  std::string List(uint32_t count, const Form& element, int depth) {
    std::string text;
    for (uint32_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + Value(element, depth - 1);
    return "[" + text + "]";
  }

  // To what is wanted, or to what may be another extent, of what may have another number of elements.
  std::string Reshaped(const Form& shape, int depth) {
    Form from{FormKind::kTensor, {}, {shape.extents.rbegin(), shape.extents.rend()}};
    if (Below(3) == 2) from.extents = {shape.extents[0]};
    std::string text = "tensor.reshape(" + Value(from, depth - 1);
    for (const Extent& extent : shape.extents)
      text += ", " + (InWorkflow() && OneIn(4) ? (Below(2) == 0 ? "k" : "len(xs)") : extent.Text());
    return text + ")";
  }

  std::string Tensor(const Form& shape, int depth) {
    const Extent& first = shape.extents[0];
    const uint32_t form = Below(8);
    if (form == 7) return Reshaped(shape, depth);
    if (form == 3 && ((first.mul == 0 && first.add == 0) || OneIn(4))) return "[]";
    if (form == 5 && shape.extents.size() == 1) return InWorkflow() && Below(3) == 2 ? Slice(first) : "line(" + first.Text() + ")";
    if (form == 5 && shape.extents.size() == 2 && shape.extents[1].Text() == "2") return "rows(" + first.Text() + ")";
    if (form == 6 && shape.extents.size() == 1 && first.mul % 2 == 0 && first.add % 2 == 0)
      return "twice(" + Value({FormKind::kTensor, {}, {{first.mul / 2, first.add / 2, first.symbol}}}, depth - 1) + ")";
    if (form == 6 && shape.extents.size() == 2)
      return "tensor.transpose(" + Value({FormKind::kTensor, {}, {shape.extents[1], first}}, depth - 1) + ")";
    if (form == 4 || first.mul != 0) {
      std::string indices;
      for (size_t i = 0; i < shape.extents.size(); ++i)
        indices += (i == 0 ? "" : ", ") + std::string("i") + std::to_string(i) + " < " + shape.extents[i].Text();
      return "([" + indices + (InWorkflow() ? "] => k)" : "] => 4)");
    }
    Form row = shape;
    row.extents.erase(row.extents.begin());
    if (row.extents.empty()) row = Form{};
    return List(static_cast<uint32_t>(first.add), row, depth);
  }

  // Shapes that only a check among the elements compares.
  std::string Elements() {
    const std::string first = Row(), second = Row();
    return "[i < 2] => both(" + first + ", " + second + ")";
  }
  std::string Row() {
    const uint32_t form = Below(13);
    if (form == 0 || form == 1) return form == 0 ? "x" : "line(k)";
    if (form == 2 || form == 3) return form == 2 ? "y[i]" : Slice({1, 0, "k"});
    if (form == 4) return "twice(" + Row() + ")";
    if (form == 6) return Value({FormKind::kTensor, {}, {AnyValue()}}, 2);
    if (form == 11) {
      const std::string name = NewName();
      return "(fold " + name + " = x for _x in xs { tensor.concat(" + name + " + x, " + Row() + ") })";
    }
    if (form == 8) return "[x, " + (Below(2) == 0 ? std::string("x") : Row()) + "][k]";
    if (form == 9) return "list(y)[k]";
    if (form == 10) {
      const std::string name = NewName();
      return "(fold " + name + " = x for _x in xs { cut(x + " + name + ", " + (Below(2) == 0 ? "k" : Row() + "[k]") + ") })";
    }
    if (form == 7) return "if " + Condition() + " { " + Row() + " } else { " + Row() + " }";
    if (form == 5) {
      const std::string name = NewName();
      return "(fold " + name + " = x for _x in xs { rest(x + " + name + ", " + Row() + ") })";
    }
    const std::string whole = Row();
    return "rest(" + whole + ", " + Row() + ")";
  }

  // May be out of range, and of another extent than is wanted.
  std::string Slice(const Extent& wanted) {
    static constexpr std::array<const char*, 5> kEnds{"k", "len(xs)", "2", "len(x)", "10000000000 * k"};
    const uint32_t end = Below(kEnds.size() + 1);
    return std::string("x[") + (OneIn(3) ? "1" : "0") + ":" + (end < kEnds.size() ? kEnds[end] : wanted.Text()) + "]";
  }

  // What may be none; its type is known where that of the value is.
  std::string Maybe(const Form& shape, int depth) {
    if (Below(4) == 3) return Value(Optional(shape), depth);
    if (shape.kind == FormKind::kTensor && shape.extents.size() == 1 && Below(3) == 2)
      return "maybe(" + Value(shape, depth) + ", " + Condition() + ")";
    return "if " + Condition() + " { " + Value(shape, depth) + " } else { none }";
  }

  std::string Value(const Form& wanted, int depth) {
    Form shape = wanted;
    if (OneIn(64)) shape = Bound(AnyForm(1), AnyValues());
    const uint32_t form = Below(depth <= 0 ? 14 : 32);
    for (const Local& local : scope_) {
      if (form < 14 && local.shape.Text() == shape.Text() && Below(2) == 1) return local.name;
    }
    if (form < 14) return Plain(shape, depth);
    return form < 21 ? Chosen(shape, form, depth - 1) : Held(shape, form, depth - 1);
  }

  // By control: arms, blocks, folds.
  std::string Chosen(const Form& shape, uint32_t form, int depth) {
    const auto value = [&] { return Value(shape, depth); };
    const std::string name = NewName();
    switch (form) {
      case 14:
        return "if " + Condition() + " { " + value() + " } else { " + value() + " }";
      case 15:
        return std::string("match ") + (InWorkflow() ? "o" : "2") + (InWorkflow() ? " { none => " : " { 1 => ") + value() + ", _ => " +
               value() + " }";
      case 16: {
        const std::string held = value();
        return "match (" + Maybe(shape, depth) + ") { none => " + held + ", " + name + " => " + name + " }";
      }
      case 17:
        return "((" + Maybe(shape, depth) + ") ?? " + value() + ")";
      case 18: {
        const std::string begun = value();
        return "(fold " + name + " = " + begun + " for _x in " + Xs() + " { " + (Below(2) == 0 ? name : value()) + " })";
      }
      case 19: {
        const std::string held = value(), type = Below(2) == 0 ? ": " + shape.Text() : "";
        return "if " + Condition() + " { let " + name + type + " = " + held + "; " + name + " } else { " + value() + " }";
      }
      default:
        break;
    }
    return where_ != Where::kDefault && OneIn(4) ? "(fail Odd)" : Plain(shape, depth);
  }

  // Taken out of what holds it, or handed on by a function.
  std::string Held(const Form& shape, uint32_t form, int depth) {
    const auto value = [&] { return Value(shape, depth); };
    const std::string at = InWorkflow() ? "[k]" : "[1]";
    switch (form) {
      case 21:
        return "[" + value() + ", " + value() + "]" + (Below(2) == 0 ? "[0]" : at);
      case 22:
        return "(a: " + value() + ", b: " + Value(Bound(AnyForm(1), AnyValues()), depth) + ").a";
      case 23:
        return "lists.fill(" + value() + ", 1)[0]";
      case 24:
        return "lists.concat(" + Value({FormKind::kList, {shape}}, depth) + ", [" + value() + "])[0]";
      case 25:
        return "lists.reverse([" + value() + ", " + value() + "])" + at;
      case 26:
      case 27:
        if (shape.kind == FormKind::kList) return "[" + Value(shape.parts[0], depth) + " for _x in " + Xs() + "]";
        if (shape.kind == FormKind::kInteger && !functions_.empty() && where_ == Where::kWorkflow) return Call(depth);
        if (shape.kind == FormKind::kTensor) return "tensor.flip(" + value() + ")";
        return "(" + value() + ")";
      case 28:
        if (shape.kind == FormKind::kTensor) return "tensor.concat(" + value() + ", [])";
        return "(" + value() + ")";
      case 29:
        if (shape.Text() == "(a: i64[2], b: i64?)") return "pair(2)";
        return "lists.take([" + value() + ", " + value() + "], 1)[0]";
      default:
        break;
    }
    return Plain(shape, depth);
  }

  const std::span<const uint8_t> answers_;
  size_t at_ = 0, n_names_ = 0;
  Where where_ = Where::kFunction;
  std::vector<Callee> functions_;
  std::optional<Callee> inner_;       // a workflow
  std::vector<Local> scope_;          // what has that type
  std::vector<std::string> symbols_;  // that extents may hold here
};

}  // namespace

Workflow WriteForms(std::span<const uint8_t> answers) {
  Workflow workflow{.name = "W", .declarations = FormWriter(answers).Program(), .inputs = {}, .choices = {}};
  workflow.inputs.push_back({R"({"c": false, "k": 0, "xs": [], "x": [], "y": []})", {}});
  workflow.inputs.push_back({R"({"c": true, "o": 4, "k": 1, "xs": [3], "x": [5], "y": [[1, 2]]})", {}});
  workflow.inputs.push_back({R"({"c": false, "o": 4, "k": 2, "xs": [3, 4], "x": [1, 2], "y": [[1], [2]]})", {}});
  return workflow;
}

}  // namespace wf::diff
