// Operators whose lowering chooses among kernels, from a file to its results.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "tests/unit/runtime/model/file_runs.h"

namespace wf::model {
namespace {

using onnx::pb::INT64;
using testing::Builder;
using F = std::vector<float>;

TEST(Operators, GlobalPoolsOverAnyNumberOfSpatialAxes) {
  F values(64);
  std::iota(values.begin(), values.end(), -40.0f);
  for (const std::vector<int64_t>& dim : {std::vector<int64_t>{1, 2, 32}, {1, 2, 8, 4}, {1, 2, 2, 2, 2, 4}, {1, 2, 2, 2, 2, 2, 2}}) {
    const Builder::Extents extents(dim.begin(), dim.end());
    const auto pooled = [&](const std::string& op) {
      Builder b;
      b.Input("x", extents).Output("y");
      b.Node(op, {"x"}, {"y"});
      return Results(b, {FloatsIn(dim, values)})[0];
    };
    EXPECT_EQ(pooled("GlobalMaxPool"), (F{-9, 23})) << dim.size();
    EXPECT_EQ(pooled("GlobalAveragePool"), (F{-24.5f, 7.5f})) << dim.size();
    EXPECT_NEAR(pooled("GlobalLpPool")[0], std::sqrt(21'936.0f), 0.01) << dim.size();
  }
}

// One branch, x <= 0.5, with a leaf on each side.
TEST(Operators, TreesOfTheNewerForm) {
  Builder b;
  b.Input("x", {3, 1}).Output("y");
  b.model().add_opset_import()->set_domain("ai.onnx.ml");
  b.model().mutable_opset_import(1)->set_version(5);
  onnx::pb::NodeProto& node = b.Node("TreeEnsemble", {"x"}, {"y"});
  node.set_domain("ai.onnx.ml");
  const auto tensor = [&node](const char* name, int type, const std::string& raw, int64_t count) {
    onnx::pb::AttributeProto& attribute = *node.add_attribute();
    attribute.set_name(name);
    attribute.set_type(onnx::pb::AttributeProto::TENSOR);
    attribute.mutable_t()->set_data_type(type);
    attribute.mutable_t()->add_dims(count);
    attribute.mutable_t()->set_raw_data(raw);
  };
  const auto floats = [](const F& values) { return std::string(reinterpret_cast<const char*>(values.data()), 4 * values.size()); };
  Builder::Int(node, "n_targets", 1);
  for (const char* name : {"nodes_featureids", "nodes_truenodeids", "tree_roots"}) Builder::Ints(node, name, {0});
  for (const char* name : {"nodes_trueleafs", "nodes_falseleafs", "nodes_falsenodeids"}) Builder::Ints(node, name, {1});
  Builder::Ints(node, "leaf_targetids", {0, 0});
  tensor("nodes_modes", onnx::pb::UINT8, std::string(1, '\0'), 1);
  tensor("nodes_splits", onnx::pb::FLOAT, floats({0.5f}), 1);
  tensor("leaf_weights", onnx::pb::FLOAT, floats({10, 20}), 2);
  EXPECT_EQ(Results(b, {FloatsIn({3, 1}, {0, 0.5f, 1})})[0], (F{10, 10, 20}));
}

TEST(Operators, ANormalisationThatTrainsIsNotJoinedToItsConvolution) {
  Builder b(15);
  b.Input("x", {1, 1, 2}).Output("y");
  for (const char* name : {"scale", "variance"}) Builder::SetFloats(b.Floats(name, {1}, 1), {1});
  for (const char* name : {"shift", "mean"}) b.Floats(name, {1}, 1);
  Builder::SetFloats(b.Floats("w", {1, 1, 1}, 1), {2});
  b.Node("Conv", {"x", "w"}, {"c"}, "conv");
  auto& norm = b.Node("BatchNormalization", {"c", "scale", "shift", "mean", "variance"}, {"y"}, "norm");
  Builder::Int(norm, "training_mode", 1);
  const F y = Results(b, {FloatsIn({1, 1, 2}, {1, 3})})[0];
  EXPECT_NEAR(y[0], -1, 1e-4);
  EXPECT_NEAR(y[1], 1, 1e-4);
}

TEST(Operators, ALayerMayHaveNoFirstOutput) {
  Builder b;
  b.Input("x", {2, 1, 1}).Output("h");
  Builder::SetFloats(b.Floats("w", {1, 1, 1}, 1), {1});
  b.Floats("r", {1, 1, 1}, 1);
  b.Node("RNN", {"x", "w", "r"}, {"", "h"});
  EXPECT_NEAR(Results(b, {FloatsIn({2, 1, 1}, {5, 0.5f})})[0][0], std::tanh(0.5f), 1e-6);
}

TEST(Operators, LayersTakeFunctionsByNameAndRefuseOthers) {
  const auto layer = [](const std::string& name) {
    Builder b;
    b.Input("x", {1, 1, 1}).Output("y");
    Builder::SetFloats(b.Floats("w", {1, 1, 1}, 1), {-1});
    b.Floats("r", {1, 1, 1}, 1);
    onnx::pb::AttributeProto& names = *b.Node("RNN", {"x", "w", "r"}, {"y"}).add_attribute();
    names.set_name("activations");
    names.set_type(onnx::pb::AttributeProto::STRINGS);
    names.add_strings(name);
    return b;
  };
  Builder leaky = layer("LeakyRelu");
  EXPECT_NEAR(Results(leaky, {FloatsIn({1, 1, 1}, {2})})[0][0], -0.02f, 1e-6);
  Builder strange = layer("Strange");
  auto read = strange.Read();
  ASSERT_TRUE(read.ok()) << read.status().message();
  const auto made = Optimise(std::make_shared<onnx::Model>(*std::move(read)));
  ASSERT_TRUE(made.ok());
  Budget budget;
  EXPECT_NE(Walk(*made, PartLimits{int64_t{1} << 20, &budget}).Run(std::vector{FloatsIn({1, 1, 1}, {2})}).message().find("`Strange`"),
            std::string::npos);
}

TEST(Operators, AxesOfAReductionMayBeData) {
  Builder b;
  b.Input("x", {2, 2}).Input("axes", {1}, INT64).Output("y");
  Builder::Int(b.Node("ReduceMax", {"x", "axes"}, {"y"}), "keepdims", 0);
  b.model().mutable_opset_import(0)->set_version(18);
  EXPECT_EQ(Results(b, {FloatsIn({2, 2}, {1, 2, 3, 4}), ElementsOf<int64_t>(WF_I64, {1}, {0})})[0], (F{3, 4}));
  EXPECT_EQ(Results(b, {FloatsIn({2, 2}, {1, 2, 3, 4}), ElementsOf<int64_t>(WF_I64, {1}, {-1})})[0], (F{2, 4}));
}

TEST(Operators, OldBroadcastsAndSlopesGoAlongTheirAxis) {
  for (const bool slope : {false, true}) {
    Builder b(6);
    b.Input("x", {1, 2, 2}).Output("y");
    Builder::SetFloats(b.Floats("b", {2}, 2), {10, 20});
    auto& node = b.Node(slope ? "PRelu" : "Add", {"x", "b"}, {"y"});
    if (!slope) Builder::Int(node, "broadcast", 1);
    if (!slope) Builder::Int(node, "axis", 1);
    EXPECT_EQ(Results(b, {FloatsIn({1, 2, 2}, {-1, 2, -3, 4})})[0], slope ? (F{-10, 2, -60, 4}) : (F{9, 12, 17, 24}));
  }
}

TEST(Operators, OptionalValuesAreTensorsThatAreThere) {
  Builder b(18);
  b.Input("x", {2}).Output("y").Output("z");
  onnx::pb::TypeProto tensor;
  tensor.Swap(b.graph.mutable_input(0)->mutable_type());
  b.graph.mutable_input(0)->mutable_type()->mutable_optional_type()->mutable_elem_type()->Swap(&tensor);
  b.Node("OptionalGetElement", {"x"}, {"e"}, "get");
  for (const auto& [out, in] : {std::pair("y", std::vector<std::string>{"x"}), {"z", {}}}) {
    const std::string has = std::string("has_") + out;
    b.Node("OptionalHasElement", in, {has}, has);
    Builder::Int(b.Node("Cast", {has}, {has + "_f"}, "cast"), "to", onnx::pb::FLOAT);
    b.Node("Mul", {has + "_f", "e"}, {out}, out);
  }
  const auto results = Results(b, {FloatsIn({2}, {3, 4})});
  EXPECT_EQ(results[0], (F{3, 4}));
  EXPECT_EQ(results[1], (F{0, 0}));
}

TEST(Operators, WindowsMayHaveALengthThatIsData) {
  Builder b;
  b.Input("size", {}, INT64).Output("y");
  b.Node("HannWindow", {"size"}, {"y"});
  for (const size_t size : {size_t{4}, size_t{6}}) {
    const F y = Results(b, {ElementsOf<int64_t>(WF_I64, {}, {static_cast<int64_t>(size)})})[0];
    ASSERT_EQ(y.size(), size);
    EXPECT_NEAR(y[size / 2], 1, 1e-6);
  }
}

TEST(Operators, FramesMayHaveAStepThatIsData) {
  Builder b;
  b.Input("x", {1, 6}).Input("step", {}, INT64).Output("y");
  b.Longs("length", {2}).clear_dims();
  b.Node("STFT", {"x", "step", "", "length"}, {"y"});
  const Elements x = FloatsIn({1, 6}, {1, 2, 3, 4, 5, 6});
  for (const auto& [step, want] : {std::pair(2, F{3, 0, -1, 0, 7, 0, -1, 0, 11, 0, -1, 0}), {4, {3, 0, -1, 0, 11, 0, -1, 0}}}) {
    const F y = Results(b, {x, ElementsOf<int64_t>(WF_I64, {}, {step})})[0];
    ASSERT_EQ(y.size(), want.size());
    for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], want[i], 1e-5);
  }
}

onnx::pb::NodeProto& AddVectorizer(Builder& b, const std::vector<int64_t>& begins, const std::vector<int64_t>& places) {
  b.Input("x", {2, 4}, INT64).Output("y");
  auto& node = b.Node("TfIdfVectorizer", {"x"}, {"y"});
  Builder::String(node, "mode", "TF");
  Builder::Int(node, "min_gram_length", 1);
  Builder::Int(node, "max_gram_length", 2);
  Builder::Int(node, "max_skip_count", 0);
  Builder::Ints(node, "ngram_counts", begins);
  Builder::Ints(node, "ngram_indexes", places);
  Builder::Ints(node, "pool_int64s", {3, 1, 2});
  return node;
}

TEST(Operators, SequencesOfTokensAreCountedAndWrongPoolsRefused) {
  Builder b;
  AddVectorizer(b, {0, 1}, {1, 0});
  EXPECT_EQ(Results(b, {ElementsOf<int64_t>(WF_I64, {2, 4}, {3, 1, 2, 3, 1, 2, 1, 2})})[0], (F{1, 2, 2, 0}));
  const std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> wrong = {
      {{0, 2}, {1, 0}}, {{0, -1}, {1, 0}}, {{2, 1}, {1, 0}}, {{0, 1}, {1}}, {{0, 1}, {1, -1}}, {{0, 1}, {0, INT64_MAX}}, {{0}, {1, 0}}};
  for (const auto& [begins, places] : wrong) {
    Builder other;
    AddVectorizer(other, begins, places);
    EXPECT_NE(other.Error().find("(TfIdfVectorizer, ai.onnx opset 17)"), std::string::npos) << other.Error();
  }
}

onnx::pb::NodeProto& AddTraining(Builder& b, const std::string& op, const std::vector<std::string>& in,
                                 const std::vector<std::string>& out) {
  auto& domain = *b.model().add_opset_import();
  domain.set_domain("ai.onnx.preview.training");
  domain.set_version(1);
  b.Input("rate", {}).Input("made", {}, INT64).Input("w", {2}).Input("g", {2}).Input("h", {2});
  for (const std::string& each : out) b.Output(each);
  auto& node = b.Node(op, in, out);
  node.set_domain("ai.onnx.preview.training");
  return node;
}

TEST(Operators, StepsOfTrainingTakeEachParameterWithItsOwn) {
  Builder b;
  AddTraining(b, "Adagrad", {"rate", "made", "w", "g", "h"}, {"v", "k"});
  const std::vector<Elements> inputs = {FloatsIn({}, {0.5f}), ElementsOf<int64_t>(WF_I64, {}, {0}), FloatsIn({2}, {1, 2}),
                                        FloatsIn({2}, {3, 0}), FloatsIn({2}, {16, 1})};
  const auto results = Results(b, inputs);
  EXPECT_NEAR(results[0][0], 1 - 0.5f * 3 / 5, 1e-6);
  EXPECT_EQ(results[0][1], 2);
  EXPECT_EQ(results[1], (F{25, 1}));
  Builder few, odd, momentum;
  AddTraining(few, "Adam", {"rate", "made", "w", "g", "h"}, {"v", "k"});
  EXPECT_NE(few.Error().find("wanted 6 to"), std::string::npos) << few.Error();
  AddTraining(odd, "Adagrad", {"rate", "made", "w", "g", "h", "w"}, {"v", "k"});
  EXPECT_NE(odd.Error().find("3 and 2 for each parameter"), std::string::npos) << odd.Error();
  Builder::String(AddTraining(momentum, "Momentum", {"rate", "made", "w", "g", "h"}, {"v", "k"}), "mode", "standard");
  EXPECT_NE(momentum.Error().find("it lacks `alpha`"), std::string::npos) << momentum.Error();
}

// Two tokens that see themselves alone are their own values.
TEST(Operators, AttentionOfComMicrosoft) {
  Builder b;
  auto& domain = *b.model().add_opset_import();
  domain.set_domain("com.microsoft");
  domain.set_version(1);
  b.Input("q", {1, 2, 2}).Input("k", {1, 2, 2}).Input("v", {1, 2, 2}).Output("y");
  auto& node = b.Node("MultiHeadAttention", {"q", "k", "v"}, {"y"});
  node.set_domain("com.microsoft");
  Builder::Int(node, "num_heads", 2);
  Builder::Int(node, "unidirectional", 1);
  const F zero(4, 0), v = {1, 2, 3, 6};
  EXPECT_EQ(Results(b, {FloatsIn({1, 2, 2}, zero), FloatsIn({1, 2, 2}, zero), FloatsIn({1, 2, 2}, v)})[0], (F{1, 2, 2, 4}));
}

// The last of the queries sees all keys, however many those are, those before it as many as their own place.
TEST(Operators, AttentionOfLessQueriesThanKeys) {
  Builder b;
  auto& domain = *b.model().add_opset_import();
  domain.set_domain("com.microsoft");
  domain.set_version(1);
  b.Input("q", {1, 2, 1}).Input("k", {1, 3, 1}).Input("v", {1, 3, 1}).Output("y");
  auto& node = b.Node("MultiHeadAttention", {"q", "k", "v"}, {"y"});
  node.set_domain("com.microsoft");
  Builder::Int(node, "num_heads", 1);
  Builder::Int(node, "unidirectional", 1);
  const F zero(3, 0);
  EXPECT_EQ(Results(b, {FloatsIn({1, 2, 1}, {0, 0}), FloatsIn({1, 3, 1}, zero), FloatsIn({1, 3, 1}, {1, 2, 9})})[0], (F{1, 4}));
}

}  // namespace
}  // namespace wf::model
