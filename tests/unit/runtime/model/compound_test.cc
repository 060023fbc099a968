// Nodes of com.microsoft that are written as several: against those, and against numbers.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "tests/unit/runtime/model/file_runs.h"

namespace wf::model {
namespace {

using onnx::pb::FLOAT;
using onnx::pb::INT32;
using onnx::pb::UINT8;
using testing::Builder;
using Bytes = std::vector<uint8_t>;
using F = std::vector<float>;

// Output 0, of T.
template <typename T>
std::vector<T> Result(Builder& builder, const std::vector<Elements>& inputs) {
  return RunFile(builder, inputs, [](const auto& outputs) { return ValuesOf<T>(outputs[0]); });
}

struct Case : Builder {
  Case() : Builder(17) {
    model().add_opset_import()->set_domain("com.microsoft");
    model().mutable_opset_import(1)->set_version(1);
  }
  onnx::pb::NodeProto& Compound(const std::string& op, const std::vector<std::string>& in) {
    onnx::pb::NodeProto& node = Node(op, in, {"y"});
    node.set_domain("com.microsoft");
    Output("y");
    return node;
  }
  void Scale(const std::string& name, float value) { SetFloats(Tensor(name, {}, FLOAT), {value}); }
  void Byte(const std::string& name, int value) { Tensor(name, {}, UINT8).add_int32_data(value); }
};

TEST(Compound, WhatIsQuantisedAroundAFunction) {
  Case sigmoid;
  sigmoid.Input("x", {3}, UINT8);
  sigmoid.Scale("xs", 0.5f);
  sigmoid.Byte("xz", 4);
  sigmoid.Scale("ys", 1.0f / 256);
  sigmoid.Byte("yz", 0);
  sigmoid.Compound("QLinearSigmoid", {"x", "xs", "xz", "ys", "yz"});
  EXPECT_EQ(Result<uint8_t>(sigmoid, {ElementsOf<uint8_t>(WF_U8, {3}, {4, 0, 8})}), (Bytes{128, 31, 225}));
  Case leaky;
  leaky.Input("x", {2}, UINT8);
  leaky.Scale("s", 0.5f);
  leaky.Byte("z", 100);
  Builder::Int(leaky.Compound("QLinearLeakyRelu", {"x", "s", "z", "s", "z"}), "unused", 1);
  EXPECT_EQ(leaky.Error(), "`x.onnx`: node `n` (QLinearLeakyRelu, com.microsoft opset 1): attribute `unused` is not supported");
  leaky.graph.mutable_node(0)->clear_attribute();
  EXPECT_EQ(Result<uint8_t>(leaky, {ElementsOf<uint8_t>(WF_U8, {2}, {104, 0})}), (Bytes{104, 99}));
}

TEST(Compound, ConcatOfSeveralScales) {
  Case concat;
  concat.Input("a", {2}, UINT8).Input("b", {1}, UINT8);
  concat.Scale("one", 1);
  concat.Scale("half", 0.5f);
  concat.Byte("z", 10);
  Builder::Int(concat.Compound("QLinearConcat", {"one", "z", "a", "half", "z", "b", "one", "z"}), "axis", 0);
  EXPECT_EQ(Result<uint8_t>(concat, {ElementsOf<uint8_t>(WF_U8, {2}, {10, 30}), ElementsOf<uint8_t>(WF_U8, {1}, {7})}), (Bytes{10, 20, 7}));
  concat.graph.mutable_node(0)->add_input("a");
  EXPECT_EQ(concat.Error(), "`x.onnx`: node `n` (QLinearConcat, com.microsoft opset 1): 9 inputs, wanted two and three for each tensor");
}

TEST(Compound, AChoiceBetweenTwoScales) {
  Case where;
  where.Input("c", {2}, onnx::pb::BOOL).Input("a", {2}, UINT8).Input("b", {2}, UINT8);
  where.Scale("one", 1);
  where.Scale("half", 0.5f);
  where.Byte("z", 10);
  where.Compound("QLinearWhere", {"c", "a", "one", "z", "b", "half", "z", "half", "z"});
  const Elements condition = ElementsOf<uint8_t>(WF_BOOL, {2}, {1, 0});
  EXPECT_EQ(Result<uint8_t>(where, {condition, ElementsOf<uint8_t>(WF_U8, {2}, {13, 99}), ElementsOf<uint8_t>(WF_U8, {2}, {99, 17})}),
            (Bytes{16, 17}));
}

TEST(Compound, PoolsOfBytes) {
  const auto pooled = [](const char* op, bool has_window) {
    Case pool;
    pool.Input("x", {1, 1, 4}, UINT8);
    pool.Scale("one", 1);
    pool.Scale("half", 0.5f);
    pool.Byte("z", 10);
    pool.Byte("zero", 0);
    onnx::pb::NodeProto& node = pool.Compound(op, {"x", "one", "z", "half", "zero"});
    for (const char* each : {"kernel_shape", "strides"})
      if (has_window) Builder::Ints(node, each, {2});
    Bytes result = Result<uint8_t>(pool, {ElementsOf<uint8_t>(WF_U8, {1, 1, 4}, {10, 12, 14, 20})});
    return result;
  };
  EXPECT_EQ(pooled("QLinearAveragePool", true), (Bytes{2, 14}));
  EXPECT_EQ(pooled("QLinearGlobalAveragePool", false), (Bytes{8}));
}

// The last window lies half beyond the end; where padding counts, ONNX Runtime divides by the whole of it.
TEST(Compound, MeansOfBytesOverTheEnd) {
  for (const bool counts : {false, true}) {
    Case pool;
    pool.Input("x", {1, 1, 5}, UINT8);
    pool.Scale("one", 1);
    pool.Scale("half", 0.5f);
    pool.Byte("z", 10);
    pool.Byte("zero", 0);
    onnx::pb::NodeProto& node = pool.Compound("QLinearAveragePool", {"x", "one", "z", "half", "zero"});
    for (const char* each : {"kernel_shape", "strides"}) Builder::Ints(node, each, {2});
    Builder::Int(node, "ceil_mode", 1);
    if (counts) Builder::Int(node, "count_include_pad", 1);
    EXPECT_EQ(Result<uint8_t>(pool, {ElementsOf<uint8_t>(WF_U8, {1, 1, 5}, {10, 12, 14, 20, 16})}),
              (counts ? Bytes{2, 14, 6} : Bytes{2, 14, 12}));
  }
}

TEST(Compound, ASoftmaxOfBytesIsThatOfTheModelsOpset) {
  Case b;
  b.Input("x", {2, 2}, UINT8);
  b.Scale("xs", 0.5f);
  b.Byte("xz", 4);
  b.Scale("ys", 1.0f / 256);
  b.Byte("yz", 0);
  onnx::pb::NodeProto& node = b.Compound("QLinearSoftmax", {"x", "xs", "xz", "ys", "yz"});
  Builder::Int(node, "axis", 0);
  Builder::Int(node, "opset", 13);
  EXPECT_EQ(Result<uint8_t>(b, {ElementsOf<uint8_t>(WF_U8, {2, 2}, {9, 4, 9, 6})}), (Bytes{128, 69, 128, 187}));
  node.mutable_attribute(1)->set_i(12);
  EXPECT_EQ(b.Error(),
            "`x.onnx`: node `n` (QLinearSoftmax, com.microsoft opset 1): a Softmax of another opset than the model's is not supported");
}

TEST(Compound, AttentionOfBytesIsThatOfTheirNumbers) {
  constexpr int kRows = 2, kWide = 4;
  std::vector<uint8_t> x, w;
  for (int i = 0; i < kRows * kWide; ++i) x.push_back(static_cast<uint8_t>(i * 37 % 23));
  for (int i = 0; i < kWide * 3 * kWide; ++i) w.push_back(static_cast<uint8_t>(i * 29 % 31));
  const auto build = [&](bool quantised) {
    Case b;
    b.Input("x", {1, kRows, kWide}, quantised ? UINT8 : FLOAT);
    std::vector<float> bias, values;
    for (int i = 0; i < 3 * kWide; ++i) bias.push_back(0.1f * static_cast<float>(i % 5));
    for (const uint8_t each : w) values.push_back(0.02f * static_cast<float>(each - 16));
    Builder::SetFloats(b.Tensor("b", {3 * kWide}, FLOAT), bias);
    if (!quantised) {
      Builder::SetFloats(b.Tensor("w", {kWide, 3 * kWide}, FLOAT), values);
      Builder::Int(b.Compound("Attention", {"x", "w", "b"}), "num_heads", 2);
      return b;
    }
    onnx::pb::TensorProto& weights = b.Tensor("w", {kWide, 3 * kWide}, UINT8);
    for (const uint8_t each : w) weights.add_int32_data(each);
    b.Scale("xs", 0.05f);
    b.Scale("ws", 0.02f);
    b.Byte("xz", 11);
    b.Byte("wz", 16);
    Builder::Int(b.Compound("QAttention", {"x", "w", "b", "xs", "ws", "", "xz", "wz"}), "num_heads", 2);
    return b;
  };
  F numbers;
  for (const uint8_t each : x) numbers.push_back(0.05f * static_cast<float>(each - 11));
  Case of_numbers = build(false), of_bytes = build(true);
  const F wanted = Result<float>(of_numbers, {ElementsOf<float>(WF_F32, {1, kRows, kWide}, numbers)});
  const F found = Result<float>(of_bytes, {ElementsOf<uint8_t>(WF_U8, {1, kRows, kWide}, x)});
  ASSERT_EQ(found.size(), size_t{kRows * kWide});
  ASSERT_EQ(wanted.size(), found.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-5f) << i;
}

TEST(Compound, AProductWithAGelu) {
  Case b;
  b.Input("x", {1, 2});
  Builder::SetFloats(b.Tensor("w", {2, 1}, FLOAT), {1, 1});
  Builder::SetFloats(b.Tensor("c", {1}, FLOAT), {-1});
  b.Compound("GemmFastGelu", {"x", "w", "c"});
  EXPECT_NEAR(Result<float>(b, {ElementsOf<float>(WF_F32, {1, 2}, {1, 2})})[0], 1.9545977f, 1e-4f);
}

TEST(Compound, AGemmOfBytesWithABiasOfTheProductsScale) {
  Case b;
  b.Input("a", {1, 2}, UINT8);
  b.Scale("as", 0.5f);
  b.Byte("az", 2);
  b.Byte("bz", 0);
  onnx::pb::TensorProto& weights = b.Tensor("b", {2, 2}, UINT8);
  for (const int each : {1, 2, 3, 4}) weights.add_int32_data(each);
  b.Scale("bs", 2);
  onnx::pb::TensorProto& bias = b.Tensor("c", {2}, INT32);
  for (const int each : {10, -10}) bias.add_int32_data(each);
  b.Compound("QGemm", {"a", "as", "az", "b", "bs", "bz", "c"});
  // (a - 2) / 2 = 1, 2; b = 2 4; 6 8; bias in steps of 1
  EXPECT_EQ(Result<float>(b, {ElementsOf<uint8_t>(WF_U8, {1, 2}, {4, 6})}), (F{24, 10}));
}

TEST(Compound, AProductThatQuantisesItsInput) {
  Case b;
  b.Input("a", {1, 2});
  onnx::pb::TensorProto& weights = b.Tensor("b", {2, 1}, UINT8);
  for (const int each : {3, 1}) weights.add_int32_data(each);
  b.Scale("bs", 0.5f);
  b.Byte("bz", 1);
  Builder::SetFloats(b.Tensor("c", {1}, FLOAT), {10});
  b.Compound("DynamicQuantizeMatMul", {"a", "b", "bs", "bz", "c"});
  EXPECT_NEAR(Result<float>(b, {ElementsOf<float>(WF_F32, {1, 2}, {1, 2})})[0], 11, 0.02);
}

TEST(Compound, AConvolutionWithWhatIsAddedAndAnActivation) {
  Case b;
  b.Input("x", {1, 1, 3}).Input("z", {1, 1, 3});
  Builder::SetFloats(b.Tensor("w", {1, 1, 1}, FLOAT), {2});
  onnx::pb::NodeProto& node = b.Compound("FusedConv", {"x", "w", "", "z"});
  Builder::String(node, "activation", "LeakyRelu");
  onnx::pb::AttributeProto& parameters = *node.add_attribute();
  parameters.set_name("activation_params");
  parameters.set_type(onnx::pb::AttributeProto::FLOATS);
  parameters.add_floats(0.5f);
  EXPECT_EQ(Result<float>(b, {ElementsOf<float>(WF_F32, {1, 1, 3}, {1, 2, 3}), ElementsOf<float>(WF_F32, {1, 1, 3}, {0, -8, 1})}),
            (F{2, -2, 7}));
  node.mutable_attribute(0)->set_s("Gloss");
  EXPECT_EQ(b.Error(), "`x.onnx`: node `n` (FusedConv, com.microsoft opset 1): activation `Gloss` is not supported");
}

TEST(Compound, AGemmWithAnActivation) {
  Case b;
  b.Input("x", {1, 2});
  Builder::SetFloats(b.Tensor("w", {2, 2}, FLOAT), {1, -1, 1, -1});
  Builder::String(b.Compound("FusedGemm", {"x", "w"}), "activation", "Relu");
  EXPECT_EQ(Result<float>(b, {ElementsOf<float>(WF_F32, {1, 2}, {1, 2})}), (F{3, 0}));
}

TEST(Compound, NodesThatTheStandardHasByTheSameName) {
  Case b;
  b.Input("x", {2}, UINT8);
  b.Scale("s", 0.5f);
  b.Byte("z", 4);
  b.Compound("DequantizeLinear", {"x", "s", "z"});
  EXPECT_EQ(Result<float>(b, {ElementsOf<uint8_t>(WF_U8, {2}, {4, 0})}), (F{0, -2}));
  Case wrong;
  wrong.Input("x", {2}, UINT8);
  wrong.Compound("QuantizeLinear", {"x"});
  EXPECT_EQ(wrong.Error(), "`x.onnx`: node `n` (QuantizeLinear, com.microsoft opset 1): 1 input, wanted 2 to 3");
}

TEST(Compound, DistancesOfRows) {
  for (const char* metric : {"", "sqeuclidean", "euclidean"}) {
    Case distances;
    distances.Input("a", {2, 3}).Input("b", {4, 3});
    onnx::pb::NodeProto& node = distances.Compound("CDist", {"a", "b"});
    if (*metric != 0) Builder::String(node, "metric", metric);
    const bool is_root = metric == std::string("euclidean");
    const F got = Result<float>(distances, {FloatsIn({2, 3}, {0, 1, 2, 3, 4, 5}), FloatsIn({4, 3}, F(12, 1))});
    ASSERT_EQ(got.size(), 8u);
    for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(got[i], i < 4 ? (is_root ? 1.41421354f : 2) : (is_root ? 5.38516474f : 29), 1e-5) << i;
  }
  Case other;
  other.Input("a", {2, 3}).Input("b", {4, 3});
  Builder::String(other.Compound("CDist", {"a", "b"}), "metric", "cosine");
  EXPECT_EQ(other.Error(), "`x.onnx`: node `n` (CDist, com.microsoft opset 1): metric `cosine`, euclidean and sqeuclidean are supported");
}

TEST(Compound, AnAxisIsAddedWhereANumberSays) {
  for (const auto& [axis, wanted] : {std::pair(1, "y: f32[n, 1, 3]"), {-1, "y: f32[n, 3, 1]"}}) {
    Case expanded;
    expanded.Input("x", {"n", 3});
    expanded.Tensor("axis", {}, INT32).add_int32_data(axis);
    expanded.Compound("ExpandDims", {"x", "axis"});
    const auto model = expanded.Read();
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->signature.outputs[0].ToString(), wanted);
  }
}

TEST(Compound, AConvolutionOfBytesWithChannelsLastIsThatOfChannelsFirst) {
  const Bytes pixels = {1, 2, 3, 4, 5, 6, 7, 8};  // two channels of four points in a row
  const auto answers = [&](bool is_last) {
    Case conv;
    conv.Input("x", is_last ? Builder::Extents{1, 1, 4, 2} : Builder::Extents{1, 2, 1, 4}, UINT8);
    for (const char* scale : {"xs", "ws", "ys"}) conv.Scale(scale, 1);
    for (const char* zero : {"xz", "wz", "yz"}) conv.Byte(zero, 0);
    onnx::pb::TensorProto& weights = conv.Tensor("w", {1, 2, 1, 2}, UINT8);
    for (const int each : {1, 2, 3, 4}) weights.add_int32_data(each);
    onnx::pb::NodeProto& node = conv.Compound("QLinearConv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz"});
    Builder::Int(node, "channels_last", is_last ? 1 : 0);
    Builder::Ints(node, "kernel_shape", {1, 2});
    Bytes given = pixels;
    if (is_last) {
      for (size_t i = 0; i < 8; ++i) given[i] = pixels[i % 2 * 4 + i / 2];
    }
    return Result<uint8_t>(conv, {ElementsOf(WF_U8, is_last ? std::vector<int64_t>{1, 1, 4, 2} : std::vector<int64_t>{1, 2, 1, 4}, given)});
  };
  EXPECT_EQ(answers(false), (Bytes{1 + 4 + 15 + 24, 2 + 6 + 18 + 28, 3 + 8 + 21 + 32}));
  EXPECT_EQ(answers(true), answers(false));
}

