// Shapes that depend on elements: what data computes is unknown, what shapes compute is followed.
#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "runtime/onnx/infer.h"
#include "tests/unit/runtime/onnx/builder.h"

namespace wf::onnx {
namespace {

using testing::Builder;
using Extents = Builder::Extents;

constexpr int kLong = pb::INT64, kBool = pb::BOOL;

// A node of x: f32[n, 4, 6], whose parameters i0, i1, ... are inputs of the model.
struct FromData {
  explicit FromData(const std::string& op, std::vector<Extents> in = {}, int64_t opset = 18) : builder(opset) {
    builder.Input("x", {"n", 4, 6}).Output("y");
    std::vector<std::string> names = {"x"};
    for (const Extents& shape : in) {
      names.push_back("i" + std::to_string(names.size() - 1));
      builder.Input(names.back(), shape, kLong);
    }
    node = &builder.Node(op, names, {"y"});
  }
  FromData& Int(const std::string& name, int64_t value) {
    Builder::Int(*node, name, value);
    return *this;
  }
  FromData& Longs(const std::vector<int64_t>& values) {
    const std::string name = "w" + std::to_string(node->input_size());
    builder.Longs(name, values);
    node->add_input(name);
    return *this;
  }
  std::string Result() {
    const auto model = builder.Read();
    return model.ok() ? model->signature.outputs[0].ToString().substr(3) : model.status().message();
  }
  Builder builder;
  pb::NodeProto* node;
};

TEST(InferFromData, ParametersComputedFromDataLeaveTheRank) {
  EXPECT_EQ(FromData("Reshape", {{2}}).Result(), "f32[_, _]");
  EXPECT_EQ(FromData("Slice", {{1}, {1}}).Longs({1}).Result(), "f32[n, _, 6]");
  EXPECT_EQ(FromData("Slice", {{1}, {1}}).Result(), "f32[_, 4, 6]");
  EXPECT_EQ(FromData("Slice", {{1}, {1}, {1}}).Result(), "f32[_, _, _]");
  EXPECT_EQ(FromData("Pad", {{6}}).Result(), "f32[_, _, _]");
  EXPECT_EQ(FromData("Squeeze", {{1}}).Result(), "f32[_, _]");
  EXPECT_EQ(FromData("Unsqueeze", {{1}}).Result(), "f32[_, _, _, _]");
  EXPECT_EQ(FromData("ReduceMean", {{2}}).Int("keepdims", 0).Result(), "f32[_]");
  EXPECT_EQ(FromData("ReduceMean", {{"k"}}).Result(), "f32[_, _, _]");
  EXPECT_EQ(FromData("Expand", {{4}}).Result(), "f32[_, _, 4, 6]");
  EXPECT_EQ(FromData("Tile", {{3}}).Result(), "f32[_, _, _]");
  EXPECT_EQ(FromData("TopK", {{1}}).Result(), "f32[n, 4, _]");
  EXPECT_EQ(FromData("Split", {{1}}).Int("axis", 1).Result(), "f32[n, _, 6]");
  EXPECT_EQ(FromData("CenterCropPad", {{3}}).Result(), "f32[_, _, _]");
  EXPECT_EQ(FromData("Trilu", {{}}).Result(), "f32[n, 4, 6]");
}

TEST(InferFromData, ARankThatDataDecidesIsRefused) {
  const std::string rank = "how many axes its result has is computed from data, which is not supported";
  EXPECT_EQ(FromData("Reshape", {{"k"}}).Result(), "`x.onnx`: node `n` (Reshape, ai.onnx opset 18): " + rank);
  EXPECT_EQ(FromData("Squeeze", {{"k"}}).Result(), "`x.onnx`: node `n` (Squeeze, ai.onnx opset 18): " + rank);
  EXPECT_EQ(FromData("Unsqueeze", {{"k"}}).Result(), "`x.onnx`: node `n` (Unsqueeze, ai.onnx opset 18): " + rank);
  EXPECT_EQ(FromData("Expand", {{"k"}}).Result(), "`x.onnx`: node `n` (Expand, ai.onnx opset 18): " + rank);
  EXPECT_EQ(FromData("ReduceMean", {{"k"}}).Int("keepdims", 0).Result(), "`x.onnx`: node `n` (ReduceMean, ai.onnx opset 18): " + rank);
}

TEST(InferFromData, WhatIsFoundIsOneUnknown) {
  Builder b;
  b.Input("x", {"n", 4}).Output("y").Output("counts");
  Builder::Int(b.Node("Unique", {"x"}, {"y", "", "", "counts"}), "axis", 1);
  const auto model = b.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  const auto known = InferShapes(model->graph, model->signature.inputs, "x.onnx");
  ASSERT_TRUE(known.ok());
  const auto& y = (*known)[static_cast<size_t>(model->graph.outputs[0])].dim;
  EXPECT_EQ(y[0].ToString(), "n");
  EXPECT_EQ(y[1], (*known)[static_cast<size_t>(model->graph.outputs[1])].dim[0]);
  EXPECT_FALSE(y[1].is_constant());
}

// expand(x, where(equal(s, -ones), ones, s)) of s = concat(shape(x)[0:1], [3, 4, 6]), as exporters write it.
TEST(InferFromData, ConditionsOnShapesAreDecided) {
  Builder b;
  b.Input("x", {"n", 1, 1, 6}).Output("y");
  Builder::Int(b.Node("Shape", {"x"}, {"rows"}), "end", 1);
  b.Longs("rest", {3, 4, -1});
  Builder::Int(b.Node("Concat", {"rows", "rest"}, {"s"}), "axis", 0);
  b.Longs("four", {4});
  pb::NodeProto& ones = b.Node("ConstantOfShape", {"four"}, {"ones"});
  pb::AttributeProto& value = *ones.add_attribute();
  value.set_name("value");
  value.set_type(pb::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(kLong);
  value.mutable_t()->add_dims(1);
  value.mutable_t()->add_int64_data(1);
  b.Longs("minus", {-1});
  b.Node("Mul", {"ones", "minus"}, {"negative"});
  b.Tensor("keep", {4}, kBool).set_raw_data(std::string("\0\0\0\1", 4));
  b.Node("Where", {"keep", "ones", "s"}, {"to"});
  b.Node("Expand", {"x", "to"}, {"y"});
  const auto model = b.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->signature.outputs[0].ToString(), "y: f32[n, 3, 4, 6]");
}

TEST(InferFromData, RangesAndSizesOfShapesAreFollowed) {
  Builder b;
  b.Input("x", {"n", "t"}).Output("y").Output("all");
  b.Node("Shape", {"x"}, {"s"});
  b.Tensor("one", {}, kLong).add_int64_data(1);
  b.Tensor("zero", {}, kLong).add_int64_data(0);
  b.Node("Gather", {"s", "one"}, {"t"});
  b.Node("Range", {"zero", "t", "one"}, {"y"});
  b.Node("Size", {"x"}, {"count"});
  b.Longs("minus", {-1});
  b.Node("Reshape", {"count", "minus"}, {"vector"});
  pb::NodeProto& fill = b.Node("ConstantOfShape", {"vector"}, {"all"});
  EXPECT_EQ(fill.attribute_size(), 0);
  const auto model = b.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->signature.outputs[0].ToString(), "y: i64[t]");
  EXPECT_EQ(model->signature.outputs[1].ToString(), "all: f32[n*t]");
}

TEST(InferFromData, MagnitudesOfExtentsAreFollowed) {
  Builder b;
  b.Input("x", {"n", 12}).Output("y");
  Builder::Int(b.Node("Shape", {"x"}, {"rows"}), "end", 1);
  b.Longs("minus", {-3});
  Builder::Int(b.Node("Concat", {"rows", "minus"}, {"signed"}), "axis", 0);
  b.Node("Abs", {"signed"}, {"to"});
  b.Tensor("one", {1, 1}, pb::FLOAT).add_float_data(1);
  b.Node("Expand", {"one", "to"}, {"y"});
  const auto model = b.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->signature.outputs[0].ToString(), "y: f32[n, 3]");
}

