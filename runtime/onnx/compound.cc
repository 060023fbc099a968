#include "runtime/onnx/compound.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/onnx/op.h"
#include "runtime/onnx/tensor.h"

namespace wf::onnx {
namespace {

using base::Status;

constexpr const char* kMicrosoft = "com.microsoft";

bool TurnsBatch(const pb::NodeProto& node, std::string_view attribute) {
  return std::any_of(node.attribute().begin(), node.attribute().end(),
                     [&](const pb::AttributeProto& each) { return each.name() == attribute && each.i() != 0; });
}

class CompoundWriter {
 public:
  CompoundWriter(const pb::NodeProto& node, int standard, std::vector<pb::NodeProto>& nodes)
      : node_(node), standard_(standard), nodes_(nodes) {}

  Status Run(Op op) {
    switch (op) {
      case Op::kMsCDist:
        return Distances();
      case Op::kMsDequantizeLinear:
      case Op::kMsGridSample:
      case Op::kMsPad:
      case Op::kMsQuantizeLinear:
      case Op::kMsRange:
      case Op::kMsTrilu:
        return Renamed();
      case Op::kMsExpandDims:
        return ExpandDims();
      case Op::kMsDynamicQuantizeLSTM:
        return DynamicLstm();
      case Op::kMsDynamicQuantizeMatMul:
        return DynamicMatMul();
      case Op::kMsFusedConv:
        return Conv();
      case Op::kMsFusedGemm:
        return Gemm();
      case Op::kMsFusedMatMul:
        return BatchedMatMul();
      case Op::kMsGemmFastGelu:
        return GemmFastGelu();
      case Op::kMsGatherND:  // whose indices may be of 32 bits
        SetInt(Add("Cast", {In(1)}, Part("at")), "to", pb::INT64);
        Add("GatherND", {In(0), Part("at")}, node_.output(0));
        return Status::Ok();
      case Op::kMsNhwcMaxPool:
        ChannelsFirst("MaxPool", {}, In(0), node_.output(0));
        return Status::Ok();
      case Op::kMsQAttention:
        return Attention();
      case Op::kMsQEmbedLayerNormalization:
        return EmbedNorm();
      case Op::kMsQGemm:
        return QuantisedGemm();
      case Op::kMsQLinearConcat:
        return Concat();
      case Op::kMsQLinearConv:
        return QuantisedConv();
      case Op::kMsQLinearWhere:
        return Where();
      case Op::kMsQLinearAveragePool:
        return AveragePool();
      case Op::kMsQLinearGlobalAveragePool:
        return Around("GlobalAveragePool", {"channels_last"});
      case Op::kMsQLinearLeakyRelu:
        return Around("LeakyRelu", {});
      case Op::kMsQLinearReduceMean:
        return Around("ReduceMean", {});
      case Op::kMsQLinearSigmoid:
        return Around("Sigmoid", {});
      case Op::kMsQLinearSoftmax:
        return Softmax();
      case Op::kMsTransposeMatMul:  // what FusedMatMul was called
        nodes_.push_back(node_);
        nodes_.back().set_op_type("FusedMatMul");
        return Status::Ok();
      case Op::kMsUnique:
        return Unique();
      default:
        return {base::kUnimplemented, "it is not supported"};
    }
  }

 private:
  std::string In(int i) const { return i < node_.input_size() ? node_.input(i) : ""; }
  std::string Part(const std::string& name) const {
    const auto has_name = [](const std::string& output) { return !output.empty(); };
    const auto named = std::find_if(node_.output().begin(), node_.output().end(), has_name);
    return (named == node_.output().end() ? "" : *named) + '#' + name;
  }

  const pb::AttributeProto* Find(std::string_view name) const {
    for (const pb::AttributeProto& attribute : node_.attribute()) {
      if (attribute.name() == name) return &attribute;
    }
    return nullptr;
  }
  int64_t Int(std::string_view name, int64_t otherwise) const {
    const pb::AttributeProto* const found = Find(name);
    return found == nullptr ? otherwise : found->i();
  }

