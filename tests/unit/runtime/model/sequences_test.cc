// Sequences and optional values, which are gone once a file is read: from a file to its results.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/unit/runtime/model/file_runs.h"

namespace wf::model {
namespace {

namespace pb = onnx::pb;

using onnx::pb::BOOL;
using onnx::pb::FLOAT;
using onnx::pb::INT64;
using testing::Builder;
using F = std::vector<float>;

void Scalar(Builder& b, const std::string& name, int64_t value) { b.Tensor(name, {}, INT64).add_int64_data(value); }

// x, of four, split by `split` into the sequence `parts`.
Builder Parts(int64_t split) {
  Builder b;
  b.Input("x", {4}).Output("y");
  Scalar(b, "split", split);
  Scalar(b, "first", 0);
  Scalar(b, "second", 1);
  Scalar(b, "last", -1);
  b.Node("SplitToSequence", {"x", "split"}, {"parts"});
  return b;
}
const std::vector<Elements> kFour = {FloatsIn({4}, {1, 2, 3, 4})};

TEST(Sequences, APartIsTakenByItsPositionFromEitherEnd) {
  for (const auto& [position, wanted] : {std::pair("first", F{1, 2, 3}), std::pair("second", F{4}), std::pair("last", F{4})}) {
    Builder b = Parts(3);
    b.Node("SequenceAt", {"parts", position}, {"y"});
    EXPECT_EQ(Results(b, kFour)[0], wanted) << position;
  }
}

TEST(Sequences, InsertEraseAndConcatKeepTheOrder) {
  Builder b = Parts(1);
  b.Node("SequenceInsert", {"parts", "x", "first"}, {"more"});
  b.Node("SequenceErase", {"more", "second"}, {"fewer"});
  b.Node("SequenceErase", {"fewer"}, {"rest"});
  Builder::Int(b.Node("ConcatFromSequence", {"rest"}, {"y"}), "axis", 0);
  EXPECT_EQ(Results(b, kFour)[0], (F{1, 2, 3, 4, 2, 3}));
}

TEST(Sequences, PartsWithoutTheirAxisAreStackedAlongANewOne) {
  Builder b;
  b.Input("x", {2, 2}).Output("y", {2, 2}).Output("n", {}, INT64);
  onnx::pb::NodeProto& split = b.Node("SplitToSequence", {"x"}, {"columns"});
  Builder::Int(split, "axis", 1);
  Builder::Int(split, "keepdims", 0);
  onnx::pb::NodeProto& join = b.Node("ConcatFromSequence", {"columns"}, {"y"});
  Builder::Int(join, "axis", 0);
  Builder::Int(join, "new_axis", 1);
  b.Node("SequenceLength", {"columns"}, {"n"});
  EXPECT_EQ(Results(b, {FloatsIn({2, 2}, {1, 2, 3, 4})})[0], (F{1, 3, 2, 4}));
}

TEST(Sequences, OneOfEqualShapesIsChosenByAComputedPosition) {
  Builder b = Parts(2);
  b.Input("at", {}, INT64);
  b.Node("SequenceAt", {"parts", "at"}, {"y"});
  const auto at = kernels::Allocate(8);
  const int64_t one = 1;
  std::memcpy(at.get(), &one, sizeof one);
  EXPECT_EQ(Results(b, {kFour[0], {{WF_I64, {}, nullptr, nullptr}, at}})[0], (F{3, 4}));
}

TEST(Sequences, ALoopOverTheirLengthIsWrittenOut) {
  Builder b = Parts(1);
  Builder::Int(b.Node("SequenceEmpty", {}, {"none"}), "dtype", FLOAT);
  b.Node("SequenceLength", {"parts"}, {"turns"});
  onnx::pb::NodeProto& loop = b.Node("Loop", {"turns", "", "none"}, {"doubled"});
  onnx::pb::GraphProto& body = Builder::Body(loop, "body");
  for (const char* input : {"i", "c", "so_far"}) body.add_input()->set_name(input);
  Builder::Add(body, "Identity", {"c"}, {"same"});
  Builder::Add(body, "SequenceAt", {"parts", "i"}, {"each"});
  Builder::Add(body, "Add", {"each", "each"}, {"twice"});
  Builder::Add(body, "SequenceInsert", {"so_far", "twice"}, {"longer"});
  for (const char* output : {"same", "longer"}) body.add_output()->set_name(output);
  Builder::Int(b.Node("ConcatFromSequence", {"doubled"}, {"y"}), "axis", 0);
  EXPECT_EQ(Results(b, kFour)[0], (F{2, 4, 6, 8}));
}

TEST(Sequences, AMapRunsItsBodyForEachTensor) {
  Builder b = Parts(2);
  onnx::pb::NodeProto& map = b.Node("SequenceMap", {"parts", "x"}, {"sums"});
  onnx::pb::GraphProto& body = Builder::Body(map, "body");
  for (const char* input : {"each", "whole"}) body.add_input()->set_name(input);
  Builder::Add(body, "ReduceSum", {"each"}, {"sum"});
  Builder::Add(body, "Add", {"sum", "whole"}, {"moved"});
  body.add_output()->set_name("moved");
  Builder::Int(b.Node("ConcatFromSequence", {"sums"}, {"y"}), "axis", 0);
  EXPECT_EQ(Results(b, kFour)[0], (F{4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(Sequences, BranchesOfAnIfGiveTheSameNumber) {
  const auto with = [](int64_t other) {
    Builder b;
    b.Input("c", {1}, BOOL).Input("x", {4}).Output("y");
    Scalar(b, "split", 2);
    onnx::pb::NodeProto& node = b.Node("If", {"c"}, {"parts"});
    onnx::pb::GraphProto &yes = Builder::Body(node, "then_branch"), &no = Builder::Body(node, "else_branch");
    onnx::pb::TensorProto& sizes = *yes.add_initializer();
    sizes.set_name("sizes");
    sizes.set_data_type(INT64);
    sizes.add_dims(2);
    sizes.add_int64_data(3);
    sizes.add_int64_data(1);
    Builder::Add(yes, "SplitToSequence", {"x", "sizes"}, {"made"});
    yes.add_output()->set_name("made");
    std::vector<std::string> twice(static_cast<size_t>(other), "x");
    Builder::Add(no, "SequenceConstruct", twice, {"same"});
    no.add_output()->set_name("same");
    Builder::Int(b.Node("ConcatFromSequence", {"parts"}, {"y"}), "axis", 0);
    return b;
  };
  Builder b = with(2);
  const auto condition = kernels::Allocate(1);
  *condition = 1;
  EXPECT_EQ(Results(b, {{{WF_BOOL, {1}, nullptr, nullptr}, condition}, kFour[0]})[0], (F{1, 2, 3, 4}));
  *condition = 0;
  EXPECT_EQ(Results(b, {{{WF_BOOL, {1}, nullptr, nullptr}, condition}, kFour[0]})[0], (F{1, 2, 3, 4, 1, 2, 3, 4}));
  Builder uneven = with(3);
  EXPECT_EQ(
      uneven.Error(),
      "`x.onnx`: node `n` (If, ai.onnx opset 17): its output 0 is not the same number of tensors on both ways, which only a run tells");
}

TEST(Sequences, ABranchThatIsNeverTakenMayHoldAnything) {
  Builder b;
  b.Input("x", {4}).Output("y");
  b.Node("Optional", {"x"}, {"there"});
  b.Node("OptionalHasElement", {"there"}, {"has"});
  onnx::pb::NodeProto& node = b.Node("If", {"has"}, {"y"});
  onnx::pb::GraphProto &yes = Builder::Body(node, "then_branch"), &no = Builder::Body(node, "else_branch");
  Builder::Add(yes, "OptionalGetElement", {"there"}, {"value"});
  yes.add_output()->set_name("value");
  Builder::Add(no, "Nonsense", {"there"}, {"value"});
  no.add_output()->set_name("value");
  EXPECT_EQ(Results(b, kFour)[0], (F{1, 2, 3, 4}));
}

TEST(Sequences, AnAbsentValueIsKnownToBe) {
  Builder b;
  b.Input("x", {4}).Output("y");
  b.Node("Optional", {}, {"absent"});
  b.Node("OptionalGetElement", {"absent"}, {"y"});
  EXPECT_EQ(b.Error(), "`x.onnx`: node `n` (OptionalGetElement, ai.onnx opset 17): it takes an optional value that is not there");
}

TEST(Sequences, WhatIsNoneOrNowhereIsTold) {
  const auto told = [](int64_t split, const std::string& op, const std::vector<std::string>& in) {
    Builder b = Parts(split);
    Scalar(b, "far", 7);
    b.Longs("whole", {1, 2});
    b.Node(op, in, {"y"});
    return b.Error();
  };
  EXPECT_EQ(told(2, "SequenceAt", {"parts", "far"}),
            "`x.onnx`: node `n` (SequenceAt, ai.onnx opset 17): position 7 in a sequence of 2 tensors");
  EXPECT_EQ(told(2, "SequenceErase", {"parts", "far"}),
            "`x.onnx`: node `n` (SequenceErase, ai.onnx opset 17): position 7 in a sequence of 2 tensors");
  EXPECT_EQ(told(2, "SequenceInsert", {"parts", "x", "far"}),
            "`x.onnx`: node `n` (SequenceInsert, ai.onnx opset 17): position 7 in a sequence of 2 tensors");
  EXPECT_EQ(told(2, "SequenceInsert", {"parts", "whole"}),
            "`x.onnx`: node `n` (SequenceInsert, ai.onnx opset 17): tensors of different types in a sequence, f32 and i64");
  EXPECT_EQ(told(2, "SequenceConstruct", {"x", "whole"}),
            "`x.onnx`: node `n` (SequenceConstruct, ai.onnx opset 17): tensors of different types in a sequence, f32 and i64");
  EXPECT_EQ(told(2, "SequenceAt", {"x", "first"}),
            "`x.onnx`: node `n` (SequenceAt, ai.onnx opset 17): input 0 is a tensor, wanted a sequence");
  EXPECT_EQ(told(2, "Relu", {"parts"}),
            "`x.onnx`: node `n` (Relu, ai.onnx opset 17): it reads `parts`, a sequence or an optional value that is not there, which it "
            "does not take here");
  EXPECT_EQ(told(0, "SequenceLength", {"parts"}), "`x.onnx`: node `n` (SplitToSequence, ai.onnx opset 17): parts of 0");
  EXPECT_EQ(told(2, "SequenceLength", {"nothing"}),
            "`x.onnx`: node `n` (SequenceLength, ai.onnx opset 17): it reads `nothing`, which neither an input, an initialiser nor an "
            "earlier node provides");
}

TEST(Sequences, PartsAreCountedBeforeTheyAreMade) {
  Builder b;
  b.Input("x", {2'000'000'000}).Output("n", {}, INT64);
  b.Node("SplitToSequence", {"x"}, {"parts"});
  b.Node("SequenceLength", {"parts"}, {"n"});
  EXPECT_EQ(b.Error(), "`x.onnx`: node `n` (SplitToSequence, ai.onnx opset 17): 2000000000 parts, 65535 are the most");
  Builder open;
  open.Input("x", {"n"}).Output("n", {}, INT64);
  Scalar(open, "two", 2);
  open.Node("SplitToSequence", {"x", "two"}, {"parts"});
  open.Node("SequenceLength", {"parts"}, {"n"});
  EXPECT_EQ(open.Error(),
            "`x.onnx`: node `n` (SplitToSequence, ai.onnx opset 17): parts of 2 along an extent that the file leaves open, where the last "
            "may be shorter");
}

// x: f32[2, n, 1], its points along the open axis.
Builder Points(int64_t axis, bool keeps_axis) {
  Builder b;
  b.Input("x", {2, "n", 1}).Output("y");
  Scalar(b, "second", 1);
  Scalar(b, "last", -1);
  pb::NodeProto& node = b.Node("SplitToSequence", {"x"}, {"parts"});
  Builder::Int(node, "axis", axis);
  Builder::Int(node, "keepdims", keeps_axis ? 1 : 0);
  return b;
}

TEST(Sequences, PointsOfAnOpenAxisAreAsManyAsARunTells) {
  const std::vector<Elements> x = {FloatsIn({2, 3, 1}, {1, 2, 3, 4, 5, 6})};
  for (const int64_t axis : {1, -2}) {
    for (const bool keeps_axis : {true, false}) {
      Builder at = Points(axis, keeps_axis);
      at.Node("SequenceAt", {"parts", "last"}, {"y"});
      const auto model = at.Read();
      ASSERT_TRUE(model.ok()) << model.status().message();
      EXPECT_EQ(model->signature.outputs[0].ToString(), keeps_axis ? "y: f32[2, 1, 1]" : "y: f32[2, 1]");
      EXPECT_EQ(Results(at, x)[0], (F{3, 6}));
      Builder all = Points(axis, keeps_axis);
      Builder::Int(all.Node("ConcatFromSequence", {"parts"}, {"y"}), "axis", 1);
      EXPECT_EQ(Results(all, x)[0], (F{1, 2, 3, 4, 5, 6}));
    }
  }
  Builder rows;
  rows.Input("x", {"n", 2}).Output("y");
  Scalar(rows, "one", 1);
  rows.Node("SplitToSequence", {"x", "one"}, {"parts"});
  rows.Node("SequenceLength", {"parts"}, {"count"});
  Builder::Int(rows.Node("Cast", {"count"}, {"y"}), "to", FLOAT);
  EXPECT_EQ(Results(rows, {FloatsIn({3, 2}, {1, 2, 3, 4, 5, 6})})[0], F{3});
}

// As what iterates over a tensor is written.
TEST(Sequences, ALoopTakesThePointsOfAnOpenAxis) {
  Builder b = Points(1, false);
  b.Floats("none", {2, 1}, 2);
  b.Node("SequenceLength", {"parts"}, {"count"});
  pb::GraphProto& body = Builder::Body(b.Node("Loop", {"count", "", "none"}, {"y"}), "body");
  for (const char* input : {"i", "c", "sum"}) body.add_input()->set_name(input);
  Builder::Add(body, "SequenceAt", {"parts", "i"}, {"each"});
  Builder::Add(body, "Add", {"sum", "each"}, {"next"});
  Builder::Add(body, "Identity", {"c"}, {"same"});
  for (const char* output : {"same", "next"}) body.add_output()->set_name(output);
  EXPECT_EQ(Results(b, {FloatsIn({2, 3, 1}, {1, 2, 3, 4, 5, 6})})[0], (F{6, 15}));
}

TEST(Sequences, TurnsAreBounded) {
  Builder b;
  b.Input("x", {4}).Output("y");
  Scalar(b, "turns", INT64_MAX);
  Builder::Int(b.Node("SequenceEmpty", {}, {"none"}), "dtype", FLOAT);
  onnx::pb::GraphProto& body = Builder::Body(b.Node("Loop", {"turns", "", "none"}, {"many"}), "body");
  for (const char* input : {"i", "c", "so_far"}) body.add_input()->set_name(input);
  Builder::Add(body, "SequenceInsert", {"so_far", "x"}, {"longer"});
  for (const char* output : {"c", "longer"}) body.add_output()->set_name(output);
  Builder::Int(b.Node("ConcatFromSequence", {"many"}, {"y"}), "axis", 0);
  EXPECT_EQ(b.Error(),
            "`x.onnx`: node `n` (Loop, ai.onnx opset 17): its sequences together have more than 1048576 tensors, in a body of node `n` "
            "(Loop, ai.onnx opset 17)");
  Builder endless;
  endless.Input("x", {4}).Output("y");
  Builder::Int(endless.Node("SequenceEmpty", {}, {"none"}), "dtype", FLOAT);
  onnx::pb::GraphProto& idle = Builder::Body(endless.Node("Loop", {"", "", "none"}, {"y"}), "body");
  for (const char* input : {"i", "c", "so_far"}) idle.add_input()->set_name(input);
  for (const char* output : {"c", "so_far"}) idle.add_output()->set_name(output);
  EXPECT_EQ(
      endless.Error(),
      "`x.onnx`: node `n` (Loop, ai.onnx opset 17): the turns over sequences, written out, have more than 65536 nodes or too many bytes");
}

// Puts x times 1, 2, .. behind a sequence, as often as a run says.
Builder Growing() {
  Builder b;
  b.Input("m", {}, INT64).Input("x", {1, 2}).Output("y");
  Builder::Int(b.Node("SequenceEmpty", {}, {"none"}), "dtype", FLOAT);
  onnx::pb::NodeProto& loop = b.Node("Loop", {"m", "", "x", "none"}, {"last", "many"});
  onnx::pb::GraphProto& body = Builder::Body(loop, "body");
  for (const char* input : {"i", "c", "each", "so_far"}) body.add_input()->set_name(input);
  Builder::Add(body, "Add", {"each", "x"}, {"next"});
  Builder::Add(body, "Identity", {"c"}, {"same"});
  Builder::Add(body, "SequenceInsert", {"so_far", "each"}, {"longer"});
  for (const char* output : {"same", "next", "longer"}) body.add_output()->set_name(output);
  return b;
}
std::vector<Elements> Turns(int64_t turns) {
  const auto memory = kernels::Allocate(8);
  std::memcpy(memory.get(), &turns, sizeof turns);
  return {{{WF_I64, {}, nullptr, nullptr}, memory}, FloatsIn({1, 2}, {1, 10})};
}

TEST(Sequences, WhatALoopPutsBehindOneIsStackedHoweverOftenItTurns) {
  struct Joined {
    int64_t axis, is_new;
    F wanted;
  };
  for (const Joined& each : {Joined{0, 0, {1, 10, 2, 20, 3, 30}}, Joined{0, 1, {1, 10, 2, 20, 3, 30}}, Joined{1, 0, {1, 10, 2, 20, 3, 30}},
                             Joined{-1, 1, {1, 2, 3, 10, 20, 30}}}) {
    Builder b = Growing();
    onnx::pb::NodeProto& node = b.Node("ConcatFromSequence", {"many"}, {"y"});
    Builder::Int(node, "axis", each.axis);
    Builder::Int(node, "new_axis", each.is_new);
    EXPECT_EQ(Results(b, Turns(3))[0], each.wanted) << each.axis << ' ' << each.is_new;
  }
  Builder b = Growing();
  Scalar(b, "end", -1);
  b.Node("SequenceAt", {"many", "end"}, {"y"});
  EXPECT_EQ(Results(b, Turns(4))[0], (F{4, 40}));
}

TEST(Sequences, ALoopThatIsWrittenOutHasNoInputForAnInitialiserThatIsListedThere) {
  for (const bool grows : {true, false}) {
    Builder b = Growing();
    onnx::pb::GraphProto& body = *b.graph.mutable_node(1)->mutable_attribute(0)->mutable_g();
    onnx::pb::TensorProto& tensor = *body.add_initializer();
    tensor.set_name("k");
    tensor.set_data_type(FLOAT);
    Builder::SetFloats(tensor, {7});
    body.add_input()->set_name("k");
    body.mutable_input()->SwapElements(2, 4);
    body.mutable_input()->SwapElements(3, 4);
    body.mutable_node(0)->set_input(1, "k");
    if (!grows) {
      Scalar(b, "turns", 2);
      b.graph.mutable_node(1)->set_input(0, "turns");
    }
    Builder::Int(b.Node("ConcatFromSequence", {"many"}, {"y"}), "axis", 0);
    EXPECT_EQ(Results(b, Turns(2))[0], (F{1, 10, 8, 17})) << grows;
  }
}

TEST(Sequences, WhatOnlyARunCountsIsNotTakenApartFurther) {
  Builder b = Growing();
  b.Node("SequenceErase", {"many"}, {"fewer"});
  Builder::Int(b.Node("ConcatFromSequence", {"fewer"}, {"y"}), "axis", 0);
  EXPECT_EQ(
      b.Error(),
      "`x.onnx`: node `n` (SequenceErase, ai.onnx opset 17): input 0 has as many tensors as only a run tells, which is not supported here");
  Builder out = Growing();
  out.graph.mutable_output(0)->set_name("many");
  EXPECT_EQ(out.Error(), "`x.onnx`: output `many` is a sequence of as many tensors as only a run tells");
}

TEST(Sequences, ALoopWhoseTurnsOnlyARunTellsCarriesNone) {
  Builder b;
  b.Input("m", {}, INT64).Input("x", {4}).Output("y");
  b.Node("SequenceConstruct", {"x"}, {"one"});
  onnx::pb::GraphProto& body = Builder::Body(b.Node("Loop", {"m", "", "one"}, {"many"}), "body");
  for (const char* input : {"i", "c", "so_far"}) body.add_input()->set_name(input);
  for (const char* output : {"c", "so_far"}) body.add_output()->set_name(output);
  Builder::Int(b.Node("ConcatFromSequence", {"many"}, {"y"}), "axis", 0);
  EXPECT_EQ(b.Error(), "`x.onnx`: node `n` (Loop, ai.onnx opset 17): it carries a sequence, and how often it turns is computed from data");
}

TEST(Sequences, AnInputHasAsManyTensorsAsAreGiven) {
  Builder b;
  onnx::pb::ValueInfoProto& input = *b.graph.add_input();
  input.set_name("x");
  input.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(FLOAT);
  b.Output("y");
  Builder::Int(b.Node("ConcatFromSequence", {"x"}, {"y"}), "axis", 0);
  EXPECT_EQ(
      b.Error(),
      "`x.onnx`: input `x` is a sequence, and how many tensors it has is not said; a written signature lists them, as in `x as \"x[0]\": "
      "f32[n]`");
  const std::string bytes = b.Bytes();
  onnx::ReadOptions options;
  options.given = onnx::Given{{{"x[0]", WF_F32, {onnx::Dim(2)}}, {"x[1]", WF_F32, {onnx::Dim(3)}}}, {}};
  const auto read = onnx::ReadModelBytes({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "x.onnx", options);
  ASSERT_TRUE(read.ok()) << read.status().message();
  ASSERT_EQ(read->signature.inputs.size(), 2u);
  EXPECT_EQ(read->signature.inputs[1].ToString(), "x[1]: f32[3]");
  EXPECT_EQ(read->signature.outputs[0].ToString(), "y: f32[5]");
}

}  // namespace
}  // namespace wf::model
