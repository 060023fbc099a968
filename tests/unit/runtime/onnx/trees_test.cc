#include "runtime/onnx/trees.h"

#include <gtest/gtest.h>

#include "tests/unit/runtime/onnx/builder.h"

namespace wf::onnx {
namespace {

using testing::Builder;

// A regressor of one tree: a branch, and leaves 1 and 2.
struct Stump {
  std::vector<int64_t> tree{0, 0, 0}, id{0, 1, 2}, feature{0, 0, 0}, on_true{1, 0, 0}, on_false{2, 0, 0}, target_node{1, 2}, target{0, 0};
  std::vector<std::string> mode{"BRANCH_LEQ", "LEAF", "LEAF"};
  std::vector<float> value{0.5f, 0, 0}, weight{1, 2};

  std::string Error() const {
    Builder b;
    b.Input("x", {"n", 4}).Output("y");
    pb::OperatorSetIdProto& set = *b.model().add_opset_import();
    set.set_domain("ai.onnx.ml");
    set.set_version(3);
    pb::NodeProto& node = b.Node("TreeEnsembleRegressor", {"x"}, {"y"}, "t");
    node.set_domain("ai.onnx.ml");
    Builder::Ints(node, "nodes_treeids", tree);
    Builder::Ints(node, "nodes_nodeids", id);
    Builder::Ints(node, "nodes_featureids", feature);
    Builder::Ints(node, "nodes_truenodeids", on_true);
    Builder::Ints(node, "nodes_falsenodeids", on_false);
    Builder::Ints(node, "target_treeids", std::vector<int64_t>(target.size(), 0));
    Builder::Ints(node, "target_nodeids", target_node);
    Builder::Ints(node, "target_ids", target);
    Floats(node, "nodes_values", value);
    Floats(node, "target_weights", weight);
    pb::AttributeProto& modes = *node.add_attribute();
    modes.set_name("nodes_modes");
    modes.set_type(pb::AttributeProto::STRINGS);
    for (const std::string& each : mode) modes.add_strings(each);
    return b.Error();
  }

  static void Floats(pb::NodeProto& node, const char* name, const std::vector<float>& values) {
    pb::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(pb::AttributeProto::FLOATS);
    for (const float each : values) attribute.add_floats(each);
  }
};

TEST(Trees, ArraysThatAreNoTreesAreRefused) {
  const std::string where = "`x.onnx`: node `t` (TreeEnsembleRegressor, ai.onnx.ml opset 3): ";
  EXPECT_EQ(Stump().Error(), "");
  const auto error = [](auto change) {
    Stump stump;
    change(stump);
    return stump.Error();
  };
  const std::string circle = "two branches lead to one node, or a tree runs in a circle";
  EXPECT_EQ(error([](Stump& s) { s.on_true[0] = 0; }), where + circle);
  EXPECT_EQ(error([](Stump& s) { s.on_true[0] = 7; }), where + "tree 0 has no node 7, the child of 0");
  EXPECT_EQ(error([](Stump& s) { s.on_false[0] = INT64_MIN; }), where + "tree 0 has no node -9223372036854775808, the child of 0");
  EXPECT_EQ(error([](Stump& s) { s.id[2] = 1; }), where + "tree 0 has two nodes 1");
  EXPECT_EQ(error([](Stump& s) { s.tree.pop_back(); }), where + "`nodes_treeids` has 2 elements, `nodes_nodeids` 3");
  EXPECT_EQ(error([](Stump& s) { s.value.clear(); }), where + "`nodes_values` has 0 elements, `nodes_nodeids` 3");
  EXPECT_EQ(error([](Stump& s) { s.feature[0] = -1; }), where + "a branch on feature -1");
  EXPECT_EQ(error([](Stump& s) { s.feature[0] = 4; }), where + "a branch on feature 4 of the input f32[n, 4]");
  EXPECT_EQ(error([](Stump& s) { s.target[1] = int64_t{1} << 40; }), where + "`target_ids` has 1099511627776, wanted 0 to 65535");
  EXPECT_EQ(error([](Stump& s) { s.target[1] = 1; }), where + "weights for target 1 of 1");
  EXPECT_EQ(error([](Stump& s) { s.target_node[1] = 9; }), where + "a weight of node 9 of tree 0, which is not there");
  EXPECT_EQ(error([](Stump& s) { s.mode[0] = "BRANCH_ODD"; }), where + "a node of mode `BRANCH_ODD` is not supported");
}

Builder Classifier(bool strings) {
  Builder b;
  b.Input("x", {"n", 2});
  pb::OperatorSetIdProto& set = *b.model().add_opset_import();
  set.set_domain("ai.onnx.ml");
  set.set_version(3);
  pb::NodeProto& node = b.Node("LinearClassifier", {"x"}, {"label", "scores"}, "c");
  node.set_domain("ai.onnx.ml");
  Stump::Floats(node, "coefficients", {1, 2, 3, 4});
  if (!strings) {
    Builder::Ints(node, "classlabels_ints", {4, 7});
    return b;
  }
  pb::AttributeProto& labels = *node.add_attribute();
  labels.set_name("classlabels_strings");
  labels.set_type(pb::AttributeProto::STRINGS);
  labels.add_strings("no");
  labels.add_strings("yes");
  return b;
}

TEST(ZipMap, AtTheEndOfAModelIsTheTensorThatItReads) {
  Builder b = Classifier(false);
  pb::NodeProto& zip = b.Node("ZipMap", {"scores"}, {"maps"}, "z");
  zip.set_domain("ai.onnx.ml");
  Builder::Ints(zip, "classlabels_int64s", {4, 7});
  b.Output("label", {"n"}, pb::INT64);
  b.graph.add_output()->set_name("maps");
  b.graph.mutable_output(1)->mutable_type()->mutable_sequence_type();
  const auto model = b.Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_EQ(model->signature.outputs[1].ToString(), "maps: f32[n, 2]");
  b.Node("Relu", {"maps"}, {"more"}, "r");
  EXPECT_EQ(b.Error(),
            "`x.onnx`: node `r` (Relu, ai.onnx opset 17): it reads `maps`, a map for each row: only outputs of the model may be that");
}

}  // namespace
}  // namespace wf::onnx
