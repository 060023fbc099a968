// What files write out as several nodes, joined into one.
#include "runtime/model/patterns.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/unit/runtime/onnx/builder.h"

namespace wf::model {
namespace {

using testing::Builder;

// The operators that are left of a model of x [2, 3] -> y, with these constants.
std::string Left(const std::function<void(Builder&)>& add) {
  Builder b;
  b.Input("x", {2, 3}).Output("y");
  constexpr std::pair<const char*, float> kNumbers[] = {
      {"root", 1.41421354F}, {"inverse", 0.707106769F}, {"half", 0.5F}, {"one", 1.0F}, {"two", 2.0F}};
  for (const auto& [name, value] : kNumbers) Builder::SetFloats(b.Floats(name, {}, 1), {value});
  add(b);
  auto read = b.Read();
  WF_CHECK(read.ok(), read.status().message());
  const auto made = Optimise(std::make_shared<const onnx::Model>(*std::move(read)));
  WF_CHECK(made.ok(), made.status().message());
  std::string text;
  for (const onnx::Node& node : made->graph.nodes) {
    const std::string name = node.Describe();
    text += name.substr(name.find('('));
  }
  return text;
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
    auto made = Optimise(std::make_shared<const onnx::Model>(*std::move(read)));
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
