// Productions of tensors and lists, and loops over them.

#include <algorithm>
#include <cctype>

#include "tests/diff/writer.h"

namespace wf::diff {

DType Writer::ArithmeticType() {
  static const std::vector<DType> kTypes = {DType::kI64, DType::kF32, DType::kF32, DType::kF64, DType::kI32, DType::kU32, DType::kU64};
  return Any(kTypes);
}

Type Writer::ElementType(bool storage_too) {
  static const std::vector<DType> kTypes = {DType::kF32, DType::kI64, DType::kF64, DType::kBool, DType::kI32, DType::kU32, DType::kU64,
                                            DType::kI64, DType::kU8,  DType::kI8,  DType::kI16,  DType::kU16, DType::kF16, DType::kBf16};
  return Scalar(kTypes[Below(storage_too ? 14 : 8)]);
}

std::string Writer::Dim() {
  static const std::vector<std::string> kPlain = {"3", "1", "2", "4", "0", "17"};
  const uint32_t which = Below(static_cast<uint32_t>(dims_.size()) * 3 + 2);
  return which < dims_.size() * 3 ? dims_[which % dims_.size()] : Any(kPlain);
}

// Of rows, pictures, channels: what is unrolled, or merged with the axis before it.
std::string Writer::ShortDim() { return std::to_string(1 + Below(8)); }

std::vector<std::string> Writer::SomeDims(uint32_t most) {
  std::vector<std::string> dims;
  for (uint32_t i = 0, rank = 1 + Below(most); i < rank; ++i) dims.push_back(Dim());
  if (OneIn(4)) dims.push_back(ShortDim());
  return dims;
}

Type Writer::SmallType(int depth) {
  const uint32_t kind = Below(depth > 0 ? 10 : 6);
  if (kind < 3) return ElementType(true);
  if (kind < 5) return OneIn(6) ? Bytes() : String();
  if (kind == 5) return Scalar(DType::kBool);
  if (kind == 6 && !records_.empty()) return Any(records_);
  if (kind == 7) return Optional(SmallType(0));
  if (kind == 8) {  // a dimension of the elements of a list is no symbol: they may differ in it
    const std::vector<std::string> symbols = std::exchange(dims_, {});
    Type element = SmallType(depth - 1);
    dims_ = symbols;
    return List(std::move(element));
  }
  Type tensor = Tensor(ElementType(true).dtype, SomeDims(2));
  if (OneIn(3)) tensor.dims[Below(static_cast<uint32_t>(tensor.dims.size()))] = "_";
  return tensor;
}

// Extents that nothing proves different, which would be refused: equal ones, two symbols, or a number and what has a symbol.
static bool MayBeEqual(const std::string& a, const std::string& b) {
  const auto all = [](const std::string& text, auto is) {
    return std::all_of(text.begin(), text.end(), [is](char c) { return is(static_cast<unsigned char>(c)) != 0; });
  };
  const bool a_number = all(a, isdigit), b_number = all(b, isdigit);
  return a == b || a_number != b_number || (!a_number && all(a, isalnum) && all(b, isalnum));
}

// ---- tensors ----

std::string Writer::Comprehension(const Type& type, int depth) {
  std::vector<Name> indices;
  std::string heads;
  for (const std::string& dim : type.dims) {
    indices.push_back({Fresh("at"), Scalar(DType::kI64), dim});
    heads += (indices.size() == 1 ? "" : ", ") + indices.back().text + " < " + dim;
  }
  is_index_alone_ = IsNumber(type.dtype) && OneIn(5);
  return "([" + heads + "] => " + Inside(indices, true, Scalar(type.dtype), depth) + ")";
}

std::string Writer::Elementwise(const Type& type, int depth) {
  static const std::vector<std::string> kOperators = {" + ", " - ", " * "};
  static const std::vector<std::string> kReal = {"abs", "sqrt", "exp", "tanh", "floor"};
  const uint32_t kind = Below(7);
  if (kind == 6 && type.dims.size() > 1) return Outer(type, depth);
  if (kind >= 5) return (ir::IsFloat(type.dtype) ? Any(kReal) : std::string("abs")) + "(" + Expression(type, depth) + ")";
  if (kind == 4) return (Below(2) == 0 ? "min(" : "max(") + Expression(type, depth) + ", " + Expression(type, depth - 1) + ")";
  Type other = type;  // broadcast: an axis of 1, or leading axes absent
  if (kind == 1) other = Tensor(type.dtype, {type.dims.begin() + 1, type.dims.end()});
  if (kind == 2) other.dims[Below(static_cast<uint32_t>(type.dims.size()))] = "1";
  const std::string left = Expression(type, depth), op = Any(kOperators), right = Expression(other, depth);
  return Below(2) == 0 ? "(" + left + op + right + ")" : "(" + right + op + left + ")";
}

// Either has an axis of 1 where the other is as long as the whole.
std::string Writer::Outer(const Type& type, int depth) {
  static const std::vector<std::string> kOperators = {" + ", " - ", " * "};
  const uint32_t rank = static_cast<uint32_t>(type.dims.size()), axis = Below(rank);
  Type left = type, right = type;
  left.dims[axis] = "1";
  right.dims[(axis + 1 + Below(rank - 1)) % rank] = "1";
  const std::string first = Expression(left, depth), op = Any(kOperators);
  return "(" + first + op + Expression(right, depth) + ")";
}

std::string Writer::Compared(const Type& type, int depth) {
  static const std::vector<std::string> kOrders = {" < ", " <= ", " == ", " != "};
  const Type of = Tensor(ArithmeticType(), type.dims);
  const std::string left = Expression(of, depth), op = Any(kOrders);
  return "(" + left + op + Expression(of, depth) + ")";
}

std::string Writer::Row(const Type& type, int depth) {
  const std::vector<Name> names = Names([&](const Name& name) {
    return IsTensor(name.type) && name.type.dtype == type.dtype && name.type.dims.size() == type.dims.size() + 1 &&
           std::equal(type.dims.begin(), type.dims.end(), name.type.dims.begin() + 1);
  });
  if (names.empty()) return "";
  const Name& tensor = Any(names);
  const std::string index = Index(tensor.type.dims[0], depth, !HidesExtents(tensor));
  return index.empty() ? "" : tensor.text + "[" + index + "]";
}

// A part of the wanted extents; it may lie outside, which fails when it runs.
std::string Writer::Slice(const Type& type, int) {
  const std::vector<Name> names = Names([&](const Name& name) {
    return !HidesExtents(name) && IsTensor(name.type) && name.type.dtype == type.dtype && name.type.dims.size() == type.dims.size();
  });
  if (names.empty()) return "";
  const Name& tensor = Any(names);
  std::string text = tensor.text + "[";
  for (size_t i = 0; i < type.dims.size(); ++i) {
    const std::string &has = tensor.type.dims[i], &wants = type.dims[i];
    const bool is_known = std::isdigit(static_cast<unsigned char>(has[0])) && std::isdigit(static_cast<unsigned char>(wants[0]));
    if (is_known && std::stoi(wants) > std::stoi(has)) return "";
    const std::string from = is_known || has == "0" || Below(2) == 0 ? "0" : "1";
    text += (i == 0 ? "" : ", ") + (has == wants ? ":" : from + ":" + (from == "0" ? wants : wants + " + 1"));
  }
  return text + "]";
}

std::string Writer::Reshape(const Type& type, int depth) {
  Type from = type;
  if (Below(2) == 0 && type.dims.size() > 1) {
    std::swap(from.dims.front(), from.dims.back());
  } else if (type.dims.size() < 3) {
    from.dims.insert(from.dims.begin() + Below(static_cast<uint32_t>(type.dims.size() + 1)), "1");
  }
  std::string text = "tensor.reshape(" + Expression(from, depth);
  for (const std::string& dim : type.dims) text += ", " + dim;
  return text + ")";
}

std::string Writer::Stack(const Type& type, int depth) {
  const Type list = List(Tensor(type.dtype, {type.dims.begin() + 1, type.dims.end()}));
  const std::string items = Below(2) == 0 ? Variable(list, 0) : Filtered(list, depth);  // not a written one: its length is known
  return items.empty() ? "" : "tensor.stack(" + items + ")";
}

// Open where the wanted type is not: it fails when it runs, unless that is as long.
std::string Writer::Checked(const Type& type, int) {
  const std::vector<Name> names = Names([&](const Name& name) {
    return !name.is_value && IsOpen(name.type) && IsTensor(name.type) && name.type.dtype == type.dtype &&
           std::equal(type.dims.begin(), type.dims.end(), name.type.dims.begin(), name.type.dims.end(),
                      [](const std::string& wants, const std::string& has) { return has == "_" || has == wants; });
  });
  return names.empty() ? "" : Any(names).text;
}

std::string Writer::TopK(const Type& type, int depth) {
  may_fail_ = true;
  return "tensor.top_k(" + Expression(Tensor(type.dtype, {Dim()}), depth) + ", " + type.dims[0] + ").values";
}

std::string Writer::Softmax(const Type& type, int depth) {
  static const std::vector<std::string> kOfVectors = {"softmax", "sigmoid"};
  return "nn." + (type.dims.size() == 2 ? "softmax_rows" : Any(kOfVectors)) + "(" + Expression(type, depth) + ")";
}

// Behind the first axis, which is the library's `*s`, an axis may have another name in the last: it is compared when it runs.
std::string Writer::Chosen(const Type& type, int depth) {
  Type other = type;
  for (size_t axis = 1; axis < other.dims.size(); ++axis) {
    const std::string dim = Dim();
    if (!OneIn(3) || !MayBeEqual(dim, type.dims[axis])) continue;
    other.dims[axis] = dim;
    may_fail_ = true;
  }
  const std::string condition = Expression(Tensor(DType::kBool, type.dims), depth), chosen = Expression(type, depth);
  return "tensor.where(" + condition + ", " + chosen + ", " + Expression(other, depth) + ")";
}

// ---- lists ----

std::string Writer::ListItem(const Type& type, int) {
  if (in_tensor_block_ && !IsScalar(type)) return "";
  const std::vector<Name> lists = NamesOf(List(type));
  const std::string index = Index("", 0);
  return lists.empty() || index.empty() ? "" : Any(lists).text + "[" + index + "]";
}

std::string Writer::Listed(const Type& type, int depth) {
  std::string text = "[";
  for (uint32_t i = 0, count = 1 + Below(3); i < count; ++i) text += (i == 0 ? "" : ", ") + Expression(type.of[0], depth);
  return text + "]";
}

std::string Writer::OfTensor(const Type& type, int depth) {
  const Type& item = type.of[0];
  if (!IsScalar(item) && !IsTensor(item)) return "";
  std::vector<std::string> dims = {Dim()};
  dims.insert(dims.end(), item.dims.begin(), item.dims.end());
  return dims.size() > 3 ? "" : "list(" + Expression(Tensor(item.dtype, dims), depth) + ")";
}

Writer::Source Writer::Loop(int depth) {
  const auto is_source = [](const Name& name) { return name.type.kind == Kind::kList || IsTensor(name.type); };
  const std::vector<Name> sources = Names(is_source);
  if (sources.empty()) return {};
  const auto item = [](const Type& of) {
    return of.kind == Kind::kList ? of.of[0] : Tensor(of.dtype, {of.dims.begin() + 1, of.dims.end()});
  };
  const Name& first = Any(sources);
  const std::string x = Fresh("x");
  const uint32_t kind = Below(4);
  if (kind == 2) {
    const std::string i = Fresh("at");
    return {i + ", " + x, "enumerate(" + first.text + ")", {{i, Scalar(DType::kI64), ""}, {x, item(first.type), ""}}};
  }
  if (kind == 3 && !in_tensor_block_) {
    const Name& other = Any(sources);
    const bool are_tensors = IsTensor(first.type) && IsTensor(other.type);
    const Name& second =
        are_tensors && (HidesExtents(first) || HidesExtents(other) || !MayBeEqual(first.type.dims[0], other.type.dims[0])) ? first : other;
    const std::string y = Fresh("y");
    return {x + ", " + y, "zip(" + first.text + ", " + second.text + ")", {{x, item(first.type), ""}, {y, item(second.type), ""}}};
  }
  if (kind == 1 && depth > 0 && first.type.kind == Kind::kList && !IsOptional(first.type.of[0]))
    return {x, Expression(first.type, depth - 1), {{x, item(first.type), ""}}};
  return {x, first.text, {{x, item(first.type), ""}}};
}

std::string Writer::Filtered(const Type& type, int depth) {
  if (loops_ >= 2) return "";
  const Source source = Loop(depth);
  if (source.text.empty()) return "";
  std::string text = "[" + Inside(source.bound, false, type.of[0], depth) + " for " + source.names + " in " + source.text;
  if (Below(2) == 1) text += " if " + Inside(source.bound, false, Scalar(DType::kBool), depth);
  return text + "]";
}

std::string Writer::Fold(const Type& type, int depth) {
  if (loops_ >= 2) return "";
  const Source source = Loop(0);
  if (source.text.empty()) return "";
  const std::string acc = Fresh("acc");
  std::string init = Expression(type, depth - 1);
  // A literal there would take the type of the elements where none is wanted.
  if (IsScalar(type) && IsNumber(type.dtype)) init = std::string(ir::NameOf(type.dtype)) + "(" + init + ")";
  std::vector<Name> bound = source.bound;
  bound.push_back({acc, type, ""});
  const bool grows = type.kind == Kind::kString || type.kind == Kind::kList;  // what doubles in each step has no end
  return "(fold " + acc + " = " + init + " for " + source.names + " in " + source.text + " { " +
         Inside(bound, false, type, grows ? 0 : depth) + " })";
}

}  // namespace wf::diff