  pb::NodeProto& Add(const char* op, const std::vector<std::string>& in, const std::string& out, const char* domain = "") {
    pb::NodeProto& added = nodes_.emplace_back();
    added.set_op_type(op);
    added.set_domain(domain);
    added.set_name(node_.name());
    for (const std::string& each : in) added.add_input(each);
    added.add_output(out);
    return added;
  }
  // Its attributes but for these.
  void Keep(const std::vector<std::string_view>& others, pb::NodeProto& to) const {
    for (const pb::AttributeProto& attribute : node_.attribute()) {
      if (std::find(others.begin(), others.end(), attribute.name()) == others.end()) *to.add_attribute() = attribute;
    }
  }
  static void SetInt(pb::NodeProto& node, const char* name, int64_t value) {
    pb::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(pb::AttributeProto::INT);
    attribute.set_i(value);
  }
  static void SetInts(pb::NodeProto& node, const char* name, const std::vector<int64_t>& values) {
    pb::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(pb::AttributeProto::INTS);
    attribute.mutable_ints()->Add(values.begin(), values.end());
  }
  static void SetFloat(pb::NodeProto& node, const char* name, float value) {
    pb::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(pb::AttributeProto::FLOAT);
    attribute.set_f(value);
  }

  // Input i as the numbers that it stands for, with the scale and the zero point behind it.
  std::string Dequantised(int i, int scale, int zero, const char* name, int64_t axis = 1) {
    SetInt(Add("DequantizeLinear", {In(i), In(scale), In(zero)}, Part(name)), "axis", axis);
    return Part(name);
  }
  void Quantise(const std::string& from, int scale, int zero) { Add("QuantizeLinear", {from, In(scale), In(zero)}, node_.output(0)); }

  Status Renamed() {
    nodes_.push_back(node_);
    nodes_.back().set_domain("");
    return Status::Ok();
  }

  Status Around(const char* op, const std::vector<std::string_view>& others) {
    const std::string x = Dequantised(0, 1, 2, "x");
    if (Int("channels_last", 0) != 0) {
      ChannelsFirst(op, others, x, Part("y"));
    } else {
      Keep(others, Add(op, {x}, Part("y")));
    }
    Quantise(Part("y"), 3, 4);
    return Status::Ok();
  }

  // Where padding counts, that beyond the end of the last window does, too.
  Status AveragePool() {
    const Status status = Around("AveragePool", {"channels_last"});
    for (pb::NodeProto& each : nodes_) {
      if (each.op_type() == "AveragePool") SetInt(each, "#whole_windows", 1);
    }
    return status;
  }

  // With as many spatial axes as the window has; where none is given, with those of images. `behind`: its inputs from the second on.
  void ChannelsFirst(const char* op, const std::vector<std::string_view>& others, const std::string& x, const std::string& y,
                     const std::vector<std::string>& behind = {}) {
    const pb::AttributeProto* const window = Find("kernel_shape");
    const int64_t spatial = window == nullptr ? 2 : window->ints_size();
    std::vector<int64_t> to_first = {0, spatial + 1}, to_last = {0};
    for (int64_t axis = 1; axis <= spatial; ++axis) {
      to_first.push_back(axis);
      to_last.push_back(axis + 1);
    }
    to_last.push_back(1);
    SetInts(Add("Transpose", {x}, Part("channels first")), "perm", to_first);
    pb::NodeProto& added = Add(op, {Part("channels first")}, Part("result"));
    for (const std::string& each : behind) added.add_input(each);
    Keep(others, added);
    SetInts(Add("Transpose", {Part("result")}, y), "perm", to_last);
  }

  // Filters lie as those of the standard's.
  Status QuantisedConv() {
    const std::vector<std::string> behind(node_.input().begin() + 1, node_.input().end());
    if (Int("channels_last", 0) != 0) {
      ChannelsFirst("QLinearConv", {"channels_last"}, In(0), node_.output(0), behind);
      return Status::Ok();
    }
    pb::NodeProto& added = Add("QLinearConv", {In(0)}, node_.output(0));
    for (const std::string& each : behind) added.add_input(each);
    Keep({"channels_last"}, added);
    return Status::Ok();
  }

