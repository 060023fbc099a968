#include "runtime/model/quantised.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <random>

#include "runtime/kernels/operation.h"
#include "runtime/model/walk.h"
#include "tests/unit/runtime/onnx/builder.h"

namespace wf::model {
namespace {

using testing::Builder;
namespace pb = onnx::pb;

// A model in which each tensor is quantised and dequantised again. Scales that are inputs of the graph are known to nobody beforehand, so
// such a model computes step by step what it says: in f32.
class Network {
 public:
  explicit Network(bool is_known) : is_known_(is_known) {}

  Builder builder;
  std::vector<Elements> given;  // behind x

  void Given(const std::string& name, uint8_t dtype, const std::vector<int64_t>& dim, const std::string& bytes) {
    const int type = dtype == WF_F32 ? int{pb::FLOAT} : dtype == WF_I32 ? int{pb::INT32} : dtype == WF_I8 ? int{pb::INT8} : int{pb::UINT8};
    if (is_known_) {
      builder.Tensor(name, dim, type).set_raw_data(bytes);
      return;
    }
    Builder::Extents extents;
    for (const int64_t each : dim) extents.emplace_back(static_cast<int>(each));
    builder.Input(name, extents, type);
    const auto memory = kernels::Allocate(static_cast<int64_t>(bytes.size()));
    std::memcpy(memory.get(), bytes.data(), bytes.size());
    given.push_back({{dtype, dim, nullptr, nullptr}, memory});
  }
  void Scales(const std::string& name, const std::vector<float>& scales) {
    Given(name, WF_F32, scales.size() == 1 ? std::vector<int64_t>{} : std::vector<int64_t>{static_cast<int64_t>(scales.size())},
          {reinterpret_cast<const char*>(scales.data()), 4 * scales.size()});
  }

  // value -> its integers `value`_q -> `value`_d
  std::string Quantised(const std::string& value, float scale, int zero, uint8_t dtype) {
    const auto byte = static_cast<char>(zero);
    Scales(value + "_s", {scale});
    Given(value + "_z", dtype, {}, {&byte, 1});
    builder.Node("QuantizeLinear", {value, value + "_s", value + "_z"}, {value + "_q"});
    builder.Node("DequantizeLinear", {value + "_q", value + "_s", value + "_z"}, {value + "_d"});
    return value + "_d";
  }
  // Behind an operator that computes no new numbers.
  std::string QuantisedAs(const std::string& value, const std::string& other) {
    builder.Node("QuantizeLinear", {value, other + "_s", other + "_z"}, {value + "_q"});
    builder.Node("DequantizeLinear", {value + "_q", other + "_s", other + "_z"}, {value + "_d"});
    return value + "_d";
  }

  // Weights with a scale for each result, and a bias.
  std::vector<std::string> Weights(const std::string& name, const std::vector<int64_t>& dim, size_t axis, float x_scale) {
    int64_t count = 1;
    for (const int64_t each : dim) count *= each;
    std::string bytes(static_cast<size_t>(count), 0), bias;
    for (char& each : bytes) each = static_cast<char>(std::uniform_int_distribution<int>(-127, 127)(dice_));
    std::vector<float> scales, of_bias;
    for (int64_t i = 0; i < dim[axis]; ++i) {
      scales.push_back(std::uniform_real_distribution<float>(0.5f, 2)(dice_) / 127 / std::sqrt(static_cast<float>(count / dim[axis])));
      of_bias.push_back(scales.back() * x_scale);
      const int32_t whole = std::uniform_int_distribution<int32_t>(-3000, 3000)(dice_);
      bias.append(reinterpret_cast<const char*>(&whole), 4);
    }
    Given(name + "_q", WF_I8, dim, bytes);
    Scales(name + "_s", scales);
    Builder::Int(builder.Node("DequantizeLinear", {name + "_q", name + "_s"}, {name}), "axis", static_cast<int64_t>(axis));
    Given(name + "_bias_q", WF_I32, {dim[axis]}, bias);
    Scales(name + "_bias_s", of_bias);
    Builder::Int(builder.Node("DequantizeLinear", {name + "_bias_q", name + "_bias_s"}, {name + "_bias"}), "axis", 0);
    return {name, name + "_bias"};
  }