// x repeated as often as the extent of its axis, held between bounds, comes to.
TEST(InferFromData, ExtentsThatAreClippedAreFollowed) {
  const auto clipped = [](const std::string& op, const std::vector<std::string>& bounds, int extent) {
    Builder b;
    b.Input("x", {extent}).Output("y");
    b.Tensor("three", {}, pb::INT64).add_int64_data(3);
    b.Tensor("five", {}, pb::INT64).add_int64_data(5);
    b.Node("Shape", {"x"}, {"extents"});
    std::vector<std::string> in = {"extents"};
    in.insert(in.end(), bounds.begin(), bounds.end());
    b.Node(op, in, {"times"});
    b.Node("Tile", {"x", "times"}, {"y"});
    const auto model = b.Read();
    return model.ok() ? model->signature.outputs[0].ToString() : model.status().message();
  };
  EXPECT_EQ(clipped("Clip", {"three", "five"}, 2), "y: f32[6]");
  EXPECT_EQ(clipped("Clip", {"three", "five"}, 9), "y: f32[45]");
  EXPECT_EQ(clipped("Clip", {"three"}, 9), "y: f32[81]");
  EXPECT_EQ(clipped("Clip", {"", "five"}, 9), "y: f32[45]");
  EXPECT_EQ(clipped("Clip", {}, 4), "y: f32[16]");
  EXPECT_EQ(clipped("Sign", {}, 4), "y: f32[4]");
}

