#include "runtime/onnx/unread.h"

#include <gtest/gtest.h>

#include <functional>

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

// z by an If whose branches are both the node that `add` gives, and its first output.
Builder Choosing(const std::function<pb::NodeProto&(pb::GraphProto&)>& add) {
  Builder builder;
  builder.Input("x", {1, 1, 4}).Input("c", {}, pb::BOOL).Output("z");
  Builder::Ints(builder.Node("MaxPool", {"x"}, {"y", "places"}), "kernel_shape", {2});
  pb::NodeProto& choice = builder.Node("If", {"c"}, {"z"});
  for (const char* name : {"then_branch", "else_branch"}) {
    pb::GraphProto& body = Builder::Body(choice, name);
    body.add_output()->set_name(add(body).output(0));
  }
  return builder;
}

TEST(LeaveOutUnread, ABodyReadsWhatLiesOutside) {
  for (const std::string outside : {"places", "y"}) {
    Builder builder = Choosing([&](pb::GraphProto& body) -> auto& { return Builder::Add(body, "Abs", {outside}, {"inner"}); });
    EXPECT_EQ(HasSecond(builder), outside == "places");
  }
}

TEST(LeaveOutUnread, ItIsSoWithinABody) {
  const auto model = Choosing([](pb::GraphProto& body) -> auto& {
                       pb::NodeProto& only = Builder::Add(body, "MaxPool", {"x"}, {"inner", "other"});
                       Builder::Ints(only, "kernel_shape", {2});
                       return only;
                     }).Read();
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
