// What files write out as several nodes, joined into one.
#include "runtime/model/patterns.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/unit/runtime/onnx/builder.h"

namespace wf::model {
namespace {

using testing::Builder;

// The operators that are left of the model.
std::string OperatorsOf(Builder& b) {
  auto read = b.Read();
  WF_CHECK(read.ok(), read.status().message());
  const auto made = Optimise(std::make_shared<onnx::Model>(*std::move(read)));
  WF_CHECK(made.ok(), made.status().message());
  std::string text;
  for (const onnx::Node& node : made->graph.nodes) {
    const std::string name = node.Label();
    text += name.substr(name.find('('));
  }
  return text;
}

// The operators that are left of a model of x [2, 3] -> y, with these constants.
std::string Left(const std::function<void(Builder&)>& add) {
  Builder b;
  b.Input("x", {2, 3}).Output("y");
  constexpr std::pair<const char*, float> kNumbers[] = {
      {"root", 1.41421354F}, {"inverse", 0.707106769F}, {"half", 0.5F}, {"one", 1.0F}, {"two", 2.0F}};
  for (const auto& [name, value] : kNumbers) Builder::SetFloats(b.Floats(name, {}, 1), {value});
  add(b);
  return OperatorsOf(b);
}

// Processors take a hundred times as long where products of small numbers are no normal floats any more.
TEST(Constants, AProductOfTinyNumbersIsAStepOfEachRunSooner) {
  const auto left = [](float value, int extent) {
    Builder b;
    b.Input("x", {1, extent}).Output("y");
    b.Longs("dim", {extent, extent});
    onnx::pb::AttributeProto& fill = *b.Node("ConstantOfShape", {"dim"}, {"w"}).add_attribute();
    fill.set_name("value");
    fill.set_type(onnx::pb::AttributeProto::TENSOR);
    fill.mutable_t()->set_data_type(onnx::pb::FLOAT);
    fill.mutable_t()->add_dims(1);
    fill.mutable_t()->add_float_data(value);
    b.Node("MatMul", {"w", "w"}, {"v"});
    b.Node("Add", {"x", "v"}, {"y"});
    return OperatorsOf(b);
  };
  EXPECT_EQ(left(0.5F, 512), "(Add)");
  EXPECT_EQ(left(1e-10F, 512), "(Add)");
  EXPECT_EQ(left(0, 512), "(Add)");
  EXPECT_EQ(left(1e-20F, 512), "(MatMul)(Add)");
  EXPECT_EQ(left(1e-40F, 512), "(MatMul)(Add)");
  EXPECT_EQ(left(1e-40F, 64), "(Add)");
}

struct Step {
  const char* op;
  std::vector<std::string> in;
  const char* out;
};

std::string LeftOf(const std::vector<Step>& steps) {
  return Left([&](Builder& b) {
    for (const auto& [op, in, out] : steps) b.Node(op, in, {out});
  });
}

TEST(Patterns, GeluByErfInEachOrder) {
  const Step d{"Div", {"x", "root"}, "d"}, e{"Erf", {"d"}, "e"}, a{"Add", {"e", "one"}, "a"};
  EXPECT_EQ(LeftOf({d, e, a, {"Mul", {"x", "a"}, "m"}, {"Mul", {"m", "half"}, "y"}}), "(Gelu)");
  EXPECT_EQ(LeftOf({d, e, a, {"Mul", {"half", "a"}, "m"}, {"Mul", {"m", "x"}, "y"}}), "(Gelu)");
  const Step h{"Mul", {"x", "half"}, "h"}, by_inverse{"Mul", {"inverse", "x"}, "d"};
  EXPECT_EQ(LeftOf({h, by_inverse, e, {"Add", {"one", "e"}, "a"}, {"Mul", {"h", "a"}, "y"}}), "(Gelu)");
}

// `x / [root]` has an axis where x has none.
TEST(Patterns, GeluOfAScalarByNumbersWithAnAxisStaysAsItIs) {
  Builder b;
  b.Input("x", {}).Output("y");
  for (const auto& [name, value] : {std::pair{"root", 1.41421354F}, {"half", 0.5F}, {"one", 1.0F}})
    Builder::SetFloats(b.Floats(name, {1}, 1), {value});
  b.Node("Div", {"x", "root"}, {"d"});
  b.Node("Erf", {"d"}, {"e"});
  b.Node("Add", {"e", "one"}, {"a"});
  b.Node("Mul", {"x", "a"}, {"m"});
  b.Node("Mul", {"m", "half"}, {"y"});
  EXPECT_EQ(OperatorsOf(b), "(Div)(Erf)(Add)(Mul)(Mul)");
}

TEST(Patterns, NearlyGeluStaysAsItIs) {
  const Step d{"Div", {"x", "root"}, "d"}, e{"Erf", {"d"}, "e"}, m{"Mul", {"x", "a"}, "m"}, y{"Mul", {"m", "half"}, "y"};
  EXPECT_EQ(LeftOf({d, e, {"Add", {"e", "two"}, "a"}, m, y}), "(Div)(Erf)(Add)(Mul)(Mul)");
  const auto and_a_step = [&](Builder& b) {
    b.Output("e");
    for (const auto& [op, in, out] : {d, e, Step{"Add", {"e", "one"}, "a"}, m, y}) b.Node(op, in, {out});
  };
  EXPECT_EQ(Left(and_a_step), "(Div)(Erf)(Add)(Mul)(Mul)") << "a step of it is a result";
}

TEST(Patterns, SwishAndAScaledProduct) {
  EXPECT_EQ(LeftOf({{"Sigmoid", {"x"}, "s"}, {"Mul", {"s", "x"}, "y"}}), "(QuickGelu)");
  EXPECT_EQ(LeftOf({{"Transpose", {"x"}, "t"}, {"MatMul", {"x", "t"}, "p"}, {"Div", {"p", "two"}, "y"}}), "(Transpose)(FusedMatMul)");
}

enum class Change : uint8_t { kNone, kNoMask, kMaskOfPairs, kKeysApart, kWeightsAreAResult, kAxis, kSharedKeys };

// The operators that are left of self-attention of [2, 3, 8] with two heads.
std::string LeftOfAttention(Change change) {
  Builder b;
  b.Input("x", {2, 3, 8}).Input("m", {change == Change::kMaskOfPairs ? 2 : 1, 1, change == Change::kMaskOfPairs ? 3 : 1, 3}).Output("y");
  Builder::SetFloats(b.Floats("two", {}, 1), {2});
  b.Longs("heads", {0, 0, 2, 4});
  b.Longs("rows", {0, 0, 8});
  const auto turn = [&](const std::string& in, const std::string& out, const std::vector<int64_t>& perm) {
    Builder::Ints(b.Node("Transpose", {in}, {out}), "perm", perm);
  };
  for (const std::string name : {"q", "k", "v"}) {
    b.Node("Relu", {"x"}, {name + "0"});
    b.Node("Reshape", {name + "0", "heads"}, {name + "1"});
  }
  turn("q1", "q", {0, 2, 1, 3});
  if (change == Change::kKeysApart) {
    turn("k1", "k2", {0, 2, 1, 3});
    turn("k2", "k", {0, 1, 3, 2});
  } else {
    turn("k1", "k", {0, 2, 3, 1});
  }
  turn("v1", "v", {0, 2, 1, 3});
  b.Node("MatMul", {"q", "k"}, {"p"});
  b.Node("Div", {"p", "two"}, {"s"});
  if (change != Change::kNoMask) b.Node("Add", {"s", "m"}, {"a"});
  auto& softmax = b.Node("Softmax", {change == Change::kNoMask ? "s" : "a"}, {"w"});
  Builder::Int(softmax, "axis", change == Change::kAxis ? 2 : -1);
  b.Node("MatMul", {"w", "v"}, {"o"});
  turn("o", "t", {0, 2, 1, 3});
  b.Node("Reshape", {"t", "rows"}, {"y"});
  if (change == Change::kWeightsAreAResult) b.Output("w");
  if (change == Change::kSharedKeys) b.Output("k");
  return OperatorsOf(b);
}

TEST(Patterns, AttentionThatIsWrittenOut) {
  constexpr const char* kJoined = "(Relu)(Relu)(Relu)(MultiHeadAttention)";
  EXPECT_EQ(LeftOfAttention(Change::kNone), kJoined);
  EXPECT_EQ(LeftOfAttention(Change::kNoMask), kJoined);
  EXPECT_EQ(LeftOfAttention(Change::kMaskOfPairs), kJoined);
  EXPECT_EQ(LeftOfAttention(Change::kSharedKeys), "(Relu)(Relu)(Reshape)(Relu)(Transpose)(MultiHeadAttention)")
      << "who else reads them has them";
}

TEST(Patterns, NearlyAttentionStaysAsItIs) {
  for (const Change change : {Change::kKeysApart, Change::kWeightsAreAResult, Change::kAxis})
    EXPECT_NE(LeftOfAttention(change).find("(Softmax)"), std::string::npos) << static_cast<int>(change);
}

TEST(Patterns, ASumIsNormalisedWhereItIsMade) {
  const auto left = [](bool read_before, bool broadcasts) {
    Builder b;
    b.Input("x", {2, 3, 4}).Output("y");
    for (const char* each : {"scale", "shift"}) b.Floats(each, {4}, 4);
    b.Floats("w", broadcasts ? std::vector<int64_t>{4} : std::vector<int64_t>{2, 3, 4}, broadcasts ? 4 : 24);
    b.Node("Add", {"x", "w"}, {"sum"});
    if (read_before) b.Node("Relu", {"sum"}, {"early"});
    b.Node("LayerNormalization", {"sum", "scale", "shift"}, {"normal"});
    b.Node("Add", {"normal", read_before ? "early" : "sum"}, {"y"});
    return OperatorsOf(b);
  };
  EXPECT_EQ(left(false, false), "(SkipLayerNormalization)(Add)");
  EXPECT_EQ(left(true, false), "(Add)(Relu)(LayerNormalization)(Add)") << "it is wanted before";
  EXPECT_EQ(left(false, true), "(Add)(LayerNormalization)(Add)");
}

TEST(Patterns, ATransposedConvolutionTakesWhatFollows) {
  Builder b;
  b.Input("x", {1, 2, 3, 3}).Output("y");
  b.Floats("w", {2, 4, 2, 2}, 32);
  for (const char* each : {"scale", "shift", "mean", "variance"}) b.Floats(each, {4}, 4);
  Builder::Ints(b.Node("ConvTranspose", {"x", "w"}, {"up"}), "strides", {2, 2});
  b.Node("BatchNormalization", {"up", "scale", "shift", "mean", "variance"}, {"normal"});
  b.Node("Relu", {"normal"}, {"y"});
  EXPECT_EQ(OperatorsOf(b), "(ConvTranspose)");
}

TEST(Patterns, TheLaterOfTwoConvolutionsTakesTheirSum) {
  const auto left = [](bool broadcasts) {
    Builder b;
    b.Input("x", {1, 2, 4}).Output("y");
    b.Floats("v", {2, 2, 1}, 4);
    b.Floats("w", broadcasts ? std::vector<int64_t>{1, 2, 1} : std::vector<int64_t>{2, 2, 1}, broadcasts ? 2 : 4);
    b.Node("Conv", {"x", "v"}, {"first"});
    b.Node("Conv", {"x", "w"}, {"second"});
    b.Node("Add", {"first", "second"}, {"sum"});
    b.Node("Relu", {"sum"}, {"y"});
    auto read = b.Read();
    WF_CHECK(read.ok(), read.status().message());
    auto made = Optimise(std::make_shared<onnx::Model>(*std::move(read)));
    WF_CHECK(made.ok(), made.status().message());
    return *std::move(made);
  };
  const Program joined = left(false);
  ASSERT_EQ(joined.graph.nodes.size(), 2U);
  EXPECT_EQ(joined.graph.nodes[1].in.size(), 4U);
  EXPECT_EQ(joined.then[1].op, kernels::UnaryOp::kRelu);
  EXPECT_EQ(left(true).graph.nodes.size(), 4U) << "of another shape";
}

}  // namespace
}  // namespace wf::model
