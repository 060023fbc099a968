#include "runtime/onnx/upgrade.h"

#include <gtest/gtest.h>

#include "tests/unit/runtime/onnx/builder.h"

namespace wf::onnx {
namespace {

using testing::Builder;

pb::AttributeProto& Float(pb::NodeProto& node, const std::string& name, float value) {
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(pb::AttributeProto::FLOAT);
  attribute.set_f(value);
  return attribute;
}

// A model of one node from x to y.
struct Old {
  Old(const std::string& op, int64_t opset, const Builder::Extents& x = {"n", 4}) : builder(opset) {
    builder.Input("x", x).Output("y");
    node = &builder.Node(op, {"x"}, {"y"});
  }
  Node Read() {
    auto model = builder.Read();
    EXPECT_TRUE(model.ok()) << model.status().message();
    return model.ok() ? model->graph.nodes.back() : Node();
  }
  std::string Shape() {
    auto model = builder.Read();
    return model.ok() ? model->signature.outputs[0].ToString() : model.status().message();
  }
  Builder builder;
  pb::NodeProto* node;
};

TEST(Upgrade, NodesAreOfOpset7) {
  Old old("Relu", 1);
  Builder::Ints(*old.node, "consumed_inputs", {0});
  const Node node = old.Read();
  EXPECT_EQ(node.opset, 7);
  EXPECT_TRUE(node.attributes.empty());
  Old late("Relu", 6);
  Builder::Ints(*late.node, "consumed_inputs", {0});
  EXPECT_EQ(late.builder.Error(), "`x.onnx`: node `n` (Relu, ai.onnx opset 6): attribute `consumed_inputs` is not supported");
}

TEST(Upgrade, DefaultsThatChangedAreWrittenOut) {
  Old selu("Selu", 1);
  EXPECT_EQ(selu.Read().Float("alpha", 0), 1.6732f);
  Old exact("Selu", 6);
  EXPECT_EQ(exact.Read().Find("alpha"), nullptr);
  Old concat("Concat", 1);
  EXPECT_EQ(concat.Read().Int("axis", 0), 1);
}

TEST(Upgrade, TypesByName) {
  Old cast("Cast", 1);
  Builder::String(*cast.node, "to", "INT64");
  EXPECT_EQ(cast.Shape(), "y: i64[n, 4]");
  Old unknown("Cast", 1);
  Builder::String(*unknown.node, "to", "FLOAT99");
  EXPECT_NE(unknown.builder.Error().find("node `n` (Cast, "), std::string::npos) << unknown.builder.Error();
  Old number("Cast", 1);
  Builder::Int(*number.node, "to", 7);
  EXPECT_EQ(number.builder.Error(), "`x.onnx`: node `n` (Cast, ai.onnx opset 1): `to` is not the name of a type");
}

TEST(Upgrade, AttributesThatBecameInputsOrOtherNames) {
  Old reshape("Reshape", 1);
  Builder::Ints(*reshape.node, "shape", {-1, 2, 2});
  EXPECT_EQ(reshape.Shape(), "y: f32[n, 2, 2]");
  EXPECT_EQ(Old("Reshape", 1).builder.Error(), "`x.onnx`: node `n` (Reshape, ai.onnx opset 1): wanted one input and a `shape`");
  Old pad("Pad", 1);
  Builder::Ints(*pad.node, "paddings", {0, 1, 0, 1});
  EXPECT_EQ(pad.Shape(), "y: f32[n, 6]");
  Old upsample("Upsample", 1, {1, 1, 2, 2});
  Float(*upsample.node, "height_scale", 2);
  Float(*upsample.node, "width_scale", 3);
  Builder::String(*upsample.node, "mode", "bilinear");
  EXPECT_EQ(upsample.Shape(), "y: f32[1, 1, 4, 6]");
  Old norm("GlobalLpPool", 1, {1, 2, 3});
  Float(*norm.node, "p", 3);
  EXPECT_EQ(norm.Read().Int("p", 0), 3);
  norm.node->mutable_attribute(0)->set_f(1.5f);
  EXPECT_EQ(norm.builder.Error(), "`x.onnx`: node `n` (GlobalLpPool, ai.onnx opset 1): a norm of p 1.5 is not supported");
}

TEST(Upgrade, TrainingIsRefused) {
  Old dropout("Dropout", 6);
  Builder::Int(*dropout.node, "is_test", 1);
  EXPECT_EQ(dropout.Shape(), "y: f32[n, 4]");
  dropout.node->mutable_attribute(0)->set_i(0);
  EXPECT_EQ(dropout.builder.Error(), "`x.onnx`: node `n` (Dropout, ai.onnx opset 6): training, is_test 0, is not supported before opset 7");
}

TEST(Upgrade, BroadcastsLieUnderTheirAxis) {
  for (const auto& [axis, shape] : {std::pair(1, std::vector<int64_t>{3}), {1, {3, 4}}, {2, {4, 5}}, {0, {2, 3, 4, 5}}, {3, {5}}}) {
    Old add("Add", 6, {2, 3, 4, 5});
    add.node->add_input("b");
    size_t count = 1;
    for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
    add.builder.Floats("b", shape, count);
    Builder::Int(*add.node, "broadcast", 1);
    Builder::Int(*add.node, "axis", axis);
    EXPECT_EQ(add.Shape(), "y: f32[2, 3, 4, 5]") << axis;
  }
  Old wrong("Mul", 6, {2, 3, 4, 5});
  wrong.node->add_input("b");
  wrong.builder.Floats("b", {4}, 4);
  Builder::Int(*wrong.node, "broadcast", 1);
  Builder::Int(*wrong.node, "axis", 1);
  EXPECT_NE(wrong.builder.Error().find("(Mul, ai.onnx opset 6)"), std::string::npos) << wrong.builder.Error();
  wrong.node->mutable_attribute(1)->set_i(-1);
  EXPECT_EQ(wrong.builder.Error(), "`x.onnx`: node `n` (Mul, ai.onnx opset 6): axis -1, wanted 0 to 8");
}

TEST(Upgrade, ASlopeIsOfChannels) {
  Old prelu("PRelu", 6, {"n", 3, 5, 5});
  prelu.node->add_input("slope");
  prelu.builder.Floats("slope", {3}, 3);
  EXPECT_EQ(prelu.Shape(), "y: f32[n, 3, 5, 5]");
}

// An old Scan from x: f32[b, 3, 2] with the sum so far, f32[b, 2].
pb::NodeProto& AddScan(Builder& b) {
  b.Input("sum", {"b", 2}).Input("x", {"b", 3, 2}).Output("last").Output("all");
  pb::NodeProto& node = b.Node("Scan", {"", "sum", "x"}, {"last", "all"});
  Builder::Int(node, "num_scan_inputs", 1);
  pb::GraphProto& body = Builder::Body(node, "body");
  for (const char* in : {"s", "e"}) body.add_input()->set_name(in);
  for (const char* out : {"t", "u"}) body.add_output()->set_name(out);
  Builder::Add(body, "Add", {"s", "e"}, {"t"});
  Builder::Add(body, "Mul", {"t", "e"}, {"u"});
  return node;
}

TEST(Upgrade, AScanOfABatchIsAScanOfScans) {
  Builder b(8);
  pb::NodeProto& node = AddScan(b);
  const auto model = b.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->signature.outputs[0].ToString(), "last: f32[b, 2]");
  EXPECT_EQ(model->signature.outputs[1].ToString(), "all: f32[b, 3, 2]");
  node.set_input(0, "x");
  EXPECT_EQ(b.Error(), "`x.onnx`: node `n` (Scan, ai.onnx opset 8): lengths of sequences are not supported before opset 9");
}

TEST(Upgrade, AnOldScanWithinABodyIsRefused) {
  Builder b(8);
  b.Input("c", {}, pb::BOOL).Output("y");
  pb::NodeProto& branch = b.Node("If", {"c"}, {"y"}, "if");
  for (const char* name : {"then_branch", "else_branch"}) {
    pb::GraphProto& body = Builder::Body(branch, name);
    Builder::Add(body, "Scan", {"c"}, {"z"});
    body.add_output()->set_name("z");
  }
  EXPECT_NE(b.Error().find("(Scan, ai.onnx opset 8): within a body it is not supported"), std::string::npos) << b.Error();
}

}  // namespace
}  // namespace wf::onnx