  // Of each row of one from each row of the other: a a + b b - 2 a b, where rounding gives no less than 0.
  Status Distances() {
    const pb::AttributeProto* const given = Find("metric");
    const std::string metric = given == nullptr ? "sqeuclidean" : given->s();
    if (metric != "euclidean" && metric != "sqeuclidean")
      return {base::kUnimplemented, fmt::format("metric `{}`, euclidean and sqeuclidean are supported", Printable(metric))};
    for (const auto& [in, squares] : {std::pair(In(0), "a a"), std::pair(In(1), "b b")})
      SetInts(Add("ReduceSumSquare", {in}, Part(squares)), "axes", {1});
    SetInts(Add("Transpose", {Part("b b")}, Part("b b of columns")), "perm", {1, 0});
    pb::NodeProto& product = Add("FusedMatMul", {In(0), In(1)}, Part("products"), kMicrosoft);
    SetFloat(product, "alpha", -2);
    SetInt(product, "transB", 1);
    Add("Add", {Part("products"), Part("a a")}, Part("sum"));
    Add("Add", {Part("sum"), Part("b b of columns")}, Part("squares"));
    const bool is_root = metric == "euclidean";
    Add("Relu", {Part("squares")}, is_root ? Part("whole") : node_.output(0));
    if (is_root) Add("Sqrt", {Part("whole")}, node_.output(0));
    return Status::Ok();
  }

  // In the order in which they come first; where each lies is no result.
  Status Unique() {
    pb::NodeProto& added = Add("Unique", {In(0)}, node_.output(0));
    SetInt(added, "sorted", 0);
    added.add_output("");
    for (int i = 1; i < node_.output_size(); ++i) added.add_output(node_.output(i));
    return Status::Ok();
  }

  Status ExpandDims() {
    SetInts(Add("Constant", {}, Part("one")), "value_ints", {1});
    SetInt(Add("Cast", {In(1)}, Part("wide")), "to", pb::INT64);
    Add("Reshape", {Part("wide"), Part("one")}, Part("axes"));
    Add("Unsqueeze", {In(0), Part("axes")}, node_.output(0));
    return Status::Ok();
  }

  // From opset 13 on a Softmax goes along one axis, before along all from it on.
  Status Softmax() {
    if ((Int("opset", standard_) < 13) != (standard_ < 13))
      return {base::kUnimplemented, "a Softmax of another opset than the model's is not supported"};
    return Around("Softmax", {"opset"});
  }

  Status Concat() {
    if (node_.input_size() % 3 != 2)
      return {base::kInvalidArgument, fmt::format("{} inputs, wanted two and three for each tensor", node_.input_size())};
    std::vector<std::string> parts;
    for (int i = 2; i < node_.input_size(); i += 3) parts.push_back(Dequantised(i, i + 1, i + 2, fmt::format("x{}", i).c_str()));
    Keep({}, Add("Concat", parts, Part("y")));
    Quantise(Part("y"), 0, 1);
    return Status::Ok();
  }

  Status Where() {
    const std::string x = Dequantised(1, 2, 3, "x"), z = Dequantised(4, 5, 6, "z");
    Add("Where", {In(0), x, z}, Part("y"));
    Quantise(Part("y"), 7, 8);
    return Status::Ok();
  }

  // Tables, scale and shift, each with a scale and a zero point of its own.
  Status EmbedNorm() {
    std::vector<std::string> in = {In(0), In(1)};
    for (int i = 0; i < 5; ++i)
      in.push_back(In(2 + i).empty() ? "" : Dequantised(2 + i, 8 + i, 13 + i, fmt::format("table {}", i).c_str()));
    in.push_back(In(7));
    pb::NodeProto& added = Add("EmbedLayerNormalization", in, node_.output(0), kMicrosoft);
    Keep({}, added);
    if (node_.output_size() > 1) added.add_output(node_.output(1));
    return Status::Ok();
  }

  // A constant times what `from` has.
  std::string Times(const std::string& from, float factor, const std::string& name) {
    SetFloat(Add("Constant", {}, Part(name + " factor")), "value_float", factor);
    Add("Mul", {from, Part(name + " factor")}, Part(name));
    return Part(name);
  }

  // The bias is of whole numbers whose scale is that of the product.
  Status QuantisedGemm() {
    const pb::AttributeProto* const alpha = Find("alpha");
    std::vector<std::string> in = {Dequantised(0, 1, 2, "a"), Dequantised(3, 4, 5, "b", Int("transB", 0) != 0 ? 0 : 1)};
    if (!In(6).empty()) {
      std::string scale = Part("scale");
      Add("Mul", {In(1), In(4)}, scale);
      if (alpha != nullptr && alpha->f() != 1) scale = Times(scale, alpha->f(), "whole scale");
      SetInt(Add("DequantizeLinear", {In(6), scale}, Part("bias")), "axis", 0);
      in.push_back(Part("bias"));
    }
    const bool is_quantised = !In(7).empty();
    Keep({}, Add("Gemm", in, is_quantised ? Part("y") : node_.output(0)));
    if (is_quantised) Quantise(Part("y"), 7, 8);
    return Status::Ok();
  }

