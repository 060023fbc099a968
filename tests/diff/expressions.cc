// Productions: how an expression of a wanted type may be written.

#include <algorithm>
#include <cctype>

#include "tests/diff/writer.h"

namespace wf::diff {
namespace {

constexpr int kMostLoops = 3;  // inside each other

bool Always(const Type&) { return true; }
bool Number(const Type& type) { return IsScalar(type) && HasArithmetic(type.dtype); }
bool AnyScalar(const Type& type) { return IsScalar(type); }
bool AnyNumber(const Type& type) { return IsScalar(type) && IsNumber(type.dtype); }
bool I64(const Type& type) { return IsScalar(type) && type.dtype == DType::kI64; }
bool Bool(const Type& type) { return IsBool(type); }
bool ReducedScalar(const Type& type) { return Bool(type) || Number(type); }
bool Text(const Type& type) { return type.kind == Kind::kString; }
bool AnyBytes(const Type& type) { return type.kind == Kind::kBytes; }
bool AnyTensor(const Type& type) { return IsTensor(type); }
bool NumberTensor(const Type& type) { return IsTensor(type) && HasArithmetic(type.dtype); }
bool RealTensor(const Type& type) { return NumberTensor(type) && ir::IsFloat(type.dtype); }
bool BoolTensor(const Type& type) { return IsTensor(type) && type.dtype == DType::kBool; }
bool F32Tensor(const Type& type) { return IsTensor(type) && type.dtype == DType::kF32 && type.dims.size() <= 2; }
bool NumberVector(const Type& type) { return IsTensor(type) && type.dims.size() == 1 && IsNumber(type.dtype); }
bool I64OrVector(const Type& type) { return I64(type) || (NumberVector(type) && type.dtype == DType::kI64); }
bool Lists(const Type& type) { return type.kind == Kind::kList; }
bool Records(const Type& type) { return type.kind == Kind::kRecord || type.kind == Kind::kTuple; }
// `==` takes it.
bool IsComparable(const Type& type) {
  if (IsTensor(type) || type.kind == Kind::kMap) return false;
  return std::all_of(type.of.begin(), type.of.end(), IsComparable);
}
// What is written where no type is wanted has this one.
bool SpeaksForItself(const Type& type) {
  return !IsOptional(type) && !IsOpen(type) && (type.kind == Kind::kRecord || std::all_of(type.of.begin(), type.of.end(), SpeaksForItself));
}

}  // namespace

struct Writer::Production {
  bool (*makes)(const Type&);
  uint32_t weight;
  std::string (Writer::*write)(const Type&, int depth);  // empty: nothing in scope serves
  bool is_leaf = false, in_tensor_blocks = true, only_coerced = false;
};

const std::vector<Writer::Production>& Writer::Table() {
  static const std::vector<Production> table = {
      {Always, 16, &Writer::Variable, true},
      {AnyScalar, 2, &Writer::Literal, true},
      {Text, 2, &Writer::Literal, true},
      {AnyBytes, 2, &Writer::Literal, true, false},
      {Number, 10, &Writer::Arithmetic},
      {Number, 4, &Writer::Division},
      {Number, 3, &Writer::OneArgument},
      {Number, 3, &Writer::TwoArguments},
      {Always, 4, &Writer::Choice},
      {Always, 3, &Writer::Match},
      {Always, 4, &Writer::ListItem, true},
      {AnyScalar, 2, &Writer::Meta, true, false},
      {Text, 2, &Writer::Meta, true, false},
      {AnyNumber, 3, &Writer::Conversion},
      {AnyScalar, 12, &Writer::Element},
      {AnyScalar, 6, &Writer::Reduction},
      {ReducedScalar, 3, &Writer::Nested},
      {Bool, 3, &Writer::LongTest},
      {AnyNumber, 4, &Writer::IndexArithmetic, true},
      {Bool, 6, &Writer::IndexTest, true},
      {AnyScalar, 3, &Writer::ByIndex, true},
      {AnyScalar, 6, &Writer::Gathered},
      {AnyScalar, 3, &Writer::Guarded},
      {I64, 3, &Writer::Length, true},
      {Always, 4, &Writer::FieldOf, true},
      {SpeaksForItself, 4, &Writer::Fold, false, false},
      {Always, 6, &Writer::Call},
      {Always, 4, &Writer::OrElse, false, false},
      {Number, 1, &Writer::Clamp},
      {Bool, 8, &Writer::Comparison},
      {Bool, 4, &Writer::Logic},
      {Bool, 3, &Writer::Same, false, false},
      {Text, 8, &Writer::Interpolation, true, false},
      {Text, 3, &Writer::Joined, false, false},
      {Text, 2, &Writer::OfBytes, true, false},
      {Text, 1, &Writer::BuiltJson, true, false},
      {Always, 2, &Writer::ParsedJson, true, false, true},
      {AnyTensor, 10, &Writer::Comprehension, true},
      {NumberTensor, 8, &Writer::Elementwise},
      {NumberTensor, 5, &Writer::Centred, true},
      {AnyTensor, 5, &Writer::Moved},
      {AnyTensor, 9, &Writer::Exchanged, true},
      {AnyTensor, 4, &Writer::Placed, true},
      {AnyTensor, 3, &Writer::Channels, true},
      {NumberTensor, 9, &Writer::Contraction, true},
      {RealTensor, 12, &Writer::Tiled, true},
      {NumberVector, 2, &Writer::Sorted, false, false},
      {I64OrVector, 2, &Writer::Largest, false, false},
      {BoolTensor, 6, &Writer::Compared},
      {AnyTensor, 3, &Writer::Row},
      {AnyTensor, 6, &Writer::Slice},
      {AnyTensor, 3, &Writer::Reshape},
      {AnyTensor, 3, &Writer::Stack, false, false, true},
      {AnyTensor, 3, &Writer::Checked, true, false, true},
      {NumberVector, 2, &Writer::TopK, false, false, true},
      {F32Tensor, 2, &Writer::Softmax},
      {AnyTensor, 2, &Writer::Chosen, false, false, true},
      {Lists, 4, &Writer::Listed, true},
      {Lists, 8, &Writer::Filtered, false, false},
      {Lists, 4, &Writer::OfTensor, false, false},
      {Lists, 2, &Writer::SideOfMap, true, false},
      {IsOptional, 5, &Writer::LookUp, true, false},
      {Records, 4, &Writer::Built, true},
      {IsOptional, 3, &Writer::Built, true},
      {Always, 1, &Writer::Failing, false, false},
  };
  return table;
}

std::string Writer::Expression(const Type& type, int depth) {
  if (IsTensor(type) && IsOpen(type)) return Opened(type, depth);
  const bool is_coerced = std::exchange(is_coerced_, false);
  if (std::exchange(is_index_alone_, false)) return IndexAlone(type);
  std::vector<const Production*> fitting;
  uint32_t total = 0;
  for (const Production& one : Table()) {
    if (!one.makes(type) || (depth <= 0 && !one.is_leaf) || (in_tensor_block_ && !one.in_tensor_blocks) ||
        (one.only_coerced && !is_coerced))
      continue;
    fitting.push_back(&one);
    total += one.weight;
  }
  for (int attempt = 0; attempt < 4; ++attempt) {
    uint32_t at = Below(total);
    const Production* chosen = nullptr;
    for (const Production* one : fitting) {
      chosen = one;
      if (at < one->weight) break;
      at -= one->weight;
    }
    is_whole_ = is_coerced;
    if (std::string text = (this->*chosen->write)(type, depth - 1); !text.empty()) return text;
  }
  return Literal(type, 0);
}

// What is open itself, or a tensor of extents that are chosen here: arms of a choice have the same.
std::string Writer::Opened(const Type& type, int depth) {
  if (std::string text = OneIn(2) ? Variable(type, 0) : OneIn(2) ? ListItem(type, 0) : FieldOf(type, 0); !text.empty()) return text;
  Type closed = type;
  for (std::string& dim : closed.dims)
    if (dim == "_") dim = Dim();
  return Expression(closed, depth);
}

std::string Writer::Coerced(const Type& type, int depth) {
  is_coerced_ = true;
  return Expression(type, depth);
}

std::string Writer::Inside(std::vector<Name> names, bool is_tensor_block, const Type& type, int depth) {
  const bool was_in_tensor_block = std::exchange(in_tensor_block_, in_tensor_block_ || is_tensor_block);
  const size_t known = scope_.size();
  scope_.insert(scope_.end(), names.begin(), names.end());
  ++loops_;
  std::string text = Expression(type, loops_ > kMostLoops ? 0 : depth);
  --loops_;
  scope_.resize(known);
  in_tensor_block_ = was_in_tensor_block;
  return text;
}

// ---- leaves ----

std::string Writer::Variable(const Type& type, int) {
  const std::vector<Name> names = NamesOf(type);
  return names.empty() ? "" : Any(names).text;
}

std::string Writer::Literal(const Type& type, int) {
  switch (type.kind) {
    case Kind::kScalar: {
      static const std::vector<std::string> kWhole = {"1", "0", "2", "3", "5", "7", "100"};
      static const std::vector<std::string> kReal = {"1.0", "0.0", "0.5", "2.5", "3.25", "100.0", "0.1", "1e-6"};
      if (type.dtype == DType::kBool) return Below(2) == 0 ? "true" : "false";
      const std::string text = Any(ir::IsFloat(type.dtype) ? kReal : kWhole);
      return type.dtype == DType::kI64 || type.dtype == DType::kF32 ? text : std::string(ir::NameOf(type.dtype)) + "(" + text + ")";
    }
    case Kind::kString: {
      static const std::vector<std::string> kTexts = {"\"a\"", "\"\"", "\"b{{}}\"", "\"\\n\\\"\"", "\"\\u{1F600}\"", "r\"\\x\""};
      return Any(kTexts);
    }
    case Kind::kBytes: {  // read from a file: there is no other way to write them
      const Blob& blob = Any(Blobs());
      shared_.push_back(blob.Declaration());
      return blob.name;
    }
    case Kind::kTensor:
      return Comprehension(type, 0);
    case Kind::kRecord:
    case Kind::kTuple:
    case Kind::kOptional:
      return Built(type, 0);
    case Kind::kList:
      return Listed(type, 0);
    case Kind::kMap:
      return Variable(type, 0);
  }
  return {};
}

std::string Writer::Length(const Type&, int) {
  const std::vector<Name> names = Names([](const Name& name) {
    return name.type.kind == Kind::kList || name.type.kind == Kind::kString || AnyBytes(name.type) || IsTensor(name.type);
  });
  const size_t which = Below(static_cast<uint32_t>(names.size() + dims_.size() + 1));
  if (which < names.size()) return "len(" + names[which].text + ")";
  return which - names.size() < dims_.size() ? dims_[which - names.size()] : "";
}

std::string Writer::FieldOf(const Type& type, int) {
  std::vector<std::string> found;
  for (const Name& name : scope_) {
    if (name.type.kind != Kind::kRecord && name.type.kind != Kind::kTuple) continue;
    for (size_t i = 0; i < name.type.of.size(); ++i)
      if (name.type.of[i] == type) found.push_back(name.text + "." + name.type.names[i]);
  }
  return found.empty() ? "" : Any(found);
}

// ---- numbers ----

std::string Writer::Arithmetic(const Type& type, int depth) {
  static const std::vector<std::string> kOperators = {" + ", " - ", " * "};
  std::string text = Element(type, 0);  // something that is not constant, else the whole may overflow when it is compiled
  if (text.empty()) {
    const std::vector<Name> names = NotDeclared(type);
    if (names.empty()) return "";
    text = Any(names).text;
  }
  const std::string& op = Any(kOperators);
  return Below(2) == 0 ? "(" + text + op + Expression(type, depth) + ")" : "(" + Expression(type, depth) + op + text + ")";
}

std::string Writer::Division(const Type& type, int depth) {
  const std::vector<Name> names = Unknown(type);
  const std::string divisor = !names.empty() && Below(2) == 0 ? Any(names).text : Element(type, 0);
  if (divisor.empty()) return "";
  return InOrder({"(", Expression(type, depth), Below(2) == 0 ? " / " : " % ", divisor, ")"});
}

std::string Writer::OneArgument(const Type& type, int depth) {
  static const std::vector<std::string> kWhole = {"abs", "-"};
  static const std::vector<std::string> kReal = {"abs", "-",   "floor", "ceil", "round", "trunc", "sqrt",
                                                 "exp", "log", "tanh",  "erf",  "sin",   "cos"};
  const std::string& name = Any(ir::IsFloat(type.dtype) ? kReal : kWhole);
  if (name == "-" && (type.dtype == DType::kU32 || type.dtype == DType::kU64)) {  // of a constant it overflows when it is compiled
    const std::vector<Name> names = Unknown(type);
    return names.empty() ? "" : "(-" + Any(names).text + ")";
  }
  const std::string argument = Expression(type, depth);
  return name == "-" ? "(-" + argument + ")" : name + "(" + argument + ")";
}

std::string Writer::TwoArguments(const Type& type, int depth) {
  static const std::vector<std::string> kWhole = {"min", "max"}, kReal = {"min", "max", "pow"};
  const std::string& name = Any(ir::IsFloat(type.dtype) ? kReal : kWhole);
  const std::string first = Expression(type, depth);
  return name + "(" + first + ", " + Expression(type, depth) + ")";
}

std::string Writer::Clamp(const Type& type, int depth) {
  const std::string x = Expression(type, depth), low = Expression(type, 0);
  return "clamp(" + x + ", " + low + ", " + Expression(type, 0) + ")";
}

std::string Writer::Conversion(const Type& type, int depth) {
  const Type from = ElementType(true);
  if (from.dtype == DType::kBool) return "";
  std::string argument = Expression(from, depth);
  const bool is_literal = argument.find_first_not_of("(-0123456789)") == std::string::npos;
  if (is_literal && argument.find('-') != std::string::npos) argument = "i64(" + argument + ")";  // else it has to fit
  return std::string(ir::NameOf(type.dtype)) + "(" + argument + ")";
}

std::string Writer::Index(const std::string& dim, int depth, bool may_be_constant) {
  std::vector<std::string> own;
  for (const Name& name : scope_)
    if (name.extent == dim && name.extent != "") own.push_back(name.text);
  const uint32_t kind = Below(8);
  const auto is_number = [](const std::string& extent) {
    return !extent.empty() && std::isdigit(static_cast<unsigned char>(extent[0])) != 0;
  };
  std::vector<Name> whole = Unknown(Scalar(DType::kI64));
  if (is_number(dim)) std::erase_if(whole, [&](const Name& name) { return is_number(name.extent); });
  if (!own.empty() && kind < 6) {  // beyond an extent that is a number, it certainly leads outside, which is a mistake
    const std::string step = !is_number(dim) ? " + 1" : whole.empty() ? "" : " + abs(" + Any(whole).text + " % 2)";
    return Any(own) + (kind == 5 ? step : "");
  }
  if (whole.empty() || kind == 0) return dim != "0" && may_be_constant ? "0" : "";
  if (kind == 7 && depth > 0) return InOrder({"abs(", Any(whole).text, " - ", Expression(Scalar(DType::kI64), depth - 1), ")"});
  return Any(whole).text + (kind % 2 == 0 ? "" : " % 3");
}

std::string Writer::Element(const Type& type, int depth) {
  const std::vector<Name> tensors = Tensors(type.dtype);
  if (tensors.empty()) return "";
  const Name& tensor = Any(tensors);
  std::string text = tensor.text + "[";
  for (size_t i = 0; i < tensor.type.dims.size(); ++i) {
    const std::string index = Index(tensor.type.dims[i], depth, !HidesExtents(tensor));
    if (index.empty()) return "";
    text += (i == 0 ? "" : ", ") + index;
  }
  return text + "]";
}

std::string Writer::Reduction(const Type& type, int depth) {
  static const std::vector<std::string> kNumbers = {"sum", "max", "min", "prod"}, kBools = {"any", "all"};
  if ((IsNumber(type.dtype) && !HasArithmetic(type.dtype)) || loops_ >= kMostLoops) return "";
  const std::string& name = Any(IsNumber(type.dtype) ? kNumbers : kBools);
  std::vector<Name> indices;
  std::string heads;
  for (uint32_t i = 0, count = 1 + (Below(4) == 3 ? 1 : 0); i < count; ++i) {
    const std::string dim = Dim();
    indices.push_back({Fresh("k"), Scalar(DType::kI64), dim});
    heads += (i == 0 ? "" : ", ") + indices.back().text + " < " + dim;
  }
  return name + "[" + heads + "](" + Inside(indices, true, type, depth) + ")";
}

// ---- bools, text, maps ----

std::vector<std::string> Writer::LookUps(const Type& element) {
  std::vector<std::string> found;
  if (in_tensor_block_) return found;
  for (const Name& map : NamesOf(Map(element))) {
    const std::vector<Name> keys = NamesOf(String());
    found.push_back(map.text + "[" + (keys.empty() || Below(3) < 2 ? "\"" + Any(MapKeys()) + "\"" : Any(keys).text) + "]");
  }
  return found;
}

std::string Writer::LookUp(const Type& type, int) {
  const std::vector<std::string> found = LookUps(type.of[0]);
  return found.empty() ? "" : Any(found);
}

std::string Writer::SideOfMap(const Type& type, int) {
  std::vector<std::string> found;
  for (const Name& map : Names([](const Name& name) { return name.type.kind == Kind::kMap; })) {
    if (type.of[0] == String()) found.push_back("keys(" + map.text + ")");
    if (type.of[0] == map.type.of[0]) found.push_back("maps.values(" + map.text + ")");
  }
  return found.empty() ? "" : Any(found);
}

std::string Writer::Meta(const Type& type, int) {
  if (!has_metadata_ || loops_ > 0) return "";
  const std::string& key = Any(MetaKeys());
  return "meta(\"" + key + "\", " + Literal(type, 0) + ")";
}

std::string Writer::Comparison(const Type&, int depth) {
  static const std::vector<std::string> kOrders = {" < ", " <= ", " > ", " >= ", " == ", " != "};
  const Type of = Scalar(ArithmeticType());
  const std::string left = Expression(of, depth), op = Any(kOrders);
  return "(" + left + op + Expression(of, depth) + ")";
}

std::string Writer::Logic(const Type& type, int depth) {
  const uint32_t kind = Below(3);
  if (kind == 2) return "(!" + Expression(type, depth) + ")";
  const std::string left = Expression(type, depth);
  return "(" + left + (kind == 0 ? " && " : " || ") + Expression(type, depth) + ")";
}

std::string Writer::Same(const Type&, int) {
  const std::vector<Name> names = Names([](const Name& name) { return !IsScalar(name.type) && IsComparable(name.type); });
  if (names.empty()) return "";
  const Name& left = Any(names);
  return InOrder({"(", left.text, Below(2) == 0 ? " == " : " != ", Any(NamesOf(left.type)).text, ")"});
}

std::string Writer::Interpolation(const Type&, int) {
  const auto has_text = [](const Type& type) { return IsScalar(type) || type.kind == Kind::kString; };
  std::vector<std::string> holes;
  for (const Name& name : scope_) {
    const Type& type = name.type;
    if (has_text(type)) holes.push_back(name.text);
    if (type.kind == Kind::kList && has_text(type.of[0])) holes.push_back(name.text + "[" + std::to_string(Below(2)) + "]");
    if (type.kind != Kind::kRecord && type.kind != Kind::kTuple) continue;
    for (size_t i = 0; i < type.of.size(); ++i)
      if (has_text(type.of[i])) holes.push_back(name.text + "." + type.names[i]);
  }
  if (holes.empty()) return "";
  std::string text = "\"";
  for (uint32_t i = 0, count = 1 + Below(3); i < count; ++i) text += (i == 0 ? "{" : " {") + Any(holes) + "}";
  return text + "\"";
}

std::string Writer::Joined(const Type& type, int depth) {
  if (Below(3) == 2) return "str(" + Expression(Scalar(ArithmeticType()), depth) + ")";
  if (loops_ > 0) return "";  // a text that doubles in a loop has no end
  const std::string left = Expression(type, depth);
  return "(" + left + " + " + Expression(type, depth) + ")";
}

// Fails where they are no text.
std::string Writer::OfBytes(const Type&, int) {
  const std::vector<Name> names = NamesOf(Bytes());
  if (names.empty()) return "";
  may_fail_ = true;
  return "str(" + Any(names).text + ")";
}

std::string Writer::BuiltJson(const Type&, int) {
  if (scope_.empty()) return "";
  may_fail_ = true;
  return "json.build(" + Any(scope_).text + ")";
}

// ---- anything ----

// The same value once more, unless a number in it has no text.
std::string Writer::ParsedJson(const Type& type, int) {
  const std::vector<Name> names = NamesOf(type);
  if (names.empty()) return "";
  may_fail_ = true;
  return "json.parse(json.build(" + Any(names).text + "))";
}

Writer::Callee Writer::Fit(const Function& function, const Type& result, const Type& type) const {
  Callee callee{&function, {}};
  Solve(result, type, callee.dims);
  if (With(result, callee.dims) != type) return {};
  const bool has_maps = std::all_of(function.params.begin(), function.params.end(),  // nothing makes a map
                                    [&](const Name& param) { return param.type.kind != Kind::kMap || !NamesOf(param.type).empty(); });
  return has_maps ? callee : Callee{};
}

// So that nothing has to be equal to what it is for that parameter.
static bool IsOfOne(const std::string& symbol, const std::vector<Name>& params) {
  return std::count_if(params.begin(), params.end(), [&](const Name& param) { return With(param.type, {{symbol, "_"}}) != param.type; }) ==
         1;
}

std::string Writer::CallTo(Callee callee, int depth, const WriteValue& argument, bool checks) {
  const Function& function = *callee.function;
  for (const std::string& symbol : function.symbols)  // the first of a name counts
    callee.dims.emplace_back(symbol, OneIn(6) && IsOfOne(symbol, function.params) ? "_" : Dim());
  const size_t given = function.params.size() - Below(static_cast<uint32_t>(function.n_defaults + 1));
  const bool is_named = Below(4) == 3;
  std::string text = function.name + "(";
  for (size_t i = 0; i < given; ++i) {
    const Name& param = function.params[i];
    const Type type = With(param.type, callee.dims);
    text += (i == 0 ? "" : ", ") + (is_named ? param.text + ": " : std::string());
    text += argument ? argument(type, depth - 1) : checks ? Coerced(type, depth - 1) : Expression(type, depth - 1);
  }
  return text + ")";
}

std::string Writer::Call(const Type& type, int depth) {
  const bool checks = std::exchange(is_whole_, false) && !in_tensor_block_;
  std::vector<Callee> fitting;
  for (const Function& function : functions_) {
    if (in_tensor_block_ && function.may_fail) continue;
    if (Callee callee = Fit(function, function.result, type); callee.function != nullptr) fitting.push_back(std::move(callee));
  }
  if (fitting.empty()) return "";
  const Callee& callee = Any(fitting);
  may_fail_ = may_fail_ || checks || callee.function->may_fail;
  return CallTo(callee, depth, {}, checks);
}

std::string Writer::OrElse(const Type& type, int depth) {
  if (IsOptional(type)) return "";
  std::vector<std::string> maybe = LookUps(type);
  for (const Name& name : NamesOf(Optional(type))) maybe.push_back(name.text);
  return maybe.empty() ? "" : InOrder({"(", Any(maybe), " ?? ", Expression(type, depth), ")"});
}

std::string Writer::FailWith(int depth) {
  may_fail_ = true;
  const std::string& error = Any(errors_);
  return "fail " + error + (Below(2) == 0 ? "" : "(" + Expression(String(), depth > 0 ? 1 : 0) + ")");
}

std::string Writer::Failing(const Type& type, int depth) {
  if (IsTensor(type) || errors_.empty()) return "";
  const std::string condition = Expression(Scalar(DType::kBool), depth);
  return InOrder({"(if ", condition, " { ", Expression(type, depth), " } else { ", FailWith(depth), " })"});
}

std::string Writer::Built(const Type& type, int depth) {
  if (type.kind == Kind::kOptional) return Below(3) == 0 ? "none" : Expression(type.of[0], depth);
  std::string text = (type.kind == Kind::kRecord ? type.name : "") + "(";
  for (size_t i = 0; i < type.of.size(); ++i) text += (i == 0 ? "" : ", ") + type.names[i] + ": " + Expression(type.of[i], depth);
  return text + ")";
}

}  // namespace wf::diff
