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

// `op` in both branches of an If, on what lies around it.
void AddIf(Builder& b, const std::string& op, const std::string& read) {
  b.Input("c", {}, pb::BOOL);
  pb::NodeProto& node = b.Node("If", {"c"}, {"y"}, "if");
  for (const char* branch : {"then_branch", "else_branch"}) {
    pb::GraphProto& body = Builder::Body(node, branch);
    Builder::Add(body, op, {read}, {"r"}).set_domain("local");
    body.add_output()->set_name("r");
  }
}

std::string Described(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) text += node.Describe() + '\n';
  return text;
}

TEST(Functions, AreWrittenOutWithinBodiesOfAnyDepth) {
  Builder b;
  b.Input("x", {"n", 4}).Output("y", {"n", 4});
  AddIf(b, "Outer", "x");
  pb::FunctionProto& outer = AddFunction(b, "Outer", {"a"}, {"b"});
  AddNode(outer, "Constant", {}, {"c"}).set_name("yes");
  pb::AttributeProto& value = *outer.mutable_node(0)->add_attribute();
  value.set_name("value");
  value.set_type(pb::AttributeProto::TENSOR);
  value.mutable_t()->set_data_type(pb::BOOL);
  value.mutable_t()->add_int32_data(1);
  AddNode(outer, "ReduceMax", {"a"}, {"most"});
  AddNode(outer, "Greater", {"most", "most"}, {"m"});
  AddNode(outer, "Squeeze", {"m"}, {"cond"});
  pb::NodeProto& inner = AddNode(outer, "If", {"cond"}, {"b"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    pb::GraphProto& body = Builder::Body(inner, branch);
    Builder::Add(body, "Leaf", {"a"}, {"t"}).set_domain("local");
    body.add_output()->set_name("t");
  }
  pb::FunctionProto& leaf = AddFunction(b, "Leaf", {"a"}, {"b"});
  leaf.mutable_opset_import(0)->set_version(13);
  AddNode(leaf, "Relu", {"a"}, {"t"});
  AddNode(leaf, "Exp", {"t"}, {"b"});
  const auto model = b.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  ASSERT_EQ(model->graph.nodes.size(), 1u);
  const Graph& branch = *model->graph.bodies[0];
  EXPECT_EQ(Described(branch),
            "node `Outer/ReduceMax_inner` (ReduceMax, ai.onnx opset 17)\nnode `Outer/Greater_inner` (Greater, ai.onnx opset 17)\n"
            "node `Outer/Squeeze_inner` (Squeeze, ai.onnx opset 17)\nnode `Outer/If_inner` (If, ai.onnx opset 17)\n");
  EXPECT_EQ(Described(*branch.bodies[0]),
            "node `Outer/Leaf/Relu_inner` (Relu, ai.onnx opset 13)\nnode `Outer/Leaf/Exp_inner` (Exp, ai.onnx opset 13)\n");
  EXPECT_EQ(model->signature.outputs[0].ToString(), "y: f32[n, 4]");
}

TEST(Functions, HaveNamesThatNoOtherValueHas) {
  for (const std::string mark : {"#", "##"}) {
    Builder b;
    b.Input("x", {"n", 4}).Output("y", {"n", 4});
    b.Node("Exp", {"x"}, {mark + "1/t"}, "first");  // what a value of a call could be called
    AddIf(b, "F", mark + "1/t");
    pb::FunctionProto& function = AddFunction(b, "F", {"a"}, {"b"});
    AddNode(function, "Relu", {"a"}, {"t"});
    AddNode(function, "Add", {"t", "a"}, {"b"});
    const auto model = b.Read();
    ASSERT_TRUE(model.ok()) << model.status().message();
    const Node& add = model->graph.bodies[0]->nodes[1];
    EXPECT_NE(add.in[0], add.in[1]) << mark;
  }
}

TEST(Functions, TakeABodyWhoseNamesAreThoseAroundTheCall) {
  Builder b = Calling("Either");
  b.Input("c", {}, pb::BOOL).Input("a", {"n", 4});
  b.graph.mutable_node(0)->add_input("c");
  pb::GraphProto& given = Builder::Body(*b.graph.mutable_node(0), "body");
  Builder::Add(given, "Exp", {"a"}, {"r"});  // the model's `a`, not the function's
  given.add_output()->set_name("r");
  pb::FunctionProto& either = AddFunction(b, "Either", {"a", "c"}, {"b"});
  either.mutable_opset_import(0)->set_version(13);
  pb::NodeProto& inner = AddNode(either, "If", {"c"}, {"b"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    pb::AttributeProto& attribute = *inner.add_attribute();
    attribute.set_name(branch);
    attribute.set_type(pb::AttributeProto::GRAPH);
    attribute.set_ref_attr_name("body");
  }
  const auto model = b.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  const Node& node = model->graph.nodes[0];
  EXPECT_EQ(model->graph.values[static_cast<size_t>(node.in[1])].name, "a");
  EXPECT_EQ(model->graph.values[static_cast<size_t>(node.in[1])].name, model->signature.inputs[2].name);
  EXPECT_EQ(Described(*model->graph.bodies[0]), "node 0 (Exp, ai.onnx opset 17)\n");
}

TEST(Functions, ThatCallThemselvesWithinABodyAreRefused) {
  Builder b;
  b.Input("x", {"n", 4}).Output("y", {"n", 4});
  AddIf(b, "A", "x");
  pb::GraphProto& body = Builder::Body(AddNode(AddFunction(b, "A", {"a"}, {"b"}), "If", {"a"}, {"b"}), "then_branch");
  Builder::Add(body, "A", {"a"}, {"r"}).set_domain("local");
  EXPECT_NE(b.Error().find("the function calls itself"), std::string::npos) << b.Error();
}

TEST(Functions, ThatGrowWithoutBoundInBodiesAreRefused) {
  Builder b;
  b.Input("x", {"n", 4}).Output("y", {"n", 4});
  AddIf(b, "F0", "x");
  for (int level = 0; level < 8; ++level) {
    pb::FunctionProto& function = AddFunction(b, "F" + std::to_string(level), {"a"}, {"b"});
    pb::GraphProto& body = Builder::Body(AddNode(function, "If", {"a"}, {"b"}), "then_branch");
    for (int i = 0; i < 30 && level < 7; ++i) Builder::Add(body, "F" + std::to_string(level + 1), {"a"}, {}).set_domain("local");
  }
  EXPECT_NE(b.Error().find("written out where they are called, have more than"), std::string::npos) << b.Error();
}

// 20,000 nodes that read a value with a name of 100,000 bytes, and as many copies of an attribute of that: each alone is small.
TEST(Functions, OfTooManyBytesAreRefusedBeforeTheyAreThere) {
  const std::string text(100'000, 's');
  for (const bool named : {true, false}) {
    Builder b;
    b.Input("x", {"n", 4}).Output("y", {"n", 4});
    const std::string read = named ? text : "e";
    b.Node("Exp", {"x"}, {read}, "e");
    pb::NodeProto& call = b.Node("F", {read}, {"y"}, "f");
    call.set_domain("local");
    Builder::String(call, "long", text);
    pb::GraphProto& body = Builder::Body(AddNode(AddFunction(b, "F", {"a"}, {"b"}), "If", {"a"}, {"b"}), "then_branch");
    for (int i = 0; i < 20'000; ++i) {
      pb::NodeProto& node = Builder::Add(body, "Relu", {named ? "a" : "t"}, {});
      if (!named) node.add_attribute()->set_ref_attr_name("long");
    }
    EXPECT_NE(b.Error().find("or too many bytes"), std::string::npos) << b.Error();
  }
}

TEST(Functions, WhoseBodiesLieTooDeepWithinEachOtherAreRefused) {
  Builder b = Calling("F0");
  for (int level = 0; level < 20; ++level) {
    pb::NodeProto* node = &AddNode(AddFunction(b, "F" + std::to_string(level), {"a"}, {"b"}), "If", {"a"}, {"b"});
    for (int i = 0; i < 3; ++i) node = &Builder::Add(Builder::Body(*node, "then_branch"), "If", {"a"}, {"b"});
    pb::NodeProto& call = Builder::Add(Builder::Body(*node, "then_branch"), "F" + std::to_string(level + 1), {"a"}, {"b"});
    call.set_domain("local");
  }
  EXPECT_NE(b.Error().find("bodies in bodies, more than 32 deep"), std::string::npos) << b.Error();
}

}  // namespace
}  // namespace wf::onnx
