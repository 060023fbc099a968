#include "runtime/onnx/unread.h"

#include <gtest/gtest.h>

#include "tests/unit/runtime/onnx/builder.h"

namespace wf::onnx {
namespace {

using testing::Builder;

// Whether the node that a test is about has its second output.
bool HasSecond(Builder& builder, size_t node = 0) {
  const auto model = builder.Read();
  EXPECT_TRUE(model.ok()) << model.status().message();
  return model.ok() && model->graph.nodes[node].out.size() > 1 && model->graph.nodes[node].out[1] >= 0;
}

Builder Pooling(const std::string& reads_places) {
  Builder builder;
  builder.Input("x", {1, 1, 4}).Output("y");
  Builder::Ints(builder.Node("MaxPool", {"x"}, {"y", "places"}), "kernel_shape", {2});
  if (!reads_places.empty()) builder.Node(reads_places, {"places"}, {"z"});
  return builder;
}

TEST(LeaveOutUnread, WhatNothingReadsIsAbsent) {
  Builder alone = Pooling(""), read = Pooling("Abs"), output = Pooling("");
  output.Output("places");
  EXPECT_FALSE(HasSecond(alone));
  EXPECT_TRUE(HasSecond(read));
  EXPECT_TRUE(HasSecond(output));
}

TEST(LeaveOutUnread, ABodyReadsWhatLiesOutside) {
  for (const char* outside : {"places", "y"}) {
    Builder builder;
    builder.Input("x", {1, 1, 4}).Input("c", {}, pb::BOOL).Output("z");
    Builder::Ints(builder.Node("MaxPool", {"x"}, {"y", "places"}), "kernel_shape", {2});
    pb::NodeProto& choice = builder.Node("If", {"c"}, {"z"});
    for (const char* name : {"then_branch", "else_branch"}) {
      pb::AttributeProto& attribute = *choice.add_attribute();
      attribute.set_name(name);
      attribute.set_type(pb::AttributeProto::GRAPH);
      pb::NodeProto& only = *attribute.mutable_g()->add_node();
      only.set_op_type("Abs");
      only.add_input(outside);
      only.add_output("inner");
      attribute.mutable_g()->add_output()->set_name("inner");
    }
    EXPECT_EQ(HasSecond(builder), outside == std::string("places"));
  }
}

TEST(LeaveOutUnread, ItIsSoWithinABody) {
  Builder builder;
  builder.Input("x", {1, 1, 4}).Input("c", {}, pb::BOOL).Output("z");
  pb::NodeProto& choice = builder.Node("If", {"c"}, {"z"});
  for (const char* name : {"then_branch", "else_branch"}) {
    pb::AttributeProto& attribute = *choice.add_attribute();
    attribute.set_name(name);
    attribute.set_type(pb::AttributeProto::GRAPH);
    pb::NodeProto& only = *attribute.mutable_g()->add_node();
    only.set_op_type("MaxPool");
    only.add_input("x");
    for (const char* out : {"inner", "places"}) only.add_output(out);
    Builder::Ints(only, "kernel_shape", {2});
    attribute.mutable_g()->add_output()->set_name("inner");
  }
  const auto model = builder.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  for (const auto& body : model->graph.bodies) EXPECT_EQ(body->nodes[0].out[1], -1);
}

// Before opset 14 it trains where it has other outputs.
TEST(LeaveOutUnread, OutputsThatSayWhatIsComputedStay) {
  Builder builder(9);
  builder.Input("x", {4, 2}).Output("y");
  for (const char* each : {"scale", "shift", "mean", "variance"}) builder.Floats(each, {2}, 2);
  builder.Node("BatchNormalization", {"x", "scale", "shift", "mean", "variance"}, {"y", "m", "v", "sm", "sv"});
  EXPECT_TRUE(HasSecond(builder));
}

}  // namespace
}  // namespace wf::onnx
