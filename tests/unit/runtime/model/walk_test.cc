#include "runtime/model/walk.h"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/model/control.h"
#include "tests/unit/runtime/onnx/builder.h"
#include "tests/unit/support/counted_limit.h"

namespace wf::model {
namespace {

using onnx::pb::BOOL;
using onnx::pb::FLOAT;
using onnx::pb::INT64;
using testing::Builder;

template <typename T>
Elements Given(uint8_t dtype, std::vector<int64_t> dim, const std::vector<T>& values) {
  const auto memory = kernels::Allocate(static_cast<int64_t>(values.size() * sizeof(T)));
  if (!values.empty()) std::memcpy(memory.get(), values.data(), values.size() * sizeof(T));
  return {{dtype, std::move(dim), nullptr, nullptr}, memory};
}
Elements Floats(std::vector<int64_t> dim, const std::vector<float>& values) { return Given(WF_F32, std::move(dim), values); }
Elements Long(int64_t value) { return Given<int64_t>(WF_I64, {}, {value}); }
Elements Bool(bool value) { return Given<uint8_t>(WF_BOOL, {}, {value}); }

std::vector<float> FloatsOf(const Elements& elements) {
  const auto* data = reinterpret_cast<const float*>(elements.data.get());
  return {data, data + elements.info.count()};
}

// A model and a walk through it.
struct Walked {
  explicit Walked(Builder& builder, base::MemoryLimit* limit = nullptr) : budget(limit, 1000) {
    kernels::UseOneThread();
    auto read = builder.Read();
    WF_CHECK(read.ok(), read.status().message());
    auto made = Optimise(std::make_shared<onnx::Model>(*std::move(read)));
    WF_CHECK(made.ok(), made.status().message());
    program = *std::move(made);
    walk = std::make_unique<Walk>(program, PartLimits{int64_t{1} << 12, &budget});
  }
  base::Status Failure(const std::vector<Elements>& inputs) {
    budget.Begin(INT64_MAX, nullptr);
    return walk->Run(inputs);
  }
  std::string Error(const std::vector<Elements>& inputs) { return Failure(inputs).message(); }
  std::vector<Elements> Run(const std::vector<Elements>& inputs) {
    budget.Begin(INT64_MAX, nullptr);
    const base::Status ran = walk->Run(inputs);
    EXPECT_TRUE(ran.ok()) << ran.message();
    return ran.ok() ? walk->outputs() : std::vector<Elements>(program.graph.outputs.size());
  }
  Program program;
  Budget budget;
  std::unique_ptr<Walk> walk;
};

Builder Choice() {
  Builder builder;
  builder.Input("c", {}, BOOL).Input("x", {"n"}).Output("y");
  onnx::pb::NodeProto& node = builder.Node("If", {"c"}, {"y"});
  onnx::pb::GraphProto &yes = Builder::Body(node, "then_branch"), &no = Builder::Body(node, "else_branch");
  Builder::Add(yes, "Add", {"x", "x"}, {"twice"});
  yes.add_output()->set_name("twice");
  Builder::Add(no, "Concat", {"x", "x"}, {"both"});
  Builder::Int(*no.mutable_node(0), "axis", 0);
  no.add_output()->set_name("both");
  return builder;
}

// Sums x into an accumulator, and stacks what it has after each turn; goes on while `more` is true.
Builder Sums() {
  Builder builder;
  builder.Input("m", {}, INT64).Input("more", {}, BOOL).Input("a", {2}).Input("x", {2}).Output("last").Output("all");
  onnx::pb::NodeProto& node = builder.Node("Loop", {"m", "more", "a"}, {"last", "all"});
  onnx::pb::GraphProto& body = Builder::Body(node, "body");
  for (const char* input : {"i", "c", "sum"}) body.add_input()->set_name(input);
  Builder::Add(body, "Add", {"sum", "x"}, {"next"});
  Builder::Add(body, "Identity", {"c"}, {"same"});
  for (const char* output : {"same", "next", "next"}) body.add_output()->set_name(output);
  return builder;
}

TEST(Walk, IfRunsTheBranchThatItsConditionNames) {
  Builder builder = Choice();
  Walked walked(builder);
  const Elements x = Floats({3}, {1, 2, 3});
  EXPECT_EQ(FloatsOf(walked.Run({Bool(true), x})[0]), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(FloatsOf(walked.Run({Bool(false), x})[0]), (std::vector<float>{1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(walked.Run({Bool(false), Floats({1}, {5})})[0].info.dim, (std::vector<int64_t>{2}));
}

TEST(Walk, AnIfWhoseBranchesDifferHasAnExtentThatOnlyARunTells) {
  const auto model = Choice().Read();
  ASSERT_TRUE(model.ok()) << model.status().message();
  EXPECT_FALSE(model->signature.outputs[0].dim[0].is_constant());
  EXPECT_NE(model->signature.outputs[0].dim[0].symbol(), "n");
}

TEST(Walk, LoopCarriesAndStacks) {
  Builder builder = Sums();
  Walked walked(builder);
  for (int again = 0; again < 2; ++again) {
    const auto outputs = walked.Run({Long(3), Bool(true), Floats({2}, {10, 20}), Floats({2}, {1, 2})});
    EXPECT_EQ(FloatsOf(outputs[0]), (std::vector<float>{13, 26}));
    EXPECT_EQ(outputs[1].info.dim, (std::vector<int64_t>{3, 2}));
    EXPECT_EQ(FloatsOf(outputs[1]), (std::vector<float>{11, 22, 12, 24, 13, 26}));
  }
}

// Each result of a turn is what another input was.
// As files of an old format have them.
TEST(Walk, AnInitialiserOfABodyIsNoneOfItsInputsThoughItIsListedThere) {
  const auto list = [](onnx::pb::NodeProto& node, const char* name, const std::vector<float>& values) {
    for (onnx::pb::AttributeProto& attribute : *node.mutable_attribute()) {
      if (!attribute.has_g()) continue;
      onnx::pb::GraphProto& body = *attribute.mutable_g();
      onnx::pb::TensorProto& tensor = *body.add_initializer();
      tensor.set_name(name);
      tensor.set_data_type(FLOAT);
      tensor.add_dims(static_cast<int64_t>(values.size()));
      Builder::SetFloats(tensor, values);
      body.add_input()->set_name(name);
      body.mutable_node(0)->set_input(1, name);
    }
  };
  Builder choice = Choice();
  list(*choice.graph.mutable_node(0), "k", {5});
  Walked chosen(choice);
  EXPECT_EQ(FloatsOf(chosen.Run({Bool(true), Floats({2}, {1, 2})})[0]), (std::vector<float>{6, 7}));
  EXPECT_EQ(FloatsOf(chosen.Run({Bool(false), Floats({2}, {1, 2})})[0]), (std::vector<float>{1, 2, 5}));
  Builder sums = Sums();
  list(*sums.graph.mutable_node(0), "x2", {1, 2});
  sums.graph.mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_input()->SwapElements(2, 3);  // not always behind the others
  Walked looped(sums);
  EXPECT_EQ(FloatsOf(looped.Run({Long(3), Bool(true), Floats({2}, {10, 20}), Floats({2}, {0, 0})})[0]), (std::vector<float>{13, 26}));
}

TEST(Walk, ALoopMayExchangeWhatItCarries) {
  Builder builder;
  builder.Input("m", {}, INT64).Input("a", {2}).Input("b", {2}).Output("y").Output("z").Output("turns");
  onnx::pb::NodeProto& node = builder.Node("Loop", {"m", "", "a", "b"}, {"y", "z", "turns"});
  onnx::pb::GraphProto& body = Builder::Body(node, "body");
  for (const char* input : {"i", "c", "one", "other"}) body.add_input()->set_name(input);
  Builder::Add(body, "Identity", {"c"}, {"same"});
  Builder::Add(body, "Identity", {"i"}, {"number"});
  for (const char* output : {"same", "other", "one", "number"}) body.add_output()->set_name(output);
  Walked walked(builder);
  for (const int64_t turns : {3, 4}) {
    const auto outputs = walked.Run({Long(turns), Floats({2}, {1, 2}), Floats({2}, {30, 40})});
    const std::vector<float> a = {1, 2}, b = {30, 40};
    EXPECT_EQ(FloatsOf(outputs[0]), turns == 3 ? b : a);
    EXPECT_EQ(FloatsOf(outputs[1]), turns == 3 ? a : b);
    for (int64_t i = 0; i < turns; ++i) EXPECT_EQ(reinterpret_cast<const int64_t*>(outputs[2].data.get())[i], i);
  }
}

TEST(Walk, ALoopWithoutTurnsGivesWhatItWasGiven) {
  Builder builder = Sums();
  Walked walked(builder);
  for (const auto& [turns, more] : {std::pair(int64_t{0}, true), {int64_t{5}, false}}) {
    const auto outputs = walked.Run({Long(turns), Bool(more), Floats({2}, {10, 20}), Floats({2}, {1, 2})});
    EXPECT_EQ(FloatsOf(outputs[0]), (std::vector<float>{10, 20}));
    EXPECT_EQ(outputs[1].info.dim, (std::vector<int64_t>{0, 2}));
  }
}

TEST(Walk, ALoopThatNeverEndsIsRefused) {
  Builder builder = Sums();
  builder.graph.mutable_node(0)->mutable_output()->RemoveLast();
  builder.graph.mutable_output()->RemoveLast();
  builder.graph.mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_output()->RemoveLast();
  Walked walked(builder);
  const base::Status failure = walked.Failure({Long(INT64_MAX), Bool(true), Floats({2}, {10, 20}), Floats({2}, {1, 2})});
  EXPECT_EQ(failure.message(), "`x.onnx`: node `n` (Loop, ai.onnx opset 17): more than 1000 turns of loops in one run");
  EXPECT_EQ(failure.code(), base::kAborted);  // not for memory: however much there is, it fails
}

// A loop of n turns in a loop of n turns.
Builder Nested() {
  Builder builder;
  builder.Input("n", {}, INT64).Input("x", {2}).Output("y");
  onnx::pb::NodeProto& outer = builder.Node("Loop", {"n", "", "x"}, {"y"});
  onnx::pb::GraphProto& around = Builder::Body(outer, "body");
  for (const char* input : {"i", "c", "a"}) around.add_input()->set_name(input);
  onnx::pb::NodeProto& inner = *around.add_node();
  inner.set_op_type("Loop");
  for (const char* input : {"n", "", "a"}) inner.add_input(input);
  inner.add_output("b");
  onnx::pb::GraphProto& body = Builder::Body(inner, "body");
  for (const char* input : {"j", "d", "s"}) body.add_input()->set_name(input);
  Builder::Add(body, "Add", {"s", "x"}, {"t"});
  Builder::Add(body, "Identity", {"d"}, {"e"});
  for (const char* output : {"e", "t"}) body.add_output()->set_name(output);
  Builder::Add(around, "Identity", {"c"}, {"f"});
  for (const char* output : {"f", "b"}) around.add_output()->set_name(output);
  return builder;
}

TEST(Walk, LoopsInLoopsShareTheTurnsOfARun) {
  Builder builder = Nested();
  Walked walked(builder);
  for (int again = 0; again < 2; ++again) {
    EXPECT_EQ(FloatsOf(walked.Run({Long(30), Floats({2}, {1, 2})})[0]), (std::vector<float>{901, 1802}));
    EXPECT_NE(walked.Error({Long(32), Floats({2}, {1, 2})}).find("more than 1000 turns"), std::string::npos);
  }
}

TEST(Walk, ARunEndsWhenNobodyWantsIt) {
  struct SomeTurns final : base::Wanted {
    bool IsWanted() const noexcept override { return left-- > 0; }
    mutable int left = 20;
  } wanted;
  Builder builder = Nested();
  Walked walked(builder);
  walked.budget.Begin(INT64_MAX, &wanted);
  EXPECT_EQ(walked.walk->Run(std::vector{Long(30), Floats({2}, {1, 2})}).code(), base::kCancelled);
  EXPECT_EQ(wanted.left, -1);
}

TEST(Walk, ARunThatTakesMoreThanItMayIsRefusedAndItsMemoryIsKnown) {
  test::CountedLimit limit(int64_t{1} << 30);
  Builder builder = Sums();
  Walked walked(builder, &limit);
  const std::vector<Elements> inputs = {Long(100), Bool(true), Floats({2}, {0, 0}), Floats({2}, {1, 2})};
  walked.budget.Begin(1 << 9, nullptr);
  const base::Status refused = walked.walk->Run(inputs);
  EXPECT_EQ(refused.code(), base::kOutOfRange) << refused.message();
  EXPECT_NE(refused.message().find("the request may not have"), std::string::npos) << refused.message();
  walked.budget.Begin(1 << 12, nullptr);
  EXPECT_TRUE(walked.walk->Run(inputs).ok());
  EXPECT_EQ(limit.used, walked.budget.bytes());
  EXPECT_GT(limit.used, 0);
  walked.walk = nullptr;
  EXPECT_EQ(limit.used, 0);
}

TEST(Walk, WhatTurnsStackIsBoundedAndClaimed) {
  test::CountedLimit limit(int64_t{1} << 30);
  Builder builder = Sums();
  {
    Walked walked(builder, &limit);
    EXPECT_NE(walked.Error({Long(999), Bool(true), Floats({2}, {0, 0}), Floats({2}, {1, 2})}).find("a result of"), std::string::npos);
    EXPECT_GT(limit.used, 0);
  }
  EXPECT_EQ(limit.used, 0);
}

TEST(Walk, ScanWalksAxesInBothDirections) {
  Builder builder;
  builder.Input("a", {2}).Input("x", {2, 3}).Output("last").Output("all");
  onnx::pb::NodeProto& node = builder.Node("Scan", {"a", "x"}, {"last", "all"});
  onnx::pb::GraphProto& body = Builder::Body(node, "body");
  for (const char* input : {"sum", "column"}) body.add_input()->set_name(input);
  Builder::Add(body, "Add", {"sum", "column"}, {"next"});
  for (const char* output : {"next", "next"}) body.add_output()->set_name(output);
  Builder::Int(node, "num_scan_inputs", 1);
  Builder::Ints(node, "scan_input_axes", {1});
  Builder::Ints(node, "scan_output_axes", {-1});
  Builder::Ints(node, "scan_input_directions", {1});
  Walked walked(builder);
  const auto outputs = walked.Run({Floats({2}, {0, 0}), Floats({2, 3}, {1, 2, 3, 10, 20, 30})});
  EXPECT_EQ(FloatsOf(outputs[0]), (std::vector<float>{6, 60}));
  EXPECT_EQ(outputs[1].info.dim, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(FloatsOf(outputs[1]), (std::vector<float>{3, 5, 6, 30, 50, 60}));
}

TEST(Walk, BodiesInBodiesReadFromAllAround) {
  Builder builder = Sums();
  onnx::pb::GraphProto& body = *builder.graph.mutable_node(0)->mutable_attribute(0)->mutable_g();
  body.mutable_node(0)->Clear();
  onnx::pb::NodeProto& choice = *body.mutable_node(0);
  choice.set_op_type("If");
  choice.add_input("c");
  choice.add_output("next");
  onnx::pb::GraphProto &yes = Builder::Body(choice, "then_branch"), &no = Builder::Body(choice, "else_branch");
  Builder::Add(yes, "Mul", {"sum", "x"}, {"product"});
  yes.add_output()->set_name("product");
  Builder::Add(no, "Sub", {"sum", "x"}, {"rest"});
  no.add_output()->set_name("rest");
  Walked walked(builder);
  const auto outputs = walked.Run({Long(2), Bool(true), Floats({2}, {1, 1}), Floats({2}, {3, 4})});
  EXPECT_EQ(FloatsOf(outputs[0]), (std::vector<float>{9, 16}));
}

TEST(Walk, ABodyThatIsWrongIsToldWithItsNode) {
  Builder builder = Choice();
  builder.graph.mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_input(0, "nobody");
  EXPECT_EQ(builder.Error(),
            "`x.onnx`: node 0 (Add, ai.onnx opset 17): it reads `nobody`, which neither an input, an initialiser nor an earlier node "
            "provides, in `then_branch` of "
            "node `n` (If, ai.onnx opset 17)");
}

}  // namespace
}  // namespace wf::model