  Status Attention() {
    const std::string x = Dequantised(0, 3, 6, "x"), weights = Dequantised(1, 4, 7, "weights");
    pb::NodeProto& added = Add("Attention", {x, weights, In(2), In(5), In(8)}, node_.output(0), kMicrosoft);
    Keep({}, added);
    if (node_.output_size() > 1) added.add_output(node_.output(1));
    return Status::Ok();
  }

  Status DynamicMatMul() {
    pb::NodeProto& quantised = Add("DynamicQuantizeLinear", {In(0)}, Part("a"));
    quantised.add_output(Part("scale"));
    quantised.add_output(Part("zero"));
    Add("MatMulIntegerToFloat", {Part("a"), In(1), Part("scale"), In(2), Part("zero"), In(3), In(4)}, node_.output(0), kMicrosoft);
    return Status::Ok();
  }

  // x and the states are rounded to bytes while it runs, and weights are the numbers that theirs stand for.
  Status DynamicLstm() {
    SetInts(Add("Constant", {}, Part("by direction")), "value_ints", {0, -1, 1});
    const std::string w = LstmWeights(1, 8, "w"), r = LstmWeights(2, 10, "r");
    pb::NodeProto& added = Add("LSTM", {In(0), w, r, In(3), In(4), In(5), In(6), In(7)}, node_.output(0));
    for (int i = 1; i < node_.output_size(); ++i) added.add_output(node_.output(i));
    Keep({}, added);
    SetInt(added, "#in_bytes", 1);
    return Status::Ok();
  }

  // They lie the other way around than those of an LSTM. A scale and a zero point go with each direction, or each of its columns.
  std::string LstmWeights(int weights, int scale, const std::string& name) {
    const auto part = [&](const char* of) { return Part(name + ' ' + of); };
    SetInts(Add("Transpose", {In(weights)}, part("turned")), "perm", {0, 2, 1});
    for (const auto& [from, to] : {std::pair(part("turned"), "numbers"), std::pair(In(scale + 1), "zeros")})
      SetInt(Add("Cast", {from}, part(to)), "to", pb::FLOAT);
    Add("Reshape", {part("zeros"), Part("by direction")}, part("zero points"));
    Add("Reshape", {In(scale), Part("by direction")}, part("scales"));
    Add("Sub", {part("numbers"), part("zero points")}, part("offsets"));
    Add("Mul", {part("offsets"), part("scales")}, part("whole"));
    return part("whole");
  }

  // Whose rows stand in front of the batch.
  Status BatchedMatMul() {
    const auto side = [&](int i, const char* attribute, const char* part) {
      if (!TurnsBatch(node_, attribute)) return In(i);
      SetInt(Add("Transpose", {In(i)}, Part(part)), "#inward", 1);
      return Part(part);
    };
    const std::string a = side(0, "transBatchA", "a"), b = side(1, "transBatchB", "b");
    Keep({"transBatchA", "transBatchB"}, Add("FusedMatMul", {a, b}, node_.output(0), kMicrosoft));
    return Status::Ok();
  }

  Status GemmFastGelu() {
    Add("MatMul", {In(0), In(1)}, Part("product"));
    Add("FastGelu", {Part("product"), In(2)}, node_.output(0), kMicrosoft);
    return Status::Ok();
  }

  Status Conv() {
    const pb::AttributeProto* const parameters = Find("activation_params");
    std::vector<std::optional<float>> values;
    if (parameters != nullptr) values.assign(parameters->floats().begin(), parameters->floats().end());
    Keep({"activation", "activation_params"}, Add("Conv", {In(0), In(1), In(2)}, Part("product")));
    if (!In(3).empty()) Add("Add", {Part("product"), In(3)}, Part("sum"));
    return Activate(Part(In(3).empty() ? "product" : "sum"), values);
  }

  Status Gemm() {
    std::vector<std::optional<float>> values;
    for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
      const pb::AttributeProto* const value = Find(name);
      values.push_back(value == nullptr ? std::nullopt : std::optional(value->f()));
    }
    Keep({"activation", "activation_alpha", "activation_beta", "activation_gamma"}, Add("Gemm", {In(0), In(1), In(2)}, Part("product")));
    return Activate(Part("product"), values);
  }

