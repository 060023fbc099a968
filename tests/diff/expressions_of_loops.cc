// Productions of whole loop nests that the lowering treats in ways of their own: exchanged axes, places that are read, channels, sums of
// products, reductions of reductions.

#include <algorithm>

#include "tests/diff/writer.h"

namespace wf::diff {
namespace {

bool IsEmpty(const Type& type) { return std::find(type.dims.begin(), type.dims.end(), "0") != type.dims.end(); }

// Arithmetic over constants of the file is done when it is compiled, and refused where it overflows.
bool IsOperand(const Name& name, DType dtype) {
  return IsTensor(name.type) && name.type.dtype == dtype && !name.is_declared && !IsOpen(name.type);
}

bool IsNumbers(const Name& name) { return IsTensor(name.type) && IsNumber(name.type.dtype) && !name.is_declared && !IsOpen(name.type); }

std::string Commas(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

}  // namespace

// The heads of a build of these extents, and its indices.
std::pair<std::string, std::vector<std::string>> Writer::Heads(const std::vector<std::string>& dims) {
  std::vector<std::string> heads, indices;
  for (const std::string& dim : dims) {
    indices.push_back(Fresh("at"));
    heads.push_back(indices.back() + " < " + dim);
  }
  return {Commas(heads), indices};
}

// What a loop reads: a name, or the tensor written where its elements are, so that it becomes part of the loop. Empty: there is neither.
std::string Writer::Operand(const Type& type, int depth) {
  const std::vector<Name> names = Names([&](const Name& name) { return name.type == type && !name.is_declared; });
  if (!names.empty() && !OneIn(4)) return Any(names).text;
  if (loops_ > 0) return names.empty() ? "" : Any(names).text;
  return Inside({}, true, type, depth > 0 ? 1 : 0);
}

// A tensor whose axes are those of `type` in another order, some of them backwards, and nothing else.
std::string Writer::Exchanged(const Type& type, int depth) {
  const size_t rank = type.dims.size();
  if (IsEmpty(type)) return "";
  std::vector<size_t> order(rank);
  for (size_t i = 0; i < rank; ++i) order[i] = i;
  if (rank > 1) std::rotate(order.begin(), order.begin() + 1 + Below(static_cast<uint32_t>(rank - 1)), order.begin() + rank);
  if (rank > 2 && Below(2) == 1) std::swap(order[0], order[1]);  // channels stay where they are
  Type from = type;
  for (size_t i = 0; i < rank; ++i) from.dims[i] = type.dims[order[i]];
  const std::string x = Operand(from, depth);
  if (x.empty()) return "";
  const auto [heads, indices] = Heads(type.dims);
  std::vector<std::string> places;
  for (size_t i = 0; i < rank; ++i) {
    const std::string& at = indices[order[i]];
    places.push_back(OneIn(5) ? from.dims[i] + " - 1 - " + at : at);
  }
  return "([" + heads + "] => " + x + "[" + Commas(places) + "])";
}

// Elements of one tensor at places that another of the result's shape holds: any number, so that it is forced inside. All may be of one
// shape, or one tensor: then a loop is tempted to go through them as through one row.
std::string Writer::Placed(const Type& type, int) {
  if (IsEmpty(type)) return "";
  const std::vector<Name> places =
      Names([&](const Name& name) { return IsTensor(name.type) && IsNumber(name.type.dtype) && name.type.dims == type.dims; });
  std::vector<Name> sources = NamesOf(type);
  const bool is_one_shape = !sources.empty() && Below(3) != 2;
  if (!is_one_shape)
    sources = Names([&](const Name& name) {
      return IsTensor(name.type) && name.type.dtype == type.dtype && name.type.dims.size() == type.dims.size() && !IsOpen(name.type) &&
             !IsEmpty(name.type);
    });
  if (sources.empty() || places.empty()) return "";
  const Name& source = Any(sources);
  const auto [heads, indices] = Heads(type.dims);
  std::vector<std::string> read;
  for (size_t i = 0; i < indices.size(); ++i) {
    const std::string& extent = source.type.dims[i];
    const std::string place = "i64(" + Any(places).text + "[" + Commas(indices) + "])";
    const bool is_own = extent == type.dims[i] && OneIn(is_one_shape ? 6 : 3);
    read.push_back(is_own ? indices[i] : "clamp(" + place + ", 0, " + extent + " - 1)");
  }
  const std::string one = source.text + "[" + Commas(read) + "]", name(ir::NameOf(type.dtype));
  const bool mixes = IsNumber(type.dtype) && Below(2) == 1;  // as floats, which any type holds in its own way
  return "([" + heads + "] => " + (mixes ? name + "(f32(" + one + ") * 0.5)" : one) + ")";
}

// A pixel made of the channels of another one: the last axis is short and written, and read at places that are written, too.
std::string Writer::Channels(const Type& type, int) {
  if (type.dims.size() < 2 || !IsWritten(type.dims.back()) || std::stoi(type.dims.back()) < 2) return "";
  const std::vector<Name> names = NamesOf(type);
  if (names.empty()) return "";
  static const std::vector<std::string> kWeights = {"0.5", "0.25", "0.299"};
  const int channels = std::stoi(type.dims.back());
  const auto [heads, indices] = Heads(type.dims);
  const std::string x = Any(names).text;
  const auto at = [&](const std::string& channel) {
    std::vector<std::string> places = indices;
    places.back() = channel;
    return x + "[" + Commas(places) + "]";
  };
  const std::string last = std::to_string(channels - 1), other = std::to_string(Below(static_cast<uint32_t>(channels)));
  const std::string mirrored = at(last + " - " + indices.back());
  if (Below(2) == 0) return "([" + heads + "] => " + mirrored + ")";
  if (!IsNumber(type.dtype)) return "([" + heads + "] => " + at(other) + " != " + at("0") + ")";
  return InOrder({"([", heads, "] => ", ir::NameOf(type.dtype), "(f32(", at(other), ") * ", Any(kWeights), " + f32(",
                  OneIn(2) ? mirrored : at("0"), ") * ", Any(kWeights), "))"});
}

// Of rows by rows or by columns, as a product of matrices, a distance or a scaled sum is: either may have the longer loads.
std::string Writer::Contraction(const Type& type, int depth) {
  if (type.dims.size() != 2) return "";
  std::vector<std::string> inners;  // of what is in scope, and another
  for (const Name& name : Names([&](const Name& one) { return IsOperand(one, type.dtype) && one.type.dims.size() == 2; }))
    if (name.type.dims[0] == type.dims[0]) inners.push_back(name.type.dims[1]);
  static const std::vector<std::string> kLong = {"17", "18", "20", "33"};  // shorter ones are written out
  const std::string inner = !inners.empty() && OneIn(3) ? Any(inners) : OneIn(2) ? Any(kLong) : Dim();
  const bool by_rows = Below(2) == 0;
  const std::string left = Operand(Tensor(type.dtype, {type.dims[0], inner}), depth);
  const std::string right =
      Operand(Tensor(type.dtype, by_rows ? std::vector{type.dims[1], inner} : std::vector{inner, type.dims[1]}), depth);
  if (left.empty() || right.empty()) return "";
  const auto [heads, indices] = Heads(type.dims);
  const std::string k = Fresh("k"), a = left + "[" + indices[0] + ", " + k + "]";
  const std::string b = right + "[" + (by_rows ? indices[1] + ", " + k : k + ", " + indices[1]) + "]";
  static const std::vector<std::string> kReducers = {"sum", "sum", "max", "min"};
  const uint32_t kind = Below(3);
  const std::string element = kind == 0 ? a + " * " + b : kind == 1 ? "(" + a + " - " + b + ") * (" + a + " - " + b + ")" : a + " + " + b;
  return "([" + heads + "] => " + Any(kReducers) + "[" + k + " < " + inner + "](" + element + "))";
}

// A tensor of floats whose sums are rounded, so that each order of them has bits of its own. No loop that reads an element more than once
// computes it each time: it is in memory before that loop.
std::string Writer::Roots(const Type& type) {
  const auto [heads, indices] = Heads(type.dims);
  static const std::vector<std::string> kFactors = {"7", "31", "3"};
  const std::string name(ir::NameOf(type.dtype));
  std::string place;
  for (const std::string& index : indices) place += InOrder({index, " * ", Any(kFactors), " + "});
  const std::vector<Name> scalars = NotDeclared(Scalar(type.dtype));
  return InOrder(
      {"([", heads, "] => ", name, "(sqrt(f64(", place, "2)) - 2.3)", scalars.empty() || !OneIn(3) ? "" : " * " + Any(scalars).text, ")"});
}

// An element of a tensor in memory as a float of the type: of a name, or of roots, which `lets` gets.
std::string Writer::InMemory(const Type& type, const std::string& at, std::string* lets) {
  const std::vector<Name> names = Names([&](const Name& name) { return IsNumbers(name) && name.type.dims == type.dims; });
  if (names.empty() || OneIn(3)) {
    const std::string name = Fresh("v");
    *lets += "let " + name + ": " + ToText(type) + " = " + Roots(type) + "; ";
    return name + "[" + at + "]";
  }
  const Name& name = Any(names);
  const std::string one = name.text + "[" + at + "]";
  return name.type.dtype == type.dtype ? one : std::string(ir::NameOf(type.dtype)) + "(" + one + ") * 0.3";
}

// A sum for each element, of what is read of two tensors in memory, each along its rows or its columns, and as many terms as fill some
// vectors and leave a rest. The lowering writes several rows and columns of it at once.
std::string Writer::Tiled(const Type& type, int) {
  static const std::vector<std::string> kInner = {"17", "18", "20", "33", "31", "32"}, kReducers = {"sum", "sum", "sum", "prod"};
  static const std::vector<std::string> kBehind = {"", "", " * 0.37", " + 1.25"};
  if (loops_ > 0 || IsEmpty(type)) return "";
  const size_t rank = type.dims.size();
  // Of the last axis but one, or of the only one; and of the last one.
  std::vector<std::string> left_dims(type.dims.begin(), type.dims.begin() + std::max<size_t>(rank - 1, 1)), right_dims;
  if (rank > 1) right_dims = {type.dims.back()};
  std::vector<std::string> inners;  // of what is in scope
  for (const Name& name : Names([&](const Name& one) { return IsNumbers(one) && one.type.dims.size() == left_dims.size() + 1; }))
    if (std::equal(left_dims.begin(), left_dims.end(), name.type.dims.begin())) inners.push_back(name.type.dims.back());
  const std::string inner = !inners.empty() && OneIn(2) ? Any(inners) : OneIn(6) ? Dim() : Any(kInner), k = Fresh("k");
  const auto [heads, indices] = Heads(type.dims);
  std::string lets;  // written there, roots would be computed for each element as long as no pass has moved them
  const auto operand = [&](std::vector<std::string> dims, std::vector<std::string> at) {
    const auto place = static_cast<std::ptrdiff_t>(dims.size()) - (!dims.empty() && OneIn(2) ? 1 : 0);
    dims.insert(dims.begin() + place, inner);
    at.insert(at.begin() + place, k);
    return "(" + InMemory(Tensor(type.dtype, dims), Commas(at), &lets) + ")";
  };
  const std::string a = operand(left_dims, {indices.begin(), indices.begin() + static_cast<std::ptrdiff_t>(left_dims.size())});
  const std::string b = operand(right_dims, {indices.end() - static_cast<std::ptrdiff_t>(right_dims.size()), indices.end()});
  const std::string product = a + " * " + b, distance = "(" + a + " - " + b + ")";
  const std::vector<std::string> terms = {product, product + " * 0.3", distance + " * " + distance, b + " * " + a + " + 0.7"};
  const std::string text = InOrder({"([", heads, "] => ", Any(kReducers), "[", k, " < ", inner, "](", Any(terms), ")", Any(kBehind), ")"});
  return lets.empty() ? text : "(if true { " + lets + text + " } else { " + Literal(type, 0) + " })";
}

// A reduction of what is reduced itself, each by a reducer of its own, over the axes of one tensor from the outside.
std::string Writer::Nested(const Type& type, int) {
  static const std::vector<std::string> kNumbers = {"sum", "max", "min"}, kBools = {"any", "all"};
  const std::vector<std::string>& reducers = IsNumber(type.dtype) ? kNumbers : kBools;
  const std::vector<Name> tensors = Names([&](const Name& name) { return IsOperand(name, type.dtype) && name.type.dims.size() >= 2; });
  if (tensors.empty() || loops_ > 0) return "";
  const Name& tensor = Any(tensors);
  std::vector<std::string> indices;
  std::string text, ends;
  for (const std::string& dim : tensor.type.dims) {
    indices.push_back(Fresh("k"));
    text += Any(reducers) + "[" + indices.back() + " < " + dim + "](";
    ends += ")";
  }
  return text + tensor.text + "[" + Commas(indices) + "]" + ends;
}

// What a choice turns on may take long itself, and is run apart from it then.
std::string Writer::LongTest(const Type&, int) {
  static const std::vector<std::string> kOrders = {" < ", " > ", " == ", " != "}, kNumbers = {"0", "1", "2", "100"};
  if (loops_ > 0) return "";
  const Type of = Scalar(ArithmeticType());
  const std::string reduced = OneIn(2) ? Nested(of, 0) : Reduction(of, 1);
  return reduced.empty() ? "" : InOrder({"(", reduced, Any(kOrders), ir::NameOf(of.dtype), "(", Any(kNumbers), "))"});
}

}  // namespace wf::diff
