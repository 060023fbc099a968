// Shapes and types of operators that compute each element on its own, of quantised numbers and of random ones.
#include <gtest/gtest.h>

#include "runtime/onnx/infer.h"
#include "tests/unit/runtime/onnx/builder.h"

namespace wf::onnx {
namespace {

using testing::Builder;
using Extents = Builder::Extents;

struct In {
  Extents shape;
  int type = pb::FLOAT;
};

// The result's type, or what is wrong, for one node with these inputs; `set` adds attributes.
template <typename Set>
std::string Typed(const std::string& op, const std::vector<In>& in, int64_t opset, Set set) {
  Builder builder(opset);
  std::vector<std::string> names;
  for (const In& each : in) {
    names.push_back("x" + std::to_string(names.size()));
    builder.Input(names.back(), each.shape, each.type);
  }
  if (in.empty()) builder.Input("x", {1});
  builder.Output("y");
  pb::NodeProto& node = builder.Node(op, names, {"y"});
  set(node);
  if (!node.domain().empty()) {
    auto& domain = *builder.model().add_opset_import();
    domain.set_domain(node.domain());
    domain.set_version(1);
  }
  const auto model = builder.Read();
  constexpr size_t kPrefix = sizeof("`x.onnx`: node `n` (): ") - 1;
  return model.ok() ? model->signature.outputs[0].ToString().substr(3) : model.status().message().substr(kPrefix + op.size());
}
std::string Typed(const std::string& op, const std::vector<In>& in, int64_t opset = 21) {
  return Typed(op, in, opset, [](pb::NodeProto&) {});
}

void Text(pb::NodeProto& node, const std::string& name, const std::string& value) {
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(pb::AttributeProto::STRING);
  attribute.set_s(value);
}

TEST(Elementwise, EachOperatorTakesTheTypesOfTheStandard) {
  EXPECT_EQ(Typed("Sinh", {{{"n", 3}, pb::FLOAT16}}), "f16[n, 3]");
  EXPECT_EQ(Typed("Sinh", {{{"n", 3}, pb::INT32}}), "elements of type i32 are not supported here");
  EXPECT_EQ(Typed("Sign", {{{"n"}, pb::BFLOAT16}}), "bf16[n]");
  EXPECT_EQ(Typed("Sign", {{{"n"}, pb::UINT8}}), "u8[n]");
  EXPECT_EQ(Typed("BitwiseNot", {{{"n"}, pb::INT8}}), "i8[n]");
  EXPECT_EQ(Typed("BitwiseNot", {{{"n"}}}), "elements of type f32 are not supported here");
  EXPECT_EQ(Typed("Not", {{{"n"}, pb::BOOL}}), "bool[n]");
  EXPECT_EQ(Typed("Xor", {{{"n", 1}, pb::BOOL}, {{1, 4}, pb::BOOL}}), "bool[n, 4]");
  EXPECT_EQ(Typed("Xor", {{{"n"}, pb::INT8}, {{"n"}, pb::INT8}}), "elements of type i8 are not supported here");
  EXPECT_EQ(Typed("IsNaN", {{{"n"}, pb::DOUBLE}}), "bool[n]");
  EXPECT_EQ(Typed("LessOrEqual", {{{"n", 1}, pb::UINT64}, {{3}, pb::UINT64}}), "bool[n, 3]");
  EXPECT_EQ(Typed("Equal", {{{2}, pb::BOOL}, {{2}, pb::BOOL}}), "bool[2]");
  EXPECT_EQ(Typed("Pow", {{{2}, pb::FLOAT16}, {{2}, pb::INT8}}), "f16[2]");
  EXPECT_EQ(Typed("Less", {{{2}}, {{2}, pb::DOUBLE}}), "inputs of different types, f32[2] and f64[2]");
}

TEST(Elementwise, AttributesAndShapesAreChecked) {
  const auto shift = [](const char* direction) {
    return Typed("BitShift", {{{2}, pb::UINT8}, {{2}, pb::UINT8}}, 21, [&](pb::NodeProto& node) { Text(node, "direction", direction); });
  };
  EXPECT_EQ(shift("LEFT"), "u8[2]");
  EXPECT_EQ(shift("UP"), "direction `UP`, wanted LEFT or RIGHT");
  EXPECT_EQ(Typed("PRelu", {{{"n", 3, 4}}, {{3, 1}}}), "f32[n, 3, 4]");
  EXPECT_EQ(Typed("PRelu", {{{3, 1}}, {{3, 4}}}), "the slope f32[3, 4] does not broadcast to f32[3, 1]");
  EXPECT_EQ(Typed("Max", {{{"n", 1}}, {{3}}, {{1, 1, 1}}}), "f32[1, n, 3]");
  EXPECT_EQ(Typed("Max", {{{2}}, {{3}}}), "input f32[3] does not broadcast with f32[2] of those before it");
  EXPECT_EQ(Typed("CastLike", {{{"n"}}, {{}, pb::FLOAT16}}), "f16[n]");
}

TEST(Quantised, TypesFollowScaleAndZeroPoint) {
  EXPECT_EQ(Typed("QuantizeLinear", {{{"n", 3}}, {{}}}), "u8[n, 3]");
  EXPECT_EQ(Typed("QuantizeLinear", {{{"n", 3}}, {{3}}, {{3}, pb::INT16}}), "i16[n, 3]");
  EXPECT_EQ(Typed("QuantizeLinear", {{{"n", 3}}, {{4}}}), "scale f32[4] for axis 1 of f32[n, 3]");
  EXPECT_EQ(Typed("QuantizeLinear", {{{"n", 3}}, {{3}}, {{}, pb::INT8}}), "zero point i8 beside scale f32[3]");
  EXPECT_EQ(Typed("DequantizeLinear", {{{"n", 3}, pb::INT8}, {{}, pb::FLOAT16}}), "f16[n, 3]");
  EXPECT_EQ(Typed("DequantizeLinear", {{{"n", 3}, pb::INT8}, {{}}, {{}, pb::UINT8}}), "inputs of different types, i8[n, 3] and u8");
  const auto blocks = [](int64_t size) {
    return Typed("DequantizeLinear", {{{2, 5}, pb::UINT8}, {{2, 3}}}, 21,
                 [&](pb::NodeProto& node) { Builder::Int(node, "block_size", size); });
  };
  EXPECT_EQ(blocks(2), "f32[2, 5]");
  EXPECT_EQ(blocks(1), "scale f32[2, 3] for axis 1 of u8[2, 5] in blocks of 1");
  EXPECT_EQ(blocks(-1), "block_size -1");
  EXPECT_EQ(blocks(INT64_MAX), "block_size 9223372036854775807");
}

TEST(Quantised, ProductsOfIntegers) {
  const In x{{"n", 3}, pb::UINT8}, w{{3, 4}, pb::INT8}, zero{{}, pb::UINT8}, scale{{}};
  EXPECT_EQ(Typed("MatMulInteger", {x, w}), "i32[n, 4]");
  EXPECT_EQ(Typed("MatMulInteger", {x, w, zero, {{4}, pb::INT8}}), "i32[n, 4]");
  EXPECT_EQ(Typed("MatMulInteger", {x, w, zero, {{3}, pb::INT8}}), "input 3 is i8[3], which does not go along i8[3, 4]");
  EXPECT_EQ(Typed("MatMulInteger", {x, w, zero, zero}), "inputs of different types, i8[3, 4] and u8");
  EXPECT_EQ(Typed("QLinearMatMul", {x, scale, zero, w, scale, {{}, pb::INT8}, scale, zero}), "u8[n, 4]");
  EXPECT_EQ(Typed("QLinearMatMul", {x, zero, zero, w, scale, {{}, pb::INT8}, scale, zero}), "scale u8, wanted f32, f16 or bf16");
  const In image{{"n", 3, 8, 8}, pb::UINT8}, filters{{5, 3, 3, 3}, pb::INT8};
  EXPECT_EQ(Typed("ConvInteger", {image, filters}), "i32[n, 5, 6, 6]");
  EXPECT_EQ(Typed("QLinearConv", {image, scale, zero, filters, {{5}}, {{5}, pb::INT8}, scale, zero, {{5}, pb::INT32}}), "u8[n, 5, 6, 6]");
  EXPECT_EQ(Typed("QLinearConv", {image, scale, zero, filters, {{3}}, {{}, pb::INT8}, scale, zero}),
            "input 4 is f32[3] for weights i8[5, 3, 3, 3]");
  EXPECT_EQ(Typed("ConvInteger", {{{"n", 3, 8, 8}}, filters}), "elements of type f32 are not supported here");
}

TEST(Quantised, OperatorsOfComMicrosoft) {
  const auto typed = [](const std::string& op, const std::vector<In>& in) {
    return Typed(op, in, 21, [](pb::NodeProto& node) { node.set_domain("com.microsoft"); });
  };
  const In x{{"n", 3}, pb::UINT8}, row{{3}, pb::UINT8}, w{{3, 4}, pb::INT8}, zero{{}, pb::UINT8}, scale{{}};
  EXPECT_EQ(typed("QLinearAdd", {x, scale, zero, row, scale, zero, scale, zero}), "u8[n, 3]");
  EXPECT_EQ(typed("QLinearMul", {row, scale, zero, x, scale, zero, scale}), "u8[n, 3]");
  EXPECT_EQ(typed("QLinearAdd", {x, scale, zero, w, scale, zero, scale}), "inputs of different types, u8[n, 3] and i8[3, 4]");
  EXPECT_EQ(typed("QLinearAdd", {x, scale, zero, {{2}, pb::UINT8}, scale, zero, scale}), "inputs u8[n, 3] and u8[2] do not broadcast");
  EXPECT_EQ(typed("QLinearMul", {x, {{3}}, zero, x, scale, zero, scale}), "input 1 is f32[3], wanted a scalar");
  EXPECT_EQ(typed("MatMulIntegerToFloat", {x, w, scale, {{4}}, zero, {{4}, pb::INT8}, {{4}}}), "f32[n, 4]");
  EXPECT_EQ(typed("MatMulIntegerToFloat", {x, w, scale, {{3}}}), "input 3 is f32[3], which does not go along i8[3, 4]");
  EXPECT_EQ(typed("MatMulIntegerToFloat", {x, w, scale, scale, zero, {{}, pb::INT8}, {{3}}}), "bias f32[3] for weights i8[3, 4]");
  EXPECT_EQ(typed("MatMulIntegerToFloat", {x, w, scale, {{}, pb::FLOAT16}}), "scale f16, wanted f32");
}

TEST(Elementwise, NothingWithoutASignIsNegatedOrRectified) {
  for (const char* op : {"Neg", "Relu"}) {
    EXPECT_EQ(Typed(op, {{{"n", 2}, pb::INT8}}), "i8[n, 2]") << op;
    EXPECT_EQ(Typed(op, {{{"n", 2}, pb::UINT8}}), "elements of type u8 are not supported here") << op;
    EXPECT_EQ(Typed(op, {{{"n", 2}, pb::UINT64}}), "elements of type u64 are not supported here") << op;
  }
}

TEST(RandomNumbers, HaveTheShapeThatIsWritten) {
  const auto drawn = [](const std::vector<int64_t>& shape, int64_t dtype) {
    return Typed("RandomNormal", {}, 21, [&](pb::NodeProto& node) {
      Builder::Ints(node, "shape", shape);
      Builder::Int(node, "dtype", dtype);
    });
  };
  EXPECT_EQ(drawn({2, 3}, pb::FLOAT16), "f16[2, 3]");
  EXPECT_EQ(drawn({2, 3}, pb::INT32), "random numbers of type i32, which is no float");
  EXPECT_EQ(drawn({-2}, pb::FLOAT), "a result of shape f32[-2]");
  EXPECT_EQ(drawn({1 << 20, 1 << 20}, pb::FLOAT), "a tensor f32[1048576, 1048576] is above the limit of 4294967296 bytes");
  EXPECT_EQ(drawn(std::vector<int64_t>(9, 1), pb::FLOAT), "a result of 9 axes, 8 are the most");
  EXPECT_EQ(drawn({1}, INT64_MAX), "elements of the type that `dtype` 9223372036854775807 is are not supported");
  EXPECT_EQ(Typed("RandomUniformLike", {{{"n", 2}}}), "f32[n, 2]");
  EXPECT_EQ(Typed("Bernoulli", {{{"n", 2}}}, 21, [](pb::NodeProto& node) { Builder::Int(node, "dtype", pb::BOOL); }), "bool[n, 2]");
  EXPECT_EQ(Typed("Multinomial", {{{"n", 2}}}, 21, [](pb::NodeProto& node) { Builder::Int(node, "sample_size", 4); }), "i32[n, 4]");
}

TEST(Bools, OfFilesBecomeZeroOrOne) {
  for (const bool raw : {false, true}) {
    for (const int64_t count : {4, 4000}) {  // the elements of large ones stay in the file
      Builder b;
      b.Input("x", {count > 4 ? 4000 : 4}, pb::BOOL).Output("y");
      pb::TensorProto& tensor = b.Tensor("w", {count}, pb::BOOL);
      std::string bytes(static_cast<size_t>(count), '\2');
      bytes[1] = '\0';
      if (raw) tensor.set_raw_data(bytes);
      for (int64_t i = 0; !raw && i < count; ++i) tensor.add_int32_data(i == 1 ? 0 : 256);
      b.Node("And", {"x", "w"}, {"y"});
      const auto model = b.Read();
      ASSERT_TRUE(model.ok()) << model.status().message();
      std::vector<uint8_t> read(static_cast<size_t>(count));
      ASSERT_TRUE(ReadElements(*model, model->graph.weight(0), read).ok());
      EXPECT_EQ((std::vector<uint8_t>(read.begin(), read.begin() + 4)), (std::vector<uint8_t>{1, 0, 1, 1})) << raw << count;
    }
  }
}

}  // namespace
}  // namespace wf::onnx