  // Functions that are operators, with what the parameters are called there.
  Status Activate(const std::string& from, const std::vector<std::optional<float>>& values) {
    struct Activation {
      const char* name;
      std::array<const char*, 3> parameters;
    };
    static constexpr Activation kActivations[] = {
        {"Celu", {"alpha"}}, {"Clip", {"min", "max"}}, {"Elu", {"alpha"}}, {"HardSigmoid", {"alpha", "beta"}}, {"HardSwish", {}},
        {"Identity", {}},    {"LeakyRelu", {"alpha"}}, {"Relu", {}},       {"Selu", {"alpha", "", "gamma"}},   {"Sigmoid", {}},
        {"Softplus", {}},    {"Softsign", {}},         {"Tanh", {}},       {"ThresholdedRelu", {"alpha"}},
    };
    const pb::AttributeProto* const wanted = Find("activation");
    const std::string name = wanted == nullptr ? "Identity" : wanted->s();
    const auto* const found =
        std::find_if(std::begin(kActivations), std::end(kActivations), [&](const Activation& each) { return name == each.name; });
    if (name == "ParametricSoftplus") return Scaled("Softplus", from, values);
    if (name == "ScaledTanh") return Scaled("Tanh", from, values);
    if (found == std::end(kActivations)) return {base::kUnimplemented, fmt::format("activation `{}` is not supported", Printable(name))};
    pb::NodeProto& added = Add(found->name, {from}, node_.output(0));
    for (size_t i = 0; i < std::min(values.size(), found->parameters.size()); ++i) {
      const char* const parameter = found->parameters[i];
      if (parameter != nullptr && *parameter != 0 && values[i]) SetFloat(added, parameter, *values[i]);
    }
    return Status::Ok();
  }

  // alpha f(beta x)
  Status Scaled(const char* function, const std::string& from, const std::vector<std::optional<float>>& values) {
    const auto value = [&](size_t i) { return i < values.size() ? values[i].value_or(1) : 1; };
    Add(function, {Times(from, value(1), "inner")}, Part("outer"));
    SetFloat(Add("Constant", {}, Part("alpha")), "value_float", value(0));
    Add("Mul", {Part("outer"), Part("alpha")}, node_.output(0));
    return Status::Ok();
  }

  const pb::NodeProto& node_;
  const int standard_;
  std::vector<pb::NodeProto>& nodes_;
};

}  // namespace

bool IsCompound(const OperatorRow& row, const pb::NodeProto& node) {
  if (row.op == Op::kMsFusedMatMul) return TurnsBatch(node, "transBatchA") || TurnsBatch(node, "transBatchB");
  switch (row.op) {
#define OPERATOR(domain, name, since, min_in, max_in, max_out, types, attributes, infer, lower) \
  case Op::k##domain##name:                                                                     \
    return std::string_view(#infer) == "Compound";
#include "runtime/onnx/operators.def"
#undef OPERATOR
  }
  return false;
}

Status WriteOutCompound(const pb::NodeProto& node, const OperatorRow& row, int standard, std::vector<pb::NodeProto>& nodes) {
  for (const pb::AttributeProto& attribute : node.attribute()) {
    if (WantedKind(row.attributes, attribute.name()) == Attribute::Kind::kOther)
      return {base::kUnimplemented, fmt::format("attribute `{}` is not supported", Printable(attribute.name()))};
    if (IsOtherValue(row.attributes, attribute.name(), attribute.i(), attribute.s()))
      return {base::kUnimplemented, fmt::format("this value of attribute `{}` is not supported", attribute.name())};
  }
  if (!node.output(0).empty() || row.op == Op::kMsDynamicQuantizeLSTM) return CompoundWriter(node, standard, nodes).Run(row.op);
  const auto is_named = [](const std::string& name) { return !name.empty(); };
  const auto named = std::find_if(node.output().begin(), node.output().end(), is_named);
  if (named == node.output().end()) return Status::Ok();  // nobody reads anything of it
  pb::NodeProto whole = node;
  whole.set_output(0, *named + "#0");
  return CompoundWriter(whole, standard, nodes).Run(row.op);
}

}  // namespace wf::onnx
