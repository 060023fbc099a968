#include "tests/diff/externs.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/base/error_codes.h"

namespace wf::diff {
namespace {

template <typename T>
std::vector<T> Elements(const ir::Value& tensor) {
  std::vector<T> elements(tensor.text->size() / sizeof(T));
  std::ranges::copy(*tensor.text, reinterpret_cast<char*>(elements.data()));  // memcpy would refuse the null of an empty vector
  return elements;
}
template <typename T>
ir::Value Vector(const std::vector<T>& elements) {
  return ir::Value::Tensor({static_cast<int64_t>(elements.size())},
                           std::string(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)));
}
ir::Outcome Made(ir::Value value) { return {.value = std::move(value), .failure = {}}; }
ir::Outcome Failed(int32_t code, std::string message) {
  return {.value = {}, .failure = ir::Failure{.code = code, .message = std::move(message)}};
}

ir::Outcome Halves(std::span<const ir::Value> args) {
  std::vector<double> x = Elements<double>(args[0]);
  if (x.empty()) return Failed(code::kInference, "of nothing there is no largest");
  double most = x[0];
  for (double& one : x) {
    if (one > most) most = one;
    one *= 0.5;
  }
  return Made(ir::Value::Items({Vector(x), ir::Value::Scalar(std::bit_cast<uint64_t>(most))}));
}

ir::Outcome Letters(std::span<const ir::Value> args) {
  const auto most = static_cast<int64_t>(args[1].bits);
  if (most < 0) return Failed(code::kInputParams, "fewer than no letters");
  const std::string text = args[0].text->substr(0, static_cast<size_t>(most));
  std::vector<ir::Value> letters;
  for (const char letter : text) {
    if (static_cast<uint8_t>(letter) >= 0x80) return Failed(code::kNotUtf8, "an item of the result is not UTF-8");
    letters.push_back(ir::Value::Text({letter}));
  }
  return Made(ir::Value::Items(std::move(letters)));
}

ir::Outcome Shortened(std::span<const ir::Value> args) {
  std::vector<uint32_t> x = Elements<uint32_t>(args[0]);
  const auto less = static_cast<uint32_t>(args[1].bits);
  if (less % 4 == 3 && !x.empty()) {
    const std::string wanted = std::to_string(x.size()), found = std::to_string(x.size() - 1);
    return Failed(code::kDimension, "axis 0 of the result is " + found + ", wanted " + wanted);
  }
  for (uint32_t& one : x) one ^= less;
  return Made(Vector(x));
}

ir::Outcome Noted(std::span<const ir::Value> args) {
  const auto x = static_cast<int64_t>(args[0].bits);
  const bool has_text = args[1].bits != 0;
  const size_t size = has_text ? (*args[1].items)[0].text->size() : 0;
  if (x == 7) return Failed(77, "seven, and " + std::to_string(size) + " bytes");
  return Made(ir::Value::Scalar(static_cast<uint64_t>(has_text ? static_cast<int64_t>(size) + x % 2 : -1)));
}

KnownExtern Extern(bool is_node, const char* name, std::vector<Name> params, Type result,
                   ir::Outcome (*compute)(std::span<const ir::Value>)) {
  KnownExtern made{.call = {}, .is_node = is_node, .compute = compute};
  made.call.name = name;
  made.call.params = std::move(params);
  made.call.result = std::move(result);
  made.call.may_fail = true;
  for (const Name& param : made.call.params)
    made.call.symbols.insert(made.call.symbols.end(), param.type.dims.begin(), param.type.dims.end());
  return made;
}

std::vector<KnownExtern> MakeExterns() {
  const Type f64_w = Tensor(DType::kF64, {"w"}), i32_w = Tensor(DType::kI32, {"w"}), i64 = Scalar(DType::kI64);
  return {
      Extern(true, "halves", {Param("x", f64_w)}, {.kind = Kind::kTuple, .of = {f64_w, Scalar(DType::kF64)}, .names = {"low", "most"}},
             Halves),
      Extern(true, "letters", {Param("text", String()), Param("most", i64)}, List(String()), Letters),
      Extern(true, "shortened", {Param("x", i32_w), Param("less", Scalar(DType::kU32))}, i32_w, Shortened),
      Extern(false, "noted", {Param("x", i64), Param("text", Optional(String()))}, i64, Noted),
  };
}

std::string Declaration(const KnownExtern& known) {
  std::string text = (known.is_node ? "extern node " : "extern fn ") + known.call.name;
  for (size_t i = 0; i < known.call.params.size(); ++i)
    text += (i == 0 ? "(" : ", ") + known.call.params[i].text + ": " + ToText(known.call.params[i].type);
  return text + ") -> " + ToText(known.call.result) + " = cpp(\"externs.cc\");\n";
}

}  // namespace

const std::vector<KnownExtern>& KnownExterns() {
  static const std::vector<KnownExtern> externs = MakeExterns();
  return externs;
}

const KnownExtern* FindExtern(const std::string& symbol) {
  const auto& externs = KnownExterns();
  const auto found =
      std::find_if(externs.begin(), externs.end(), [&](const KnownExtern& one) { return "wf_x_" + one.call.name == symbol; });
  return found == externs.end() ? nullptr : &*found;
}

const std::string& DeclarationOfExterns() {
  static const std::string all = [] {
    std::string text;
    for (const KnownExtern& one : KnownExterns()) text += Declaration(one);
    return text;
  }();
  return all;
}

}  // namespace wf::diff
