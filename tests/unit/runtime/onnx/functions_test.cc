#include "runtime/onnx/functions.h"

#include <gtest/gtest.h>

#include "tests/unit/runtime/onnx/builder.h"

namespace wf::onnx {
namespace {

using testing::Builder;

pb::FunctionProto& AddFunction(Builder& b, const std::string& name, const std::vector<std::string>& in,
                               const std::vector<std::string>& out) {
  pb::FunctionProto& function = *b.model().add_functions();
  function.set_name(name);
  function.set_domain("local");
  function.add_opset_import()->set_version(17);
  for (const std::string& each : in) function.add_input(each);
  for (const std::string& each : out) function.add_output(each);
  return function;
}

pb::NodeProto& AddNode(pb::FunctionProto& function, const std::string& op, const std::vector<std::string>& in,
                       const std::vector<std::string>& out, const std::string& domain = "") {
  pb::NodeProto& node = *function.add_node();
  node.set_op_type(op);
  node.set_name(op + "_inner");
  node.set_domain(domain);
  for (const std::string& each : in) node.add_input(each);
  for (const std::string& each : out) node.add_output(each);
  return node;
}

Builder Calling(const std::string& function) {
  Builder b;
  b.Input("x", {"n", 4}).Output("y", {"n", 4});
  b.Node(function, {"x"}, {"y"}, "outer").set_domain("local");
  return b;
}

TEST(Functions, AreWrittenOutWhereTheyAreCalledAlsoWithinEachOther) {
  Builder b = Calling("Two");
  pb::FunctionProto& two = AddFunction(b, "Two", {"a"}, {"b"});
  AddNode(two, "One", {"a"}, {"t"}, "local");
  AddNode(two, "One", {"t"}, {"b"}, "local");
  AddNode(AddFunction(b, "One", {"a"}, {"b"}), "Relu", {"a"}, {"b"});
  const auto model = b.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->graph.nodes.size(), 2u);
  EXPECT_EQ(model->graph.nodes[0].Describe(), "node `outer/One_inner/Relu_inner` (Relu, ai.onnx opset 17)");
  EXPECT_EQ(model->signature.outputs[0].ToString(), "y: f32[n, 4]");
}

TEST(Functions, TakeAttributesOfTheCallOrTheirOwn) {
  for (const bool given : {true, false}) {
    Builder b = Calling("Leaky");
    pb::FunctionProto& leaky = AddFunction(b, "Leaky", {"a"}, {"b"});
    pb::AttributeProto& inner = *AddNode(leaky, "LeakyRelu", {"a"}, {"b"}).add_attribute();
    inner.set_name("alpha");
    inner.set_type(pb::AttributeProto::FLOAT);
    inner.set_ref_attr_name("slope");
    pb::AttributeProto& slope = given ? *b.graph.mutable_node(0)->add_attribute() : *leaky.add_attribute_proto();
    slope.set_name("slope");
    slope.set_type(pb::AttributeProto::FLOAT);
    slope.set_f(0.5f);
    const auto model = b.Read();
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->graph.nodes[0].Float("alpha", 0), 0.5f);
  }
}

TEST(Functions, AnInputThatIsAnOutputIsCopied) {
  Builder b = Calling("Same");
  AddFunction(b, "Same", {"a"}, {"a"});
  const auto model = b.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->graph.nodes[0].Describe(), "node `outer/copy` (Identity, ai.onnx opset 17)");
}

TEST(Functions, ThatCallThemselvesAreRefused) {
  Builder b = Calling("A");
  AddNode(AddFunction(b, "A", {"a"}, {"b"}), "B", {"a"}, {"b"}, "local");
  AddNode(AddFunction(b, "B", {"a"}, {"b"}), "A", {"a"}, {"b"}, "local");
  EXPECT_NE(b.Error().find("the function calls itself"), std::string::npos) << b.Error();
}

TEST(Functions, ThatGrowWithoutBoundAreRefused) {
  for (const bool writes : {true, false}) {
    Builder b = Calling("F0");
    for (int level = 0; level < 8; ++level) {
      pb::FunctionProto& function = AddFunction(b, "F" + std::to_string(level), {"a"}, {"b"});
      for (int i = 0; i < 30 && level < 7; ++i) AddNode(function, "F" + std::to_string(level + 1), {"a"}, {}, "local");
      if (writes) AddNode(function, "Relu", {"a"}, {"b"});
    }
    EXPECT_NE(b.Error().find("written out where they are called, have more than"), std::string::npos) << b.Error();
  }
}

}  // namespace
}  // namespace wf::onnx
