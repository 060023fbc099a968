#include "tests/fuzz/forms/writer.h"

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace wf::fuzz {
namespace {

enum class Kind : uint8_t { kInteger, kText, kOptional, kList, kTensor, kTuple };

// Of a parameter: a*symbol + b, with a symbol of its function; of a value: b.
struct Extent {
  int mul = 0, add = 0;
  std::string symbol = {};

  std::string Text() const {
    if (mul == 0) return std::to_string(add);
    const std::string product = mul == 1 ? symbol : std::to_string(mul) + "*" + symbol;
    return add == 0 ? product : product + (add < 0 ? " - " : " + ") + std::to_string(add < 0 ? -add : add);
  }
};

struct Shape {
  Kind kind = Kind::kInteger;
  std::vector<Shape> parts = {};  // what it holds: one, or the members of a tuple, which are a, b, ..
  std::vector<Extent> extents = {};

  std::string Text() const {
    switch (kind) {
      case Kind::kInteger:
        return "i64";
      case Kind::kText:
        return "string";
      case Kind::kOptional:
        return parts[0].Text() + "?";
      case Kind::kList:
        return "list<" + parts[0].Text() + ">";
      case Kind::kTensor: {
        std::string text;
        for (const Extent& extent : extents) text += (text.empty() ? "" : ", ") + extent.Text();
        return "i64[" + text + "]";
      }
      case Kind::kTuple:
        break;
    }
    std::string text;
    for (size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : ", ") + MemberName(i) + ": " + parts[i].Text();
    return "(" + text + ")";
  }
  static std::string MemberName(size_t i) { return std::string(1, static_cast<char>('a' + i)); }
};

using Values = std::map<std::string, int>;  // of symbols

struct Function {
  std::string name;
  std::vector<Shape> params;
  std::vector<bool> has_default;
};

class Writer {
 public:
  explicit Writer(std::span<const uint8_t> answers) : answers_(answers) {}

  std::string Program() {
    std::string text = "import std.forms;\nerror Odd = 100001 \"odd\";\n";
    for (uint32_t n = 1 + Below(2); n > 0; --n) text += Declare();
    text += "workflow W(c: bool, o: i64?, k: i64, xs: list<i64>) -> (r: i64) {\n";
    std::string sum = "k";
    for (uint32_t n = 1 + Below(3); n > 0; --n) {
      const std::string name = NewName();
      text += Statement(name);
      if (is_number_) sum += " + " + name;
    }
    return text + "  return (r: " + sum + ");\n}\nservice S {\n  workflow W;\n}\n";
  }

 private:
  static constexpr int kDepth = 4;

  uint32_t Below(uint32_t n) {
    const uint32_t answer = at_ < answers_.size() ? answers_[at_++] : 0;
    return answer % n;
  }
  bool OneIn(uint32_t n) { return Below(n) == n - 1; }
  std::string NewName() { return "v" + std::to_string(n_names_++); }

  static Shape Optional(const Shape& held) { return held.kind == Kind::kOptional ? held : Shape{Kind::kOptional, {held}}; }

  Extent AnyExtent() {
    static constexpr std::array<std::pair<int, int>, 6> kForms{{{1, 0}, {0, 2}, {2, 0}, {1, 1}, {2, -1}, {0, 0}}};
    const auto [mul, add] = kForms[Below(kForms.size())];
    return {mul, add, Below(2) == 0 ? "n" : "m"};
  }

  Shape AnyShape(int depth) {
    switch (Below(depth == 0 ? 3 : 7)) {
      case 0:
        return {Kind::kTensor, {}, {AnyExtent()}};
      case 1:
        return {};
      case 2:
        return {Kind::kTensor, {}, {AnyExtent(), AnyExtent()}};
      case 3:
        return Optional(AnyShape(depth - 1));
      case 4:
        return {Kind::kList, {AnyShape(depth - 1)}};
      case 5: {
        Shape tuple{Kind::kTuple};
        for (uint32_t n = 1 + Below(3); n > 0; --n) tuple.parts.push_back(AnyShape(depth - 1));
        return tuple;
      }
      default:
        return Below(2) == 0 ? Shape{Kind::kText} : Shape{Kind::kTensor, {}, {AnyExtent(), AnyExtent(), AnyExtent()}};
    }
  }

  // Parts of lists and optionals cannot be the first to say a symbol: tensors of a call say them.
  std::string Declare() {
    Function made{"f" + std::to_string(functions_.size()), {}, {}};
    std::string text = "fn " + made.name + "(";
    bool may_leave = false;
    for (uint32_t n = 1 + Below(3); n > 0; --n) {
      const size_t i = made.params.size();
      made.params.push_back(AnyShape(2));
      may_leave = may_leave || OneIn(4);
      made.has_default.push_back(may_leave);
      text += (i == 0 ? "" : ", ") + std::string("p") + std::to_string(i) + ": " + made.params.back().Text();
      is_constant_ = true;
      if (may_leave) text += " = " + Value(Bound(made.params.back(), {{"n", 2}, {"m", 1}}), 1);
      is_constant_ = false;
    }
    functions_.push_back(std::move(made));
    return text + ") -> i64 = 1;\n";
  }

  static Shape Bound(const Shape& shape, const Values& values) {
    Shape bound{shape.kind};
    for (const Shape& part : shape.parts) bound.parts.push_back(Bound(part, values));
    for (const Extent& extent : shape.extents) {
      const int value = extent.mul == 0 ? extent.add : extent.mul * values.at(extent.symbol) + extent.add;
      bound.extents.push_back({0, value < 0 ? 0 : value});
    }
    return bound;
  }

  Values AnyValues() {
    static constexpr std::array<int, 4> kNumbers{2, 1, 0, 3};
    return {{"n", kNumbers[Below(4)]}, {"m", kNumbers[Below(4)]}};
  }

  std::string Statement(const std::string& name) {
    is_number_ = Below(3) != 2;
    const char* word = Below(2) == 0 ? "node" : "let";
    const std::string begin = std::string("  ") + word + " " + name;
    if (is_number_) return begin + " = " + Call(kDepth) + ";\n";
    const Shape shape = Bound(AnyShape(2), AnyValues());
    const std::string type = Below(4) != 3 ? ": " + shape.Text() : "";
    const std::string value = Value(shape, kDepth);
    const std::string fallback = *word == 'n' && OneIn(3) ? " else " + Value(shape, 2) : "";
    if (!type.empty()) scope_.emplace_back(name, shape);
    return begin + type + " = " + value + fallback + ";\n";
  }

  std::string Call(int depth) {
    const Function& callee = functions_[Below(static_cast<uint32_t>(functions_.size()))];
    const Values values = AnyValues();
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
    if (is_constant_) return Below(2) == 0 ? "true" : "false";
    static constexpr std::array<const char*, 5> kConditions{"c", "k > 1", "true", "len(xs) > 1", "false"};
    return kConditions[Below(kConditions.size())];
  }

  // What is written out.
  std::string Plain(const Shape& shape, int depth) {
    switch (shape.kind) {
      case Kind::kInteger:
        return is_constant_ || Below(2) == 0 ? "1" : "k";
      case Kind::kText:
        return "\"t\"";
      case Kind::kOptional:
        return Below(3) != 2 ? "none" : Value(shape.parts[0], depth - 1);
      case Kind::kList:
        return List(std::vector<Shape>(Below(3), shape.parts[0]), depth);
      case Kind::kTensor:
        return Tensor(shape, depth);
      case Kind::kTuple:
        break;
    }
    const size_t from = Below(static_cast<uint32_t>(shape.parts.size()));
    std::string text;
    for (size_t i = 0; i < shape.parts.size(); ++i) {
      const size_t member = (from + i) % shape.parts.size();
      text += (i == 0 ? "" : ", ") + Shape::MemberName(member) + ": " + Value(shape.parts[member], depth - 1);
    }
    return "(" + text + ")";
  }

  std::string List(const std::vector<Shape>& elements, int depth) {
    std::string text;
    for (const Shape& element : elements) text += (text.empty() ? "" : ", ") + Value(element, depth - 1);
    return "[" + text + "]";
  }

  std::string Tensor(const Shape& shape, int depth) {
    const uint32_t form = Below(5);
    if (form == 3 && (shape.extents[0].add == 0 || OneIn(4))) return "[]";
    if (form == 4) {
      std::string indices;
      for (size_t i = 0; i < shape.extents.size(); ++i)
        indices += (i == 0 ? "" : ", ") + std::string("i") + std::to_string(i) + " < " + shape.extents[i].Text();
      return "([" + indices + (is_constant_ ? "] => 0)" : "] => k)");
    }
    Shape row = shape;
    row.extents.erase(row.extents.begin());
    if (row.extents.empty()) row = Shape{};
    return List(std::vector<Shape>(static_cast<size_t>(shape.extents[0].add), row), depth);
  }

  // What may be none; its type is known where that of the value is.
  std::string Maybe(const Shape& shape, int depth) {
    if (Below(4) == 3) return Value(Optional(shape), depth);
    return "if " + Condition() + " { " + Value(shape, depth) + " } else { none }";
  }

  std::string Value(const Shape& wanted, int depth) {
    Shape shape = wanted;
    if (OneIn(48)) shape = Bound(AnyShape(1), AnyValues());
    if (depth <= 0) return Plain(shape, 0);
    const auto value = [&] { return Value(shape, depth - 1); };
    const auto named = [&](const Shape& part) {
      const std::string name = NewName();
      return std::pair(name, Value(part, depth - 1));
    };
    switch (Below(28)) {
      case 14:
        return "if " + Condition() + " { " + value() + " } else { " + value() + " }";
      case 15:
        return std::string("match ") + (is_constant_ ? "none" : "o") + " { none => " + value() + ", _ => " + value() + " }";
      case 16: {
        const auto [name, held] = named(shape);
        return "match (" + Maybe(shape, depth - 1) + ") { none => " + held + ", " + name + " => " + name + " }";
      }
      case 17:
        return "((" + Maybe(shape, depth - 1) + ") ?? " + value() + ")";
      case 18: {
        const auto [name, begun] = named(shape);
        return "(fold " + name + " = " + begun + (is_constant_ ? " for _x in [1, 2] { " : " for _x in xs { ") +
               (Below(2) == 0 ? name : value()) + " })";
      }
      case 19: {
        const auto [name, held] = named(shape);
        return "if " + Condition() + " { let " + name + (Below(2) == 0 ? ": " + shape.Text() : "") + " = " + held + "; " + name +
               " } else { " + value() + " }";
      }
      case 20:
        return "[" + value() + ", " + value() + "][0]";
      case 21:
        return "(a: " + value() + ", b: " + Value(Bound(AnyShape(1), AnyValues()), depth - 1) + ").a";
      case 22:
        return "forms.same(" + value() + ")";
      case 23:
        return "forms.one_of(" + Condition() + ", " + value() + ", " + value() + ")";
      case 24:
        return "forms.first(" + Value({Kind::kList, {shape}}, depth - 1) + ", " + value() + ")";
      case 25:
        return "forms.given(" + Maybe(shape, depth - 1) + ", " + value() + ")";
      case 26:
        if (shape.kind == Kind::kList)
          return "[" + Value(shape.parts[0], depth - 1) + (is_constant_ ? " for _x in [1, 2]]" : " for _x in xs]");
        return shape.kind == Kind::kInteger && !is_constant_ ? Call(depth - 1) : "(" + value() + ")";
      case 27:
        return !is_constant_ && OneIn(4) ? "(fail Odd)" : Plain(shape, depth);
      default:
        break;
    }
    for (const auto& [name, of] : scope_) {
      if (of.Text() == shape.Text() && Below(4) == 3) return name;
    }
    return Plain(shape, depth);
  }

  const std::span<const uint8_t> answers_;
  size_t at_ = 0, n_names_ = 0;
  bool is_number_ = false, is_constant_ = false;
  std::vector<Function> functions_;
  std::vector<std::pair<std::string, Shape>> scope_;  // what has a written type
};

}  // namespace

std::string WriteProgram(std::span<const uint8_t> answers) { return Writer(answers).Program(); }

}  // namespace wf::fuzz
