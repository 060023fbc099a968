// Nodes from a file to numbers: what lowering makes of operators and their attributes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "runtime/kernels/half.h"
#include "runtime/kernels/memory.h"
#include "runtime/model/version.h"
#include "tests/unit/runtime/model/temp_file.h"
#include "tests/unit/runtime/onnx/builder.h"

namespace wf::model::functions {
namespace {

using testing::Builder;
namespace pb = onnx::pb;
using F = std::vector<float>;

struct Value {
  wf_tensor tensor{};
  std::shared_ptr<uint8_t> memory;

  template <typename T>
  Value(uint8_t dtype, const std::vector<int64_t>& dim, const std::vector<T>& values)
      : memory(kernels::Allocate(static_cast<int64_t>(values.size() * sizeof(T)))) {
    if (!values.empty()) std::memcpy(memory.get(), values.data(), values.size() * sizeof(T));
    tensor.dtype = dtype;
    tensor.rank = static_cast<uint8_t>(dim.size());
    tensor.data = memory.get();
    int64_t stride = 1;
    for (size_t i = dim.size(); i-- > 0;) {
      tensor.dim[i] = dim[i];
      tensor.stride[i] = stride;
      stride *= dim[i];
    }
  }
};
Value Floats(const std::vector<int64_t>& dim, const F& values) { return {WF_F32, dim, values}; }

// The bytes of each output; the files have no axis of samples.
std::vector<std::vector<uint8_t>> Results(Builder& builder, const std::vector<Value>& in) {
  const std::string bytes = builder.Bytes();
  const testing::TempFile file({bytes.begin(), bytes.end()});
  LoadOptions options;
  options.warm_up = false;
  auto version = Version::Load(file.path(), options);
  WF_CHECK(version.ok(), version.status().message());
  std::vector<wf_tensor> inputs, outputs((*version)->signature().outputs.size());
  for (const Value& each : in) inputs.push_back(each.tensor);
  const auto ran = (*version)->Run(0, 1, inputs, outputs);
  WF_CHECK(ran.ok(), ran.message());
  std::vector<std::vector<uint8_t>> results;
  for (const wf_tensor& each : outputs) {
    int64_t bytes_of = base::DTypeSize(each.dtype);
    for (int i = 0; i < each.rank; ++i) bytes_of *= each.dim[i];
    const auto* data = static_cast<const uint8_t*>(each.data);
    results.emplace_back(data, data + bytes_of);
  }
  return results;
}

template <typename T>
std::vector<T> As(const std::vector<uint8_t>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

void SetFloat(pb::NodeProto& node, const std::string& name, float value) {
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(pb::AttributeProto::FLOAT);
  attribute.set_f(value);
}

float OfOne(const std::string& op, float x) {
  Builder b(20);
  b.Input("x", {3}).Output("y");
  b.Node(op, {"x"}, {"y"});
  return As<float>(Results(b, {Floats({3}, {x, x, x})})[0])[2];
}

// Expected: the standard's defaults of attributes, computed by numpy.
TEST(Operators, FunctionsOfOneTensorHaveTheDefaultsOfTheStandard) {
  const std::pair<const char*, float> wanted[] = {
      {"Abs", 0.5f},
      {"Acos", 2.0943952f},
      {"Asin", -0.5235988f},
      {"Asinh", -0.48121184f},
      {"Atan", -0.4636476f},
      {"Atanh", -0.54930615f},
      {"Ceil", 0},
      {"Celu", -0.39346933f},
      {"Cos", 0.87758255f},
      {"Cosh", 1.1276259f},
      {"Elu", -0.39346933f},
      {"Erf", -0.5204999f},
      {"Exp", 0.60653067f},
      {"Floor", -1},
      {"Gelu", -0.15426877f},
      {"HardSigmoid", 0.4f},
      {"HardSwish", -0.20833333f},
      {"LeakyRelu", -0.005f},
      {"Mish", -0.22074377f},
      {"Neg", 0.5f},
      {"Reciprocal", -2},
      {"Relu", 0},
      {"Round", 0},
      {"Selu", -0.6917582f},
      {"Shrink", 0},
      {"Sigmoid", 0.37754068f},
      {"Sign", -1},
      {"Sin", -0.47942555f},
      {"Sinh", -0.52109534f},
      {"Softplus", 0.474077f},
      {"Softsign", -0.33333334f},
      {"Tan", -0.5463025f},
      {"Tanh", -0.46211717f},
      {"ThresholdedRelu", 0},
  };
  for (const auto& [op, y] : wanted) EXPECT_NEAR(OfOne(op, -0.5f), y, 2e-6) << op;
  EXPECT_NEAR(OfOne("Acosh", 2), 1.316958f, 2e-6);
  EXPECT_NEAR(OfOne("Log", 2), 0.6931472f, 2e-6);
  EXPECT_EQ(OfOne("Sqrt", 4), 2);
}

TEST(Operators, AttributesOfFunctionsAreRead) {
  const auto run = [](const std::string& op, const std::vector<std::pair<std::string, float>>& attributes, float x) {
    Builder b;
    b.Input("x", {1}).Output("y");
    pb::NodeProto& node = b.Node(op, {"x"}, {"y"});
    for (const auto& [name, value] : attributes) SetFloat(node, name, value);
    return As<float>(Results(b, {Floats({1}, {x})})[0])[0];
  };
  EXPECT_FLOAT_EQ(run("HardSigmoid", {{"alpha", 0.5f}, {"beta", 0.6f}}, -1), 0.1f);
  EXPECT_FLOAT_EQ(run("Selu", {{"alpha", 2}, {"gamma", 3}}, 1), 3);
  EXPECT_FLOAT_EQ(run("Shrink", {{"lambd", 1.5f}, {"bias", 0.5f}}, 2), 1.5f);
  EXPECT_FLOAT_EQ(run("ThresholdedRelu", {{"alpha", 2}}, 1.5f), 0);
}

TEST(Operators, LogicAndBitsAreToldApart) {
  const auto run = [](const std::string& op, uint8_t a, uint8_t b, int type, uint8_t dtype) {
    Builder builder(20);
    builder.Input("a", {1}, type).Input("b", {1}, type).Output("y");
    builder.Node(op, {"a", "b"}, {"y"});
    return Results(builder, {Value(dtype, {1}, std::vector<uint8_t>{a}), Value(dtype, {1}, std::vector<uint8_t>{b})})[0][0];
  };
  EXPECT_EQ(run("And", 1, 0, pb::BOOL, WF_BOOL), 0);
  EXPECT_EQ(run("Or", 1, 0, pb::BOOL, WF_BOOL), 1);
  EXPECT_EQ(run("Xor", 1, 1, pb::BOOL, WF_BOOL), 0);
  EXPECT_EQ(run("BitwiseAnd", 12, 10, pb::UINT8, WF_U8), 8);
  EXPECT_EQ(run("BitwiseOr", 12, 10, pb::UINT8, WF_U8), 14);
  EXPECT_EQ(run("BitwiseXor", 12, 10, pb::UINT8, WF_U8), 6);
  EXPECT_EQ(run("Greater", 12, 10, pb::UINT8, WF_U8), 1);
  EXPECT_EQ(run("LessOrEqual", 12, 10, pb::UINT8, WF_U8), 0);
  EXPECT_EQ(run("Mod", 12, 10, pb::UINT8, WF_U8), 2);
  EXPECT_EQ(run("Min", 12, 10, pb::UINT8, WF_U8), 10);
}

TEST(Operators, SumsOfOneTwoAndManyTensors) {
  for (const int count : {1, 2, 3}) {
    for (const std::string op : {"Sum", "Mean", "Max"}) {
      Builder b;
      std::vector<std::string> names;
      std::vector<Value> in;
      for (int i = 0; i < count; ++i) {
        names.push_back("x" + std::to_string(i));
        b.Input(names.back(), {1});
        in.push_back(Floats({1}, {static_cast<float>(i + 1)}));
      }
      b.Output("y");
      b.Node(op, names, {"y"});
      const float sum = static_cast<float>(count * (count + 1) / 2), n = static_cast<float>(count);
      EXPECT_FLOAT_EQ(As<float>(Results(b, in)[0])[0], op == "Sum" ? sum : op == "Mean" ? sum / n : n) << op << count;
    }
  }
}

// Weights of 16 bits are not multiplied by what the normalisation says, which would round them once more.
TEST(Operators, ConvolutionsOf16BitsAreThoseOfF32) {
  Builder b;
  b.Input("x", {1, 1, 2, 2}, pb::FLOAT16).Output("y");
  const auto halves = [&](const std::string& name, const std::vector<int64_t>& dim, const F& values) {
    std::string raw;
    for (const float each : values) {
      const uint16_t bits = kernels::ToHalf(each).bits;
      raw.append(reinterpret_cast<const char*>(&bits), 2);
    }
    b.Tensor(name, dim, pb::FLOAT16).set_raw_data(raw);
  };
  halves("w", {2, 1, 1, 1}, {2, -1});
  halves("scale", {2}, {3, 1});
  halves("shift", {2}, {0.5f, 0});
  halves("mean", {2}, {1, 0});
  halves("variance", {2}, {1, 1});
  b.Node("Conv", {"x", "w"}, {"c"});
  b.Node("BatchNormalization", {"c", "scale", "shift", "mean", "variance"}, {"d"});
  b.Node("Relu", {"d"}, {"y"});
  std::vector<uint16_t> x;
  for (const float each : {1.0f, 2.0f, -1.0f, 0.0f}) x.push_back(kernels::ToHalf(each).bits);
  const auto y = As<uint16_t>(Results(b, {Value(WF_F16, {1, 1, 2, 2}, x)})[0]);
  const F wanted = {3.5f, 9.5f, 0, 0, 0, 0, 1, 0};
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(kernels::ToFloat(kernels::Half{y[i]}), wanted[i], 0.01f) << i;
}

TEST(Operators, ConvolutionsTakeTheirActivation) {
  for (const std::string op : {"HardSwish", "Mish", "Elu", "Softplus", "Gelu"}) {
    Builder b(20);
    b.Input("x", {1, 1, 4, 4}).Output("y");
    Builder::SetFloats(b.Tensor("w", {1, 1, 1, 1}, pb::FLOAT), {1});
    b.Node("Conv", {"x", "w"}, {"c"});
    b.Node(op, {"c"}, {"y"});
    F x(16);
    for (size_t i = 0; i < 16; ++i) x[i] = static_cast<float>(i) / 4 - 2;
    x[3] = std::nanf("");
    const F y = As<float>(Results(b, {Floats({1, 1, 4, 4}, x)})[0]);
    for (size_t i = 0; i < 16; ++i) {
      if (i == 3) {
        EXPECT_TRUE(std::isnan(y[i])) << op;
        continue;
      }
      EXPECT_NEAR(y[i], OfOne(op, x[i]), 1e-5) << op;
    }
  }
}

TEST(Operators, QuantisedNumbersComeBack) {
  Builder b(21);
  b.Input("x", {2, 2}).Output("y");
  Builder::SetFloats(b.Tensor("s", {2}, pb::FLOAT), {0.5f, 2});
  b.Tensor("z", {2}, pb::INT8).set_raw_data(std::string("\0\1", 2));
  Builder::Int(b.Node("QuantizeLinear", {"x", "s", "z"}, {"q"}), "axis", -1);
  Builder::Int(b.Node("DequantizeLinear", {"q", "s", "z"}, {"y"}), "axis", -1);
  EXPECT_EQ(As<float>(Results(b, {Floats({2, 2}, {0.6f, 5, -100, 3})})[0]), (F{0.5f, 4, -64, 4}));
}

TEST(Operators, ProductsOfIntegersFindTheirZeroPoints) {
  Builder b;
  b.Input("x", {1, 2}, pb::UINT8).Output("y").Output("c");
  b.Tensor("w", {2, 1}, pb::INT8).set_raw_data(std::string("\1\2", 2));
  b.Tensor("z", {}, pb::INT8).set_raw_data(std::string("\1", 1));
  b.Tensor("xz", {}, pb::UINT8).set_raw_data(std::string("\3", 1));
  b.Node("MatMulInteger", {"x", "w", "", "z"}, {"y"});
  b.Longs("to", {1, 1, 2});
  b.Tensor("k", {1, 1, 1}, pb::INT8).set_raw_data(std::string("\4", 1));
  b.Node("Reshape", {"x", "to"}, {"r"});
  b.Node("ConvInteger", {"r", "k", "xz"}, {"c"});
  const auto results = Results(b, {Value(WF_U8, {1, 2}, std::vector<uint8_t>{5, 7})});
  EXPECT_EQ(As<int32_t>(results[0]), (std::vector<int32_t>{7}));
  EXPECT_EQ(As<int32_t>(results[1]), (std::vector<int32_t>{8, 16}));
}

TEST(Operators, RandomNumbersOfANodeAreItsOwnInEachRun) {
  const auto run = [](float seed) {
    Builder b;
    b.Input("x", {4}).Output("y").Output("z");
    for (const char* out : {"u", "v"}) {
      pb::NodeProto& node = b.Node("RandomUniform", {}, {out});
      Builder::Ints(node, "shape", {4});
      if (seed >= 0) SetFloat(node, "seed", seed);
    }
    b.Node("Add", {"x", "u"}, {"y"});
    b.Node("RandomNormalLike", {"v"}, {"w"});
    b.Node("Sub", {"u", "v"}, {"z"});
    return Results(b, {Floats({4}, {0, 0, 0, 0})});
  };
  EXPECT_EQ(run(-1), run(-1));
  EXPECT_NE(As<float>(run(-1)[1]), (F{0, 0, 0, 0})) << "two nodes without a seed draw apart";
  EXPECT_EQ(As<float>(run(0)[1]), (F{0, 0, 0, 0}));
  EXPECT_FLOAT_EQ(As<float>(run(0)[0])[0], 0.5488135f);
}

TEST(Operators, DropoutDropsOnlyInTraining) {
  const auto run = [](bool training, bool mask) {
    Builder b;
    b.Input("x", {4}).Input("t", {}, pb::BOOL).Output("y");
    Builder::SetFloats(b.Tensor("r", {}, pb::FLOAT), {0.6f});
    std::vector<std::string> out = {"y"};
    if (mask) {
      b.Output("m");
      out.push_back("m");
    }
    Builder::Int(b.Node("Dropout", {"x", "r", "t"}, out), "seed", 0);
    return Results(b, {Floats({4}, {1, 2, 3, 4}), Value(WF_BOOL, {}, std::vector<uint8_t>{training ? uint8_t{1} : uint8_t{0}})});
  };
  EXPECT_EQ(As<float>(run(false, false)[0]), (F{1, 2, 3, 4}));
  EXPECT_EQ(run(false, true)[1], (std::vector<uint8_t>{1, 1, 1, 1}));
  EXPECT_EQ(run(true, true)[1], (std::vector<uint8_t>{0, 1, 1, 0}));
  EXPECT_FLOAT_EQ(As<float>(run(true, false)[0])[1], 5);
}

// Before opset 10 it is of the elements' type; nothing is left out, so that all are kept.
TEST(Operators, TheMaskOfAnOldDropoutKeepsAll) {
  for (const int opset : {7, 9}) {
    Builder b(opset);
    b.Input("x", {2}).Output("y").Output("m");
    b.Node("Dropout", {"x"}, {"y", "m"});
    const auto results = Results(b, {Floats({2}, {3, -4})});
    EXPECT_EQ(As<float>(results[0]), (F{3, -4}));
    EXPECT_EQ(As<float>(results[1]), (F{1, 1}));
  }
}

// Rows in front of the batch: x[row][b][k] for x[b][row][k], of which each product is of its own.
TEST(Operators, FusedMatMulTakesRowsInFrontOfTheBatch) {
  const auto run = [](bool of_a, bool of_b, bool turned) {
    Builder b;
    b.model().add_opset_import()->set_domain("com.microsoft");
    b.model().mutable_opset_import(1)->set_version(1);
    b.Input("a", {2, 3, 1}).Input("b", {2, 3, 1}).Output("y");
    pb::NodeProto& node = b.Node("FusedMatMul", {"a", "b"}, {"y"});
    node.set_domain("com.microsoft");
    if (of_a) Builder::Int(node, "transBatchA", 1);
    if (of_b) Builder::Int(node, "transBatchB", 1);
    Builder::Int(node, turned ? "transB" : "transA", 1);
    return As<float>(Results(b, {Floats({2, 3, 1}, {1, 2, 3, 4, 5, 6}), Floats({2, 3, 1}, {1, 10, 100, 1000, 10000, 100000})})[0]);
  };
  EXPECT_EQ(run(false, false, false), (F{321, 654000}));
  EXPECT_EQ(run(true, true, false), (F{4001, 50020, 600300}));  // [3, 1, 1] of [3, 2, 1] each
  EXPECT_EQ(run(true, true, true), (F{1, 1000, 4, 4000, 20, 20000, 50, 50000, 300, 300000, 600, 600000}));
}

// Of extents that the file leaves open, one of 1 alone is expanded.
TEST(Operators, ExpandsByWhatARunGives) {
  Builder b;
  b.Input("x", {"a", "b"}).Input("s", {2}, pb::INT64).Output("y");
  b.Node("Expand", {"x", "s"}, {"y"});
  const auto run = [&](const std::vector<int64_t>& dim, const F& values, const std::vector<int64_t>& shape) {
    return As<float>(Results(b, {Floats(dim, values), Value(WF_I64, {2}, shape)})[0]);
  };
  EXPECT_EQ(run({1, 2}, {3, 4}, {2, 2}), (F{3, 4, 3, 4}));
  EXPECT_EQ(run({2, 1}, {3, 4}, {2, 2}), (F{3, 3, 4, 4}));
  EXPECT_EQ(run({2, 2}, {3, 4, 5, 6}, {1, 2}), (F{3, 4, 5, 6}));
}

TEST(Operators, PadsAlongAnotherAxisThanTheOneWithoutElements) {
  for (const char* mode : {"edge", "reflect", "constant"}) {
    Builder b;
    b.Input("x", {0, 4}).Output("y").Output("n");
    b.Longs("pads", {0, 1, 0, 1});
    Builder::String(b.Node("Pad", {"x", "pads"}, {"y"}), "mode", mode);
    b.Node("Shape", {"y"}, {"n"});
    EXPECT_EQ(As<int64_t>(Results(b, {Floats({0, 4}, {})})[1]), (std::vector<int64_t>{0, 6})) << mode;
  }
}

}  // namespace
}  // namespace wf::model::functions
