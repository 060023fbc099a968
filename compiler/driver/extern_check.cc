#include "compiler/driver/extern_check.h"

#include <fmt/format.h>

#include <optional>
#include <set>

#include "compiler/driver/extern_header.h"

namespace wf::driver {
namespace {

using base::Dim;
using sema::TypeKind;
using sema::TypeRef;

class CheckWriter {
 public:
  explicit CheckWriter(const sema::Function& function) : function_(function) {}

  std::string Run() {
    Write(function_.result, "(*result)", "the result", 4);
    std::string symbols;
    for (const std::string& symbol : used_) symbols += fmt::format("    int64_t d_{} = {};\n", symbol, ValueOf(symbol).value_or("-1"));
    return symbols + text_;
  }

 private:
  // What gives a symbol its value is what the runtime reads it from, too: an integer parameter, or an axis of a tensor.
  std::optional<std::string> ValueOf(const std::string& symbol) const {
    for (uint32_t i = 0; i < function_.n_params; ++i) {
      const sema::Local& param = function_.locals[i];
      if (param.type->kind == TypeKind::kScalar && param.name == symbol) return fmt::format("static_cast<int64_t>(*a{})", i);
      for (size_t axis = 0; param.type->kind == TypeKind::kTensor && axis < param.type->dims.size(); ++axis) {
        const auto linear = param.type->dims[axis].AsLinear();
        if (!linear || linear->symbol != symbol) continue;
        return fmt::format("(a{}->dim({}) - {}) / {}", i, axis, linear->add, linear->mul);
      }
    }
    return std::nullopt;
  }

  // A dimension as an expression; nothing when a symbol in it has no value.
  std::optional<std::string> Text(const Dim& dim) {
    std::string sum = "int64_t{0}";
    for (const Dim::Term& term : dim.terms()) {
      sum += fmt::format(" + int64_t{{{}}}", term.coefficient);
      for (const Dim::Atom& atom : term.atoms) {
        if (atom.division.empty()) {
          if (!ValueOf(atom.symbol)) return std::nullopt;
          used_.insert(atom.symbol);
          sum += " * d_" + atom.symbol;
          continue;
        }
        const auto a = Text(atom.division[0]), b = Text(atom.division[1]);
        if (!a || !b) return std::nullopt;
        sum += fmt::format(" * wf::shim::FloorDiv({}, {})", *a, *b);
      }
    }
    return sum;
  }

  void Line(int indent, const std::string& text) { text_ += std::string(static_cast<size_t>(indent), ' ') + text + "\n"; }

  void WriteTensor(TypeRef type, const std::string& value, const std::string& what, int indent) {
    for (size_t axis = 0; axis < type->dims.size(); ++axis) {
      const Dim& dim = type->dims[axis];
      if (dim.symbol() == "_") continue;
      const std::string extent = fmt::format("{{{}.dim({}), {}, \"{}\"}}", value, axis, axis, what);
      if (const auto wanted = Text(dim)) {
        Line(indent, fmt::format("wf::shim::CheckExtent({}, {});", extent, *wanted));
        continue;
      }
      const auto linear = dim.AsLinear();
      if (!linear) continue;  // arithmetic over extents that only the result knows
      used_.insert(linear->symbol);
      Line(indent, fmt::format("wf::shim::Bind(d_{}, {}, {}, {});", linear->symbol, extent, linear->mul, linear->add));
    }
  }

  // Statements about each item; nothing when there is nothing to say.
  void WriteItems(TypeRef type, const std::string& value, const std::string& what, int indent) {
    const std::string item = fmt::format("item{}", indent), before = std::exchange(text_, "");
    const bool is_map = type->kind == TypeKind::kMap;
    if (is_map) Line(indent + 2, fmt::format("wf::shim::CheckText({}.key, \"a key of {}\");", item, what));
    Write(type->element, is_map ? item + ".value" : item, (is_map ? "a value of " : "an item of ") + what, indent + 2);
    const std::string inside = std::exchange(text_, before);
    if (inside.empty()) return;
    Line(indent, fmt::format("for (auto& {} : {}) {{", item, value));
    text_ += inside;
    Line(indent, "}");
    if (is_map) Line(indent, fmt::format("wf::shim::SortEntries({}, \"{}\");", value, what));
  }

  void Write(TypeRef type, const std::string& value, const std::string& what, int indent) {
    switch (type->kind) {
      case TypeKind::kString:
        return Line(indent, fmt::format("wf::shim::CheckText({}, \"{}\");", value, what));
      case TypeKind::kTensor:
        return WriteTensor(type, value, what, indent);
      case TypeKind::kList:
      case TypeKind::kMap:
        return WriteItems(type, value, what, indent);
      case TypeKind::kOptional: {
        const std::string before = std::exchange(text_, "");
        Write(type->element, value + ".value", what, indent + 2);
        const std::string inside = std::exchange(text_, before);
        if (!inside.empty())
          text_ += fmt::format("{0}if ({1}.has) {{\n{2}{0}}}\n", std::string(static_cast<size_t>(indent), ' '), value, inside);
        return;
      }
      case TypeKind::kRecord:
        for (const sema::Field& field : type->fields) {
          Write(field.type, value + "." + NameInCpp(field.name), fmt::format("`{}` of {}", field.name, what), indent);
        }
        return;
      case TypeKind::kError:
      case TypeKind::kNever:
      case TypeKind::kNone:
      case TypeKind::kScalar:
      case TypeKind::kBytes:
      case TypeKind::kVariable:
        return;
    }
  }

  const sema::Function& function_;
  std::set<std::string> used_;
  std::string text_;
};

}  // namespace

std::string ResultChecks(const sema::Function& function) { return CheckWriter(function).Run(); }

}  // namespace wf::driver