 private:
  const bool is_known_;
  std::mt19937 dice_{7};
};

// Convolutions, of which one leads around the others, pooling, a product.
Network MakeCnn(bool is_known, uint8_t dtype) {
  Network n(is_known);
  const int zero = dtype == WF_U8 ? 0 : -128, middle = dtype == WF_U8 ? 120 : -5;
  const auto conv = [&](const std::string& x, const std::vector<int64_t>& w, const std::string& y, float x_scale, int64_t pad,
                        int64_t stride) {
    const auto weights = n.Weights("w_" + y, w, 0, x_scale);
    auto& node = n.builder.Node("Conv", {x, weights[0], weights[1]}, {y});
    Builder::Ints(node, "pads", {pad, pad, pad, pad});
    Builder::Ints(node, "strides", {stride, stride});
  };
  n.builder.Input("x", {2, 3, 12, 12});
  conv(n.Quantised("x", 0.01f, middle, dtype), {16, 3, 3, 3}, "c1", 0.01f, 1, 1);
  n.builder.Node("Relu", {"c1"}, {"r1"});
  const std::string first = n.Quantised("r1", 0.015f, zero, dtype);
  conv(first, {16, 16, 3, 3}, "c2", 0.015f, 1, 1);
  n.builder.Node("Relu", {"c2"}, {"r2"});
  conv(n.Quantised("r2", 0.02f, middle, dtype), {16, 16, 1, 1}, "c3", 0.02f, 0, 1);
  n.builder.Node("Add", {first, n.Quantised("c3", 0.02f, middle, dtype)}, {"sum"});
  n.builder.Node("Relu", {"sum"}, {"r3"});
  Builder::Ints(n.builder.Node("MaxPool", {n.Quantised("r3", 0.03f, zero, dtype)}, {"pooled"}), "kernel_shape", {2, 2});
  const std::string pooled = n.QuantisedAs("pooled", "r3");
  n.builder.Node("GlobalAveragePool", {pooled}, {"mean"});
  n.builder.Node("Flatten", {n.Quantised("mean", 0.01f, zero, dtype)}, {"flat"});
  const std::string flat = n.QuantisedAs("flat", "mean");
  const auto weights = n.Weights("w_gemm", {10, 16}, 0, 0.01f);
  Builder::Int(n.builder.Node("Gemm", {flat, weights[0], weights[1]}, {"g"}), "transB", 1);
  n.Quantised("g", 0.02f, middle, dtype);
  n.builder.Output("g_d");
  n.builder.Output("c3_q", {2, 16, 12, 12}, dtype == WF_U8 ? pb::UINT8 : pb::INT8);
  return n;
}

struct Ran {
  std::map<std::string, int> operators;
  std::vector<float> y;
  std::vector<uint8_t> inside;
};

Ran RunOf(Network network, const Elements& x) {
  kernels::UseOneThread();
  auto read = network.builder.Read();
  WF_CHECK(read.ok(), read.status().message());
  auto program = Optimise(std::make_shared<onnx::Model>(*std::move(read)));
  WF_CHECK(program.ok(), program.status().message());
  Ran ran;
  for (const onnx::Node& node : program->graph.nodes) {
    const std::string name = node.Describe();
    ++ran.operators[name.substr(name.find('('))];
  }
  Budget budget(nullptr, 1000);
  budget.Begin(INT64_MAX, nullptr);
  Walk walk(*program, PartLimits{int64_t{1} << 24, &budget});
  std::vector<Elements> inputs = {x};
  for (const Elements& each : network.given) inputs.push_back(each);
  const base::Status status = walk.Run(inputs);
  WF_CHECK(status.ok(), status.message());
  const std::vector<Elements> outputs = walk.outputs();
  const Elements &y = outputs[0], &inside = outputs[1];
  const auto* numbers = reinterpret_cast<const float*>(y.data.get());
  ran.y.assign(numbers, numbers + y.info.count());
  ran.inside.assign(inside.data.get(), inside.data.get() + inside.info.count());
  return ran;
}

Elements Given(std::vector<int64_t> dim, const std::vector<float>& values) {
  const auto memory = kernels::Allocate(static_cast<int64_t>(values.size() * sizeof(float)));
  std::memcpy(memory.get(), values.data(), values.size() * sizeof(float));
  return {{WF_F32, std::move(dim), nullptr, nullptr}, memory};
}

Elements Image() {
  std::vector<float> values(2 * 3 * 144);
  std::mt19937 dice(3);
  for (float& each : values) each = std::uniform_real_distribution<float>(-1, 1)(dice);
  return Given({2, 3, 12, 12}, values);
}

void ExpectIntegersThroughout(uint8_t dtype) {
  const Elements x = Image();
  const Ran is = RunOf(MakeCnn(true, dtype), x), want = RunOf(MakeCnn(false, dtype), x);
  EXPECT_EQ(want.operators.count("(QLinearConv)"), 0U);
  ASSERT_EQ(is.y.size(), want.y.size());
  float largest = 0, far = 0;
  for (size_t i = 0; i < is.y.size(); ++i) {
    largest = std::max(largest, std::abs(want.y[i]));
    far = std::max(far, std::abs(is.y[i] - want.y[i]));
  }
  EXPECT_GT(largest, 0.2f) << "the numbers say nothing";
  EXPECT_LE(far, 0.0401f) << "more than two levels, behind seven roundings";
  int off = 0;
  for (size_t i = 0; i < is.inside.size(); ++i) off = std::max(off, std::abs(int{is.inside[i]} - int{want.inside[i]}));
  EXPECT_LE(off, 1);
  if (!kernels::MultipliesBytes()) return;
  EXPECT_EQ(is.operators, (std::map<std::string, int>{{"(QuantizeLinear)", 2},
                                                      {"(QLinearConv)", 3},
                                                      {"(QLinearAdd)", 1},
                                                      {"(MaxPool)", 1},
                                                      {"(DequantizeLinear)", 2},
                                                      {"(GlobalAveragePool)", 1},
                                                      {"(Flatten)", 1},
                                                      {"(QLinearMatMul)", 1}}));
}

TEST(Quantised, ANetworkOfUnsignedNumbersStaysIntegers) { ExpectIntegersThroughout(WF_U8); }
TEST(Quantised, ANetworkOfSignedNumbersStaysIntegers) { ExpectIntegersThroughout(WF_I8); }

// The operators that are left of x [2, 4] -> y.
std::string Left(const std::function<void(Network&)>& add) {
  Network n(true);
  n.builder.Input("x", {2, 4});
  add(n);
  auto read = n.builder.Read();
  WF_CHECK(read.ok(), read.status().message());
  const auto made = Optimise(std::make_shared<onnx::Model>(*std::move(read)));
  WF_CHECK(made.ok(), made.status().message());
  std::string text;
  for (const onnx::Node& node : made->graph.nodes) {
    const std::string name = node.Describe();
    text += name.substr(name.find('('));
  }
  return text;
}

TEST(Quantised, WhatIsNotQuantisedAllAroundStaysF32) {
  if (!kernels::MultipliesBytes()) return;
  const auto product = [](Network& n, bool quantised) {
    const auto weights = n.Weights("w", {4, 3}, 1, 0.1f);
    n.builder.Node("MatMul", {n.Quantised("x", 0.1f, 3, WF_U8), weights[0]}, {"p"});
    n.builder.Output(quantised ? n.Quantised("p", 0.1f, 3, WF_U8) : "p");
  };
  EXPECT_EQ(Left([&](Network& n) { product(n, true); }), "(QuantizeLinear)(QLinearMatMul)(DequantizeLinear)");
  EXPECT_EQ(Left([&](Network& n) { product(n, false); }), "(QuantizeLinear)(DequantizeLinear)(MatMul)");
  EXPECT_EQ(Left([&](Network& n) {
              product(n, true);
              n.builder.Output("p");
            }),
            "(QuantizeLinear)(DequantizeLinear)(MatMul)(QuantizeLinear)(DequantizeLinear)")
      << "the sum itself is a result";
}

TEST(Quantised, AProductWithWhatIsQuantisedInTheRunIsJoinedToItsScales) {
  const auto product = [](bool is_known) {
    Network n(is_known);
    n.builder.Input("x", {2, 40});
    std::string bytes;
    for (int i = 0; i < 40 * 3; ++i) bytes += static_cast<char>(i * 37 % 251 - 125);
    n.Given("w", WF_I8, {40, 3}, bytes);
    n.Scales("ws", {0.01f, 0.02f, 0.03f});
    n.Scales("bias", {1, -2, 3});
    n.builder.Node("DynamicQuantizeLinear", {"x"}, {"q", "s", "z"});
    n.builder.Node("MatMulInteger", {"q", "w", "z"}, {"sums"});
    Builder::Int(n.builder.Node("Cast", {"sums"}, {"wide"}), "to", pb::FLOAT);
    n.builder.Node("Mul", {"s", "ws"}, {"both"});
    n.builder.Node("Mul", {"wide", "both"}, {"scaled"});
    n.builder.Node("Add", {"bias", "scaled"}, {"y"});
    n.builder.Output("y").Output("q", {2, 40}, pb::UINT8);
    return n;
  };
  std::vector<float> values(80);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 29 % 83) / 40 - 1;
  const Elements x = Given({2, 40}, values);
  const Ran is = RunOf(product(true), x), want = RunOf(product(false), x);
  for (size_t i = 0; i < want.y.size(); ++i) EXPECT_NEAR(is.y[i], want.y[i], 1e-5f * (1 + std::abs(want.y[i])));
  if (!kernels::MultipliesBytes()) return;
  EXPECT_EQ(is.operators, (std::map<std::string, int>{{"(DynamicQuantizeLinear)", 1}, {"(MatMulIntegerToFloat)", 1}}));
}

TEST(Quantised, WeightsThatAreTooManyAsF32StayIntegers) {
  Network n(true);
  const auto weights = n.Weights("w", {4, 3}, 1, 0.1f);
  n.builder.Input("x", {2, 4}).Output("y");
  n.builder.Node("MatMul", {"x", weights[0]}, {"y"});
  auto read = n.builder.Read();
  WF_CHECK(read.ok(), read.status().message());
  const auto made = Optimise(std::make_shared<onnx::Model>(*std::move(read)), 40);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_EQ(made->graph.nodes.size(), 2U);
}

TEST(Quantised, ElementsThatMoveBecomeNoOthers) {
  if (!kernels::MultipliesBytes()) return;
  const auto turned = [](Network& n, bool same) {
    n.builder.Node("Transpose", {n.Quantised("x", 0.1f, 3, WF_U8)}, {"t"});
    n.builder.Output(same ? n.QuantisedAs("t", "x") : n.Quantised("t", 0.2f, 3, WF_U8));
  };
  EXPECT_EQ(Left([&](Network& n) { turned(n, true); }), "(QuantizeLinear)(Transpose)(DequantizeLinear)");
  EXPECT_EQ(Left([&](Network& n) { turned(n, false); }), "(QuantizeLinear)(DequantizeLinear)(Transpose)(QuantizeLinear)(DequantizeLinear)");
}

}  // namespace
}  // namespace wf::model
