// Productions about where an element stands: arithmetic of indices, choices and gathers by them, and tensors that are moved as a whole.

#include <algorithm>

#include "tests/diff/writer.h"

namespace wf::diff {
namespace {

bool IsIndex(const Name& name) { return !name.extent.empty(); }

}  // namespace

// What an index is added to or compared with: a whole number of which the compiler knows no value, an index among them.
std::string Writer::Whole() {
  const std::vector<Name> names = Names([](const Name& name) {
    return IsScalar(name.type) && IsNumber(name.type.dtype) && !ir::IsFloat(name.type.dtype) && !name.is_constant;
  });
  if (names.empty()) return "";
  const Name& name = Any(names);
  return name.type == Scalar(DType::kI64) ? name.text : "i64(" + name.text + ")";
}

// `at`, `at + start`, `(at * 3) - n`: empty outside of loops.
std::string Writer::SumOfIndices() {
  static const std::vector<std::string> kOperators = {" + ", " - ", " * "},
                                        kByNumber = {" * 2", " + 1", " * 3", " / 2", " % 3", " - 5", " * 64"};
  const std::vector<Name> indices = Names(IsIndex);
  if (indices.empty()) return "";
  std::string text = Any(indices).text;
  for (uint32_t i = 0, count = Below(3); i < count; ++i) {
    const std::string other = Below(3) == 2 && !dims_.empty() ? Any(dims_) : Whole();
    const uint32_t kind = Below(4);
    if (kind == 0) text = "(" + other + " + " + text + ")";
    if (kind == 1) text = "(" + text + Any(kByNumber) + ")";
    if (kind == 2) text = "(" + text + Any(kOperators) + other + ")";
    if (kind == 3) text = "(" + other + Any(kOperators) + text + ")";
  }
  return text;
}

std::string Writer::IndexArithmetic(const Type& type, int) {
  const std::string text = SumOfIndices();
  return text.empty() || type.dtype == DType::kI64 ? text : std::string(ir::NameOf(type.dtype)) + "(" + text + ")";
}

// Of what is one for all elements; empty: nothing is.
std::string Writer::ScalarTest() {
  static const std::vector<std::string> kOrders = {" < ", " == ", " >= ", " != "}, kNumbers = {"2", "1", "0", "5"};
  const std::vector<Name> flags = Names([](const Name& name) { return IsBool(name.type) && !name.is_constant; });
  const std::vector<Name> wholes =
      Names([](const Name& name) { return name.type == Scalar(DType::kI64) && !name.is_constant && name.extent.empty(); });
  if (!flags.empty() && (wholes.empty() || Below(2) == 0)) return Any(flags).text;
  if (!wholes.empty()) return "(" + Any(wholes).text + Any(kOrders) + Any(kNumbers) + ")";
  return dims_.empty() ? "" : "(" + Any(dims_) + Any(kOrders) + Any(kNumbers) + ")";
}

// An element that reads no tensor, above all a sum with an index.
std::string Writer::IndexAlone(const Type& type) {
  const std::string plain = IndexArithmetic(type, 0), start = dims_.empty() || OneIn(2) ? Whole() : Any(dims_);
  if (Below(2) == 0) return plain;
  const std::vector<Name> indices = Names(IsIndex);
  std::string sum = "(" + start + " + " + Any(indices).text + ")";
  if (type.dtype != DType::kI64) sum = std::string(ir::NameOf(type.dtype)) + sum;
  const std::string test = OneIn(3) ? ScalarTest() : "";
  return test.empty() ? sum : "(if " + test + " { " + sum + " } else { " + plain + " })";
}

// By the index, or by something outside that is one for all elements.
std::string Writer::IndexTest(const Type&, int) {
  static const std::vector<std::string> kOrders = {" < ", " == ", " >= ", " != "}, kNumbers = {"2", "1", "3", "0", "4", "7"};
  const std::vector<Name> indices = Names(IsIndex);
  if (indices.empty()) return "";
  const Name& index = Any(indices);
  switch (Below(6)) {
    case 0:
      return "(" + index.text + Any(kOrders) + Any(kNumbers) + ")";
    case 1:
      return "(" + index.text + " % 2 == " + Any(std::vector<std::string>{"0", "1"}) + ")";
    case 2:
      return "(" + index.text + Any(kOrders) + Whole() + ")";
    case 3:
      return "(" + SumOfIndices() + Any(kOrders) + Whole() + ")";
    case 4:
      return "(" + index.text + " + 1" + Any(kOrders) + Dim() + ")";
    default:
      return ScalarTest();
  }
}

std::string Writer::ByIndex(const Type& type, int) {
  const Type test = Scalar(DType::kBool);
  const std::string first = IndexTest(test, 0);
  if (first.empty()) return "";
  std::string text = "(if " + first + " { " + Expression(type, 0) + " } else ";
  if (const std::string second = OneIn(4) ? IndexTest(test, 0) : ""; !second.empty())
    text += "if " + second + " { " + Expression(type, 0) + " } else ";
  return text + "{ " + Expression(type, 0) + " })";
}

// Inside `dim` where the loop of one index is as long, or forced inside, or only perhaps; empty: no such is known.
std::string Writer::ComputedIndex(const std::string& dim, int depth) {
  static const std::vector<Type> kTypesOfData = {Scalar(DType::kI64), Scalar(DType::kI32), Scalar(DType::kU8), Scalar(DType::kI16)};
  if (dim == "0" || dim == "_") return "";
  const std::vector<Name> own = Names([&](const Name& name) { return name.extent == dim; });
  const uint32_t kind = Below(10);
  if (!own.empty() && kind < 7) {
    const std::string at = Any(own).text;
    const std::vector<std::string> kInside = {at,
                                              dim + " - 1 - " + at,
                                              at + " / 2",
                                              "(" + at + " + 1) % " + dim,
                                              "min(" + at + " + 2, " + dim + " - 1)",
                                              "max(" + at + " - 1, 0)",
                                              at + " - " + at + " % 2"};
    return kInside[kind];
  }
  const std::vector<Name> others = Names([&](const Name& name) { return IsIndex(name) && name.extent != dim && !IsWritten(name.extent); });
  if (kind == 9 && !others.empty() && !IsWritten(dim)) return Any(others).text + " * 2" + (Below(2) == 0 ? "" : " + 1");
  std::string text = SumOfIndices();
  if (kind >= 8 || text.empty()) {
    const std::string data = Element(Any(kTypesOfData), depth);
    if (!data.empty()) text = "i64(" + data + ")";
  }
  if (text.empty()) return "";
  return Below(2) == 0 ? "abs(" + text + ") % " + dim : "clamp(" + text + ", 0, " + dim + " - 1)";
}

std::string Writer::Gathered(const Type& type, int depth) {
  const std::vector<Name> tensors = Tensors(type.dtype);
  if (tensors.empty()) return "";
  const Name& tensor = Any(tensors);
  std::string text = tensor.text + "[";
  for (size_t i = 0; i < tensor.type.dims.size(); ++i) {
    const std::string index = ComputedIndex(tensor.type.dims[i], std::min(depth, 1));
    if (index.empty()) return "";
    text += (i == 0 ? "" : ", ") + index;
  }
  return text + "]";
}

// An element of what may be shorter than the loop, behind a test of its extents.
std::string Writer::Guarded(const Type& type, int) {
  const std::vector<Name> tensors = Tensors(type.dtype), indices = Names(IsIndex);
  if (tensors.empty() || indices.empty()) return "";
  const Name& tensor = Any(tensors);
  std::string test, read;
  for (const std::string& dim : tensor.type.dims) {
    if (dim == "_" || dim == "0") return "";
    const Name& index = Any(indices);
    const std::string at = index.text + (OneIn(3) ? " - 1" : "");
    if (index.extent != dim || at != index.text)
      test += (test.empty() ? "" : " && ") + (at == index.text ? std::string() : "0 <= " + at + " && ") + at + " < " + dim;
    read += (read.empty() ? "" : ", ") + at;
  }
  read = tensor.text + "[" + read + "]";
  return test.empty() ? read : "(if " + test + " { " + read + " } else { " + Expression(type, 0) + " })";
}

// What is read more than once: by its elements and by a reduction of its rows.
std::string Writer::Centred(const Type& type, int) {
  static const std::vector<std::string> kReducers = {"max", "sum", "min"}, kOperators = {" - ", " * ", " + "};
  std::vector<Name> names = NamesOf(type);
  if (names.empty() || loops_ >= 2) return "";
  const std::vector<Name> values = Names([&](const Name& name) { return name.is_value && name.type == type; });
  const std::string x = Any(values.empty() ? names : values).text, k = Fresh("k");
  std::string heads, row, element;
  for (size_t axis = 0; axis < type.dims.size(); ++axis) {
    const std::string at = Fresh("at"), comma = axis == 0 ? "" : ", ";
    heads += comma + at + " < " + type.dims[axis];
    row += comma + (axis + 1 == type.dims.size() ? k : at);
    element += comma + at;
  }
  row = x + "[" + row + "]";
  element = x + "[" + element + "]";
  const std::string reduced = Any(kReducers) + "[" + k + (Below(2) == 0 ? "" : " < " + type.dims.back()) + "](" +
                              (OneIn(3) ? row + " * " : std::string()) + row + ")";
  return "([" + heads + "] => " + element + Any(kOperators) + reduced + ")";
}

// ---- as the library moves them ----

// Two extents whose sum is `dim`, where that is a number.
std::pair<std::string, std::string> Writer::Parts(const std::string& dim) {
  const auto whole = static_cast<uint32_t>(std::stoi(dim));
  const uint32_t first = Below(whole + 1);
  return {std::to_string(first), std::to_string(whole - first)};
}

static Type WithDim(Type type, size_t axis, const std::string& dim) {
  type.dims[axis] = dim;
  return type;
}

std::string Writer::Joining(const Type& type, int depth) {
  const size_t axis = type.dims.size() > 1 && IsWritten(type.dims[1]) && (!IsWritten(type.dims[0]) || Below(2) == 0) ? 1 : 0;
  if (!IsWritten(type.dims[axis])) return "";
  const auto& [first, second] = Parts(type.dims[axis]);
  const uint32_t kind = Below(4);
  if (axis == 0 && kind == 2)
    return "tensor.pad(" + Expression(WithDim(type, 0, first), depth) + ", 0, " + second + ", " + Expression(Scalar(type.dtype), 0) + ")";
  if (axis == 0 && kind == 3)
    return "tensor.pad(" + Expression(WithDim(type, 0, first), depth) + ", " + second + ", 0, " + Expression(Scalar(type.dtype), 0) + ")";
  const std::string left = Expression(WithDim(type, axis, first), depth);
  return std::string(axis == 0 ? "tensor.concat(" : "tensor.concat_columns(") + left + ", " +
         Expression(WithDim(type, axis, second), depth) + ")";
}

std::string Writer::Product(const Type& type, int depth) {
  if (!HasArithmetic(type.dtype) || type.dims.size() != 2) return "";
  if (Below(2) == 0)
    return "tensor.outer(" + Expression(Tensor(type.dtype, {type.dims[0]}), depth) + ", " +
           Expression(Tensor(type.dtype, {type.dims[1]}), depth) + ")";
  const std::string inner = Dim(), left = Expression(Tensor(type.dtype, {type.dims[0], inner}), depth);
  return "tensor.matmul(" + left + ", " + Expression(Tensor(type.dtype, {inner, type.dims[1]}), depth) + ")";
}

std::string Writer::GatheredRows(const Type& type, int depth) {
  const std::string from = Dim();
  if (from == "0") return "";
  const bool is_along = type.dims.size() == 2 && Below(2) == 1;
  std::vector<Name> indices;
  std::string heads;
  for (size_t axis = 0; axis < (is_along ? 2 : 1); ++axis) {
    indices.push_back({Fresh("at"), Scalar(DType::kI64), type.dims[axis]});
    heads += (axis == 0 ? "" : ", ") + indices.back().text + " < " + type.dims[axis];
  }
  const std::string at = "([" + heads + "] => abs(" + Inside(indices, true, Scalar(DType::kI64), 1) + ") % " + from + ")";
  if (is_along) return "tensor.take_along(" + Expression(WithDim(type, 1, from), depth) + ", " + at + ")";
  return "tensor.gather(" + Expression(WithDim(type, 0, from), depth) + ", " + at + ")";
}

std::string Writer::Moved(const Type& type, int depth) {
  const uint32_t kind = Below(7);
  if (kind == 1) {
    const std::string by = Whole();
    return "tensor.roll(" + Expression(type, depth) + ", " + (by.empty() ? "1" : by) + ")";
  }
  if (kind == 2 && type.dims.size() == 2)
    return "tensor.transpose(" + Expression(Tensor(type.dtype, {type.dims[1], type.dims[0]}), depth) + ")";
  if (kind == 3) return Joining(type, depth);
  if (kind == 4) return Product(type, depth);
  if (kind == 5) return GatheredRows(type, depth);
  if (kind == 6 && IsWritten(type.dims[0]) && std::stoi(type.dims[0]) % 2 == 0) {
    const std::string half = std::to_string(std::stoi(type.dims[0]) / 2);
    return std::string(Below(2) == 0 ? "tensor.tile(" : "tensor.repeat(") + Expression(WithDim(type, 0, half), depth) + ", 2)";
  }
  return "tensor.flip(" + Expression(type, depth) + ")";
}

// ---- by natives ----

std::string Writer::Largest(const Type& type, int depth) {
  static const std::vector<DType> kTypes = {DType::kI64, DType::kF32, DType::kF16, DType::kU8};  // the oracle knows them by their size
  may_fail_ = true;
  const DType dtype = Any(kTypes);
  const std::string last = Dim();
  if (IsScalar(type)) return "tensor.argmax(" + Expression(Tensor(dtype, {last}), depth) + ")";
  return "tensor.argmax_rows(" + Expression(Tensor(dtype, {type.dims[0], last}), depth) + ")";
}

std::string Writer::Sorted(const Type& type, int depth) {
  may_fail_ = true;
  const bool adds = HasArithmetic(type.dtype) && Below(2) == 1;
  return std::string(adds ? "tensor.cumsum(" : "tensor.sort(") + Expression(type, depth) + ")";
}

}  // namespace wf::diff