TEST(Compound, AnEmbeddingInBlocksOfHalfBytes) {
  for (const int bits : {4, 8}) {
    Case rows;
    rows.Input("i", {"n"}, INT32);
    onnx::pb::TensorProto& table = rows.Tensor("table", {2, bits == 4 ? 8 : 16}, UINT8);
    for (int i = 0; i < (bits == 4 ? 16 : 32); ++i) table.add_int32_data(bits == 4 ? 0x9a : i);
    Builder::SetFloats(rows.Tensor("scales", {2, 1}, FLOAT), {1, 10});
    onnx::pb::NodeProto& node = rows.Compound("GatherBlockQuantized", {"table", "i", "scales"});
    Builder::Int(node, "bits", bits);
    Builder::Int(node, "block_size", 16);
    const auto model = rows.Read();
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->signature.outputs[0].ToString(), "y: f32[n, 16]");
    const F got = Result<float>(rows, {ElementsOf<int32_t>(WF_I32, {1}, {1})});
    EXPECT_EQ((F{got[0], got[1]}), bits == 4 ? (F{20, 10}) : (F{(16 - 128) * 10, (17 - 128) * 10}));
  }
}

TEST(Compound, AnEmbeddingInBlocksOfWhatIsStoredIn4Bits) {
  for (const int type : {onnx::pb::UINT4, onnx::pb::INT4}) {
    Case rows;
    rows.Input("i", {"n"}, INT32);
    onnx::pb::TensorProto& table = rows.Tensor("table", {2, 16}, type);
    for (int i = 0; i < 16; ++i) table.add_int32_data(0x9a);
    Builder::SetFloats(rows.Tensor("scales", {2, 1}, FLOAT), {1, 10});
    Builder::Int(rows.Compound("GatherBlockQuantized", {"table", "i", "scales"}), "block_size", 16);
    const F got = Result<float>(rows, {ElementsOf<int32_t>(WF_I32, {1}, {-1})});
    EXPECT_EQ((F{got[0], got[1]}), type == onnx::pb::INT4 ? (F{-60, -70}) : (F{100, 90}));
  }
}