TEST(InferFromData, PartsKnownAndNotStandSideBySide) {
  Builder b;
  b.Input("x", {"n", 12}).Input("k", {1}, kLong).Output("y");
  Builder::Int(b.Node("Shape", {"x"}, {"rows"}), "end", 1);
  Builder::Int(b.Node("Concat", {"rows", "k"}, {"to"}), "axis", 0);
  b.Node("Reshape", {"x", "to"}, {"y"});
  const auto model = b.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->signature.outputs[0].ToString(), "y: f32[n, _]");
}

TEST(InferFromData, HostileParametersAreToldApart) {
  const auto told = [](FromData& of) {
    const std::string text = of.Result();
    return text.substr(std::min(text.size(), text.find("): ") + 3));
  };
  EXPECT_EQ(told(FromData("Tile").Longs({1, INT64_MAX, 1})), "9223372036854775807 repeats");
  EXPECT_EQ(told(FromData("TopK").Longs({7})), "the first 7 of axis 2 of f32[n, 4, 6]");
  EXPECT_EQ(told(FromData("TopK").Longs({-1})), "the first -1 of axis 2 of f32[n, 4, 6]");
  EXPECT_EQ(told(FromData("Split").Longs({-1})), "a part of extent -1");
  EXPECT_EQ(told(FromData("Split").Int("axis", 1).Longs({3})), "parts of 3 together for f32[n, 4, 6]");
  EXPECT_EQ(told(FromData("Expand").Longs({-1, 4, 6})), "an axis of extent -1");
  EXPECT_EQ(told(FromData("Unsqueeze").Longs({0, 0})), "axis 0 is added twice");
  EXPECT_EQ(told(FromData("CumSum").Longs({3})), "axis 3 of a tensor with 3 axes");
}

// An If in each branch, `depth` deep; the last ones compute out = Relu(x).
void AddIf(pb::GraphProto& graph, const std::string& out, int depth) {
  pb::NodeProto& node = Builder::Add(graph, "If", {"c"}, {out});
  for (const char* name : {"then_branch", "else_branch"}) {
    pb::GraphProto& branch = Builder::Body(node, name);
    const std::string inner = out + name[0];
    if (depth > 1) {
      AddIf(branch, inner, depth - 1);
    } else {
      Builder::Add(branch, "Relu", {"x"}, {inner});
    }
    branch.add_output()->set_name(inner);
  }
}

TEST(InferFromData, IfsInIfsTakeTimeWithTheirNumber) {
  Builder builder;
  builder.Input("x", {"n", 4}).Input("c", {}, kBool).Output("y");
  AddIf(builder.graph, "y", 14);  // 16,383 of them
  const std::clock_t start = std::clock();
  const auto model = builder.Read();
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->signature.outputs[0].ToString(), "y: f32[n, 4]");
  EXPECT_LT(seconds, 20);  // sanitized; were each walked for all that are around it, too, it would take minutes
}

// y = x with or without its axis, by `condition`.
void AddRanks(Builder& builder, const char* condition) {
  pb::NodeProto& node = builder.Node("If", {condition}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    pb::GraphProto& branch = Builder::Body(node, name);
    Builder::Add(branch, name[0] == 't' ? "Squeeze" : "Identity", {"x"}, {name});
    branch.add_output()->set_name(name);
  }
}

TEST(InferFromData, ABranchWithAnotherNumberOfAxesIsToldUnlessItIsKnownToBeTaken) {
  Builder open;
  open.Input("x", {1}).Input("c", {}, kBool).Output("y");
  AddRanks(open, "c");
  const auto refused = open.Read();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), base::kUnimplemented);
  EXPECT_TRUE(refused.status().message().ends_with(
      "(If, ai.onnx opset 17): a result is f32 on one way and f32[1] on another: how many axes it has, only a run tells"))
      << refused.status().message();
  for (const bool taken : {true, false}) {
    Builder known;
    known.Input("x", {1}).Output("y");
    known.Tensor("c", {}, kBool).add_int32_data(taken ? 1 : 0);
    AddRanks(known, "c");
    const auto model = known.Read();
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->signature.outputs[0].ToString(), taken ? "y: f32" : "y: f32[1]");
  }
}

}  // namespace
}  // namespace wf::onnx