TEST(Compound, WhatIsThereOnceInTheOrderInWhichItComes) {
  Case unique;
  unique.Input("x", {5});
  unique.Compound("Unique", {"x"}).add_output("places");
  unique.Output("places");
  RunFile(unique, {FloatsIn({5}, {3, 1, 3, 2, 1})}, [](const auto& outputs) {
    EXPECT_EQ(ValuesOf<float>(outputs[0]), (F{3, 1, 2}));
    EXPECT_EQ(ValuesOf<int64_t>(outputs[1]), (std::vector<int64_t>{0, 1, 0, 2, 1}));
    return 0;
  });
}

TEST(Compound, AMeanOfBytes) {
  Case mean;
  mean.Input("x", {2, 2}, UINT8);
  mean.Scale("s", 0.5f);
  mean.Byte("z", 10);
  onnx::pb::NodeProto& node = mean.Compound("QLinearReduceMean", {"x", "s", "z", "s", "z"});
  Builder::Ints(node, "axes", {1});
  Builder::Int(node, "keepdims", 0);
  EXPECT_EQ(Result<uint8_t>(mean, {ElementsOf<uint8_t>(WF_U8, {2, 2}, {10, 20, 0, 6})}), (Bytes{15, 3}));
}

}  // namespace
}  // namespace wf::model
