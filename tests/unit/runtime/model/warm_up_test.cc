// What is made of a file before it serves: whether a request has room for it, and what it gives for made-up inputs.

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/model/version.h"
#include "tests/unit/runtime/model/temp_file.h"
#include "tests/unit/runtime/onnx/builder.h"

namespace wf::model {
namespace {

using testing::TempFile;

// Loads what is built; what is said of it without the file's name: of one that is taken, "warning: " and what was odd, or nothing.
std::string Told(testing::Builder& builder, LoadOptions options = {}) {
  const std::string bytes = builder.Bytes();
  const TempFile file({bytes.begin(), bytes.end()});
  const auto version = Version::Load(file.path(), options);
  const std::string prefix = "`" + file.path() + "`: ", message = version.ok() ? (*version)->warning() : version.status().message();
  if (message.empty()) return "";
  EXPECT_EQ(message.find(prefix), 0U) << message;
  return (version.ok() ? "warning: " : "") + message.substr(std::min(prefix.size(), message.size()));
}

TEST(WarmUp, WithoutFiniteResultsIsAWarning) {
  testing::Builder divide;
  divide.Input("x", {"N", 3}).Output("y", {"N", 3});
  testing::Builder::SetFloats(divide.Floats("zero", {}, 1), {0});
  divide.Node("Div", {"x", "zero"}, {"h"}, "divide");
  divide.Node("Neg", {"h"}, {"y"});
  EXPECT_EQ(
      Told(divide).find("warning: output `y` is not finite; node `divide` (Div) is the first whose result is not; none of 8 runs of " +
                        std::string("its warm-up gives finite outputs: they were fed floats from 0.25 to 1, all 1")),
      0U)
      << Told(divide);
}

// ids: i64[N, 4] -> f32[N, 2]: the mean of the rows of a table that ids other than 0 name.
testing::Builder MaskedMean(const std::vector<float>& table) {
  testing::Builder builder(13);
  builder.Input("ids", {"N", 4}, onnx::pb::INT64).Output("y", {"N", 2});
  testing::Builder::SetFloats(builder.Floats("e", {3, 2}, 6), table);
  testing::Builder::SetFloats(builder.Floats("low", {}, 1), {0});
  testing::Builder::SetFloats(builder.Floats("high", {}, 1), {1});
  builder.Longs("two", {2});
  builder.Longs("one", {1});
  testing::Builder::Int(builder.Node("Cast", {"ids"}, {"numbers"}, "cast"), "to", 1);
  builder.Node("Clip", {"numbers", "low", "high"}, {"m"}, "clip");
  builder.Node("Unsqueeze", {"m", "two"}, {"mask"}, "mask");
  builder.Node("Gather", {"e", "ids"}, {"rows"}, "rows");
  builder.Node("Mul", {"rows", "mask"}, {"masked"}, "masked");
  testing::Builder::Int(builder.Node("ReduceSum", {"masked", "one"}, {"sum"}, "sum"), "keepdims", 0);
  testing::Builder::Int(builder.Node("ReduceSum", {"mask", "one"}, {"count"}, "count"), "keepdims", 0);
  builder.Node("Div", {"sum", "count"}, {"y"}, "mean");
  return builder;
}

TEST(WarmUp, AModelThatAnySampleSuitsIsTaken) {
  testing::Builder mean = MaskedMean({1, 2, 3, 4, 5, 6});
  EXPECT_EQ(Told(mean), "") << "zeros alone leave nothing to divide by";

  testing::Builder log;
  log.Input("x", {"N", 3}).Output("y", {"N", 3});
  testing::Builder::SetFloats(log.Floats("one", {}, 1), {1});
  log.Node("Sub", {"x", "one"}, {"above"});
  log.Node("Log", {"above"}, {"y"});
  EXPECT_EQ(Told(log), "") << "not all are above 1";

  testing::Builder below;
  below.Input("x", {"N", 1}).Output("y", {"N", 1});
  testing::Builder::SetFloats(below.Floats("third", {}, 1), {0.3F});
  below.Node("Sub", {"third", "x"}, {"left"});
  below.Node("Log", {"left"}, {"y"});
  EXPECT_EQ(Told(below), "") << "few are below 0.3";

  testing::Builder spread;
  spread.Input("x", {"N", 3}).Output("y", {"N", 3});
  testing::Builder::Ints(spread.Node("ReduceMean", {"x"}, {"mean"}), "axes", {1});
  spread.Node("Sub", {"x", "mean"}, {"apart"});
  spread.Node("Mul", {"apart", "apart"}, {"squares"});
  testing::Builder::Ints(spread.Node("ReduceMean", {"squares"}, {"variance"}), "axes", {1});
  spread.Node("Sqrt", {"variance"}, {"deviation"});
  spread.Node("Div", {"apart", "deviation"}, {"y"});
  EXPECT_EQ(Told(spread), "") << "equal numbers have no spread";

  for (const float least : {3.0F, 5.0F, 99.0F, -50.0F}) {
    testing::Builder root;
    root.Input("x", {"N", 6}).Output("y", {"N", 6}).Output("log", {"N", 6});
    testing::Builder::SetFloats(root.Floats("least", {}, 1), {least});
    root.Node("Sub", {"x", "least"}, {"above"});
    root.Node("Sqrt", {"above"}, {"y"});
    root.Node("Log", {"above"}, {"log"});
    EXPECT_EQ(Told(root), "") << least;
  }

  testing::Builder attend;
  attend.Input("x", {"N", 3}).Input("ignored", {"N", 3}, onnx::pb::BOOL).Output("y", {"N", 3});
  testing::Builder::SetFloats(attend.Floats("never", {}, 1), {-INFINITY});
  attend.Node("Where", {"ignored", "never", "x"}, {"scores"});
  testing::Builder::Int(attend.Node("Softmax", {"scores"}, {"y"}), "axis", 1);
  EXPECT_EQ(Told(attend), "") << "where all is ignored nothing is left";
}

TEST(WarmUp, ASampleThatFailsToRunIsOneOfSeveral) {
  const auto with_offset = [](int64_t offset) {
    testing::Builder builder;
    builder.Input("i", {"N", 1}, onnx::pb::INT64).Output("y", {"N", 1});
    builder.Floats("table", {5}, 5);
    builder.Longs("offset", {offset});
    builder.Node("Add", {"i", "offset"}, {"at"}, "shift");
    builder.Node("Gather", {"table", "at"}, {"y"}, "pick");
    return builder;
  };
  testing::Builder first = with_offset(-6), none = with_offset(7);
  EXPECT_EQ(Told(first), "");  // -5 is the first element
  EXPECT_EQ(Told(none).find("warning: node `pick` (Gather): an index is out of range; none of 8 runs"), 0U) << Told(none);
}

// Windows of any length hold numbers that differ: repeated ones have no spread.
TEST(WarmUp, NoWindowOfASampleRepeats) {
  for (const int width : {2, 3, 6, 7, 12, 64}) {
    testing::Builder score;
    score.Input("x", {"N", width, 12}).Output("y", {"N", width, 12});
    testing::Builder::Ints(score.Node("ReduceMean", {"x"}, {"mean"}), "axes", {1});
    score.Node("Sub", {"x", "mean"}, {"apart"});
    score.Node("Mul", {"apart", "apart"}, {"squares"});
    testing::Builder::Ints(score.Node("ReduceMean", {"squares"}, {"variance"}), "axes", {1});
    score.Node("Sqrt", {"variance"}, {"deviation"});
    score.Node("Div", {"apart", "deviation"}, {"y"});
    EXPECT_EQ(Told(score), "") << width;
  }
  testing::Builder apart;  // nor are two inputs the same
  apart.Input("a", {"N", 5}).Input("b", {"N", 5}).Output("y", {"N", 5});
  apart.Node("Sub", {"a", "b"}, {"d"});
  apart.Node("Reciprocal", {"d"}, {"y"});
  EXPECT_EQ(Told(apart), "");
}

// Attention whose scores, with the mask of what comes later, are an output themselves.
testing::Builder Causal(float hidden, float weight) {
  testing::Builder causal;
  causal.Input("x", {"N", 2}).Output("scores", {"N", 2, 2}).Output("y", {"N", 2, 2});
  testing::Builder::SetFloats(causal.Floats("mask", {2, 2}, 4), {0, hidden, 0, 0});
  testing::Builder::SetFloats(causal.Floats("w", {1, 2}, 2), {1, weight});
  causal.Longs("last", {2});
  causal.Node("Unsqueeze", {"x", "last"}, {"tall"}, "tall");
  causal.Node("MatMul", {"tall", "w"}, {"all"}, "layer");
  causal.Node("Add", {"all", "mask"}, {"scores"}, "hide");
  testing::Builder::Int(causal.Node("Softmax", {"scores"}, {"y"}), "axis", 2);
  return causal;
}

TEST(WarmUp, AMaskOfInfinitiesIsNoReasonToRefuse) {
  testing::Builder sound = Causal(-INFINITY, 1), broken = Causal(-INFINITY, NAN), finite = Causal(-1e9F, 1);
  EXPECT_EQ(Told(finite), "");
  EXPECT_EQ(Told(sound).find("warning: output `scores` is not finite; node `hide` (Add) is the first whose result is not; none of 8 runs"),
            0U)
      << Told(sound);
  EXPECT_EQ(Told(broken), "output `scores` is not finite, whatever the input: node `layer` (MatMul) has weights that are NaN or infinite");
}

TEST(WarmUp, WhatIsChosenAmongNumbersIsNoReasonToRefuse) {
  testing::Builder choice;
  choice.Input("x", {"N", 2}).Input("far", {"N", 2}, onnx::pb::BOOL).Output("y", {"N", 2});
  testing::Builder::SetFloats(choice.Floats("none", {}, 1), {NAN});
  choice.Node("Where", {"far", "none", "x"}, {"marked"}, "mark");
  choice.Node("Add", {"marked", "marked"}, {"y"}, "twice");
  EXPECT_EQ(Told(choice), "") << "it is false in the last sample";

  testing::Builder table;
  table.Input("i", {"N", 1}, onnx::pb::INT64).Output("y", {"N", 1});
  testing::Builder::SetFloats(table.Floats("e", {200}, 200), [] {
    std::vector<float> rows(200, NAN);
    rows[150] = 1;
    return rows;
  }());
  table.Node("Gather", {"e", "i"}, {"y"}, "pick");
  EXPECT_EQ(Told(table).find("warning: output `y` is not finite; node `pick` (Gather) is the first"), 0U) << Told(table);
}

TEST(WarmUp, AModelWithWeightsThatAreNoNumbersIsRefused) {
  testing::Builder mean = MaskedMean({NAN, NAN, NAN, NAN, NAN, NAN});
  EXPECT_EQ(Told(mean), "output `y` is not finite, whatever the input: node `rows` (Gather) has weights that are NaN or infinite");
  for (const float wrong : {NAN, INFINITY}) {
    testing::Builder layer;
    layer.Input("x", {"N", 2}).Output("y", {"N", 2});
    testing::Builder::SetFloats(layer.Floats("w", {2, 2}, 4), {1, wrong, 0, 1});
    layer.Node("MatMul", {"x", "w"}, {"y"});
    EXPECT_EQ(Told(layer).find("output `y` is not finite, whatever the input: node `n` (MatMul) has weights"), 0U) << Told(layer);
  }
  for (const char* op : {"Add", "Sub", "Mul", "Div"}) {
    testing::Builder shift;
    shift.Input("x", {"N", 2}).Output("y", {"N", 2});
    testing::Builder::SetFloats(shift.Floats("w", {2}, 2), {1, NAN});
    shift.Node(op, {"x", "w"}, {"h"});
    shift.Node("Tanh", {"h"}, {"y"});
    EXPECT_EQ(Told(shift).find("output `y` is not finite, whatever the input: node `n` ("), 0U) << op << ": " << Told(shift);
  }
}

TEST(WarmUp, AnAnswerThatWeightsDoNotReachIsTaken) {
  testing::Builder apart;
  apart.Input("x", {"N", 2}).Output("y", {"N", 2});
  testing::Builder::SetFloats(apart.Floats("least", {}, 1), {1e6F});
  testing::Builder::SetFloats(apart.Floats("w", {2, 2}, 4), {1, NAN, 0, 1});
  apart.Node("MatMul", {"x", "w"}, {"unread"}, "unread");
  apart.Node("Sub", {"x", "least"}, {"above"});
  apart.Node("Log", {"above"}, {"y"}, "log");
  EXPECT_EQ(Told(apart).find("warning: output `y` is not finite; node `"), 0U) << Told(apart);
}

// Time that goes on by a step whenever it is read.
class Ticking final : public base::Clock {
 public:
  explicit Ticking(int64_t step_ns) : step_ns_(step_ns) {}
  base::TimePoint Now() const override { return now_ += step_ns_; }

 private:
  const int64_t step_ns_;
  mutable int64_t now_ = 0;
};

TEST(WarmUp, ItsLoadMeasuresARowThatIsQuick) {
  testing::Builder layer;
  layer.Input("x", {"N", 2}).Output("y", {"N", 2});
  layer.Node("Tanh", {"x"}, {"y"});
  const std::string bytes = layer.Bytes();
  const TempFile file({bytes.begin(), bytes.end()});
  const Ticking quick(1'000), slow(5'000'000);
  LoadOptions options;
  for (const auto& [clock, row_ns] : {std::pair<const base::Clock*, int64_t>{&quick, 1'000}, {&slow, 0}, {nullptr, 0}}) {
    options.clock = clock;
    const auto version = Version::Load(file.path(), options);
    ASSERT_TRUE(version.ok()) << version.status().message();
    EXPECT_EQ((*version)->row_ns(), row_ns);
  }
}

TEST(WarmUp, HalvesAreFedAndHeldAgainstTheSame) {
  testing::Builder narrow;
  narrow.Input("x", {"N", 3}, onnx::pb::FLOAT16).Output("y", {"N", 3}, onnx::pb::BFLOAT16);
  testing::Builder::SetFloats(narrow.Floats("one", {}, 1), {1});
  testing::Builder::Int(narrow.Node("Cast", {"x"}, {"wide"}), "to", onnx::pb::FLOAT);
  narrow.Node("Sub", {"wide", "one"}, {"above"});
  narrow.Node("Log", {"above"}, {"log"}, "log");
  testing::Builder::Int(narrow.Node("Cast", {"log"}, {"y"}), "to", onnx::pb::BFLOAT16);
  EXPECT_EQ(Told(narrow), "");
  testing::Builder::SetFloats(*narrow.graph.mutable_initializer(0), {20'000});
  EXPECT_EQ(Told(narrow).find("warning: output `y` is not finite; node `log` (Log) is the first"), 0U) << Told(narrow);
}

// x: f32[n, width..] -> y, with so many elements behind the last axis; their mean if it is reduced.
testing::Builder Padded(const testing::Builder::Extents& shape, int64_t behind, bool reduced) {
  testing::Builder builder;
  builder.Input("x", shape).Output("y");
  std::vector<int64_t> pads(2 * shape.size());
  pads.back() = behind;
  builder.Longs("far", pads);
  builder.Node("Pad", {"x", "far"}, {reduced ? "wide" : "y"}, "far");
  if (reduced)
    testing::Builder::Ints(builder.Node("ReduceMean", {"wide"}, {"y"}, "mean"), "axes", {static_cast<int64_t>(shape.size()) - 1});
  return builder;
}

TEST(WarmUp, ARowThatNoRequestHasRoomForIsRefusedBeforeItIsRun) {
  LoadOptions options;
  testing::Builder most = Padded({"b", 1}, int64_t{1} << 28, false);
  EXPECT_EQ(Told(most), "a row of output `y: f32[b, 268435457]` has at least 1073741828 bytes, above the limit of 268435456");
  testing::Builder half = Padded({"b", 4}, 1 << 20, false);
  options.requests_bytes = 4'194'320;
  EXPECT_EQ(Told(half, options), "");
  --options.requests_bytes;
  EXPECT_EQ(Told(half, options),
            "a row of output `y: f32[b, 1048580]` has at least 4194320 bytes, above the limit of 4194319, which all "
            "requests may have (`limits.memory_bytes`)");
  options = {};
  options.request_bytes = 4'194'319;
  EXPECT_EQ(Told(half, options),
            "a row of output `y: f32[b, 1048580]` has at least 4194320 bytes, above the limit of 4194319, which a request "
            "may have (`limits.request_bytes`)");
  options = {};
  options.requests_bytes = 4'194'319;
  testing::Builder input;
  testing::Builder::Ints(input.Input("x", {"b", 1 << 27}).Output("y").Node("ReduceMean", {"x"}, {"y"}, "mean"), "axes", {1});
  EXPECT_EQ(Told(input, options),
            "a row of input `x: f32[b, 134217728]` has at least 536870912 bytes, above the limit of 268435456, which "
            "all requests may have (`limits.memory_bytes`)")
      << "less than that may lie in the program";
}

TEST(WarmUp, ASampleTakesNoMoreThanTheProcessMayHave) {
  testing::Builder builder = Padded({"b", 1024}, 1 << 20, true);  // 4 MiB and 4 KiB inside, 4 KiB of input
  LoadOptions options;
  options.process_bytes = (4 << 20) + (16 << 10);
  EXPECT_EQ(Told(builder, options), "");
  options.process_bytes = (4 << 20) + (6 << 10);
  const std::string told = Told(builder, options);
  EXPECT_EQ(told.find("a run of one row takes 42"), 0U) << told;
  EXPECT_NE(told.find("bytes, and the process may have 4200448; the largest of its results is that of node `far` (Pad), 4198400 bytes"),
            std::string::npos)
      << told;
  options = {};
  options.max_bytes = 4 << 20;
  EXPECT_NE(Told(builder, options).find("node `far` (Pad, ai.onnx opset 17): a tensor f32[1, 1049600] is above the limit"),
            std::string::npos)
      << Told(builder, options);
}

TEST(WarmUp, OpenExtentsAreTriedSmallerAsLongAsARequestHasNoRoom) {
  LoadOptions options;
  options.requests_bytes = 2 << 20;
  testing::Builder fits = Padded({"b", "w", 4}, 1 << 17, true);  // half a MiB for each of `w`: 32, 16 of them are too much, 1 is not
  EXPECT_EQ(Told(fits, options), "");
  testing::Builder never = Padded({"b", "w", 4}, 1 << 19, true);
  const std::string told = Told(never, options);
  EXPECT_EQ(told.find("a run of one row takes 209"), 0U) << told;
  EXPECT_NE(told.find("and a request may have 2097152; the largest of its results is that of node `far` (Pad), 2097168 bytes"),
            std::string::npos)
      << told;
  options = {};
  options.request_bytes = 2 << 20;
  EXPECT_EQ(Told(never, options), told);
  testing::Builder fixed = Padded({"b", 2, 4}, 1 << 19, true);  // the file's own memory, as weights are
  EXPECT_EQ(Told(fixed, options), "");
}

// `mean` of a table that is filled, as exporters write ones and masks, too large to be kept; then of what is there those that are not 0.
testing::Builder Filled(int64_t rows) {
  testing::Builder builder;
  builder.Input("x", {"b", 4}).Output("y", {2, "found"}, onnx::pb::INT64).Longs("shape", {rows, 4});
  builder.Node("ConstantOfShape", {"shape"}, {"table"}, "fill");
  testing::Builder::Ints(builder.Node("ReduceMean", {"table"}, {"mean"}, "mean"), "axes", {0});
  builder.Node("Add", {"x", "mean"}, {"moved"}, "move");
  builder.Node("NonZero", {"moved"}, {"y"}, "find");
  return builder;
}

TEST(WarmUp, WhatIsComputedFromConstantsAloneInEachRunIsRefusedWhereNoRequestHasRoom) {
  testing::Builder fits = Filled(1 << 12), kept = Filled(1 << 17), never = Filled((1 << 24) + 1024);
  LoadOptions options;
  options.requests_bytes = 1 << 20;
  EXPECT_EQ(Told(fits), "");
  EXPECT_EQ(Told(kept, options), "") << "what is kept is the version's, as weights are";
  EXPECT_EQ(Told(never),
            "node `fill` (ConstantOfShape, ai.onnx opset 17): every run takes 268451840 bytes for it, 268451840 of them for its result "
            "f32[16778240, 4], and a request may have 268435456");
}

TEST(WarmUp, WhatEveryRunHoldsAtOnceIsCountedTogether) {
  testing::Builder builder;
  builder.Input("x", {100}).Output("y", {2, "found"}, onnx::pb::INT64);
  builder.Longs("shape", {100, 100});
  builder.Longs("wide", {100, 100, 4});
  builder.Longs("last", {2});
  builder.Node("Expand", {"x", "shape"}, {"table"}, "first");
  builder.Node("Unsqueeze", {"table", "last"}, {"one"}, "same");  // lies where it lay
  builder.Node("Expand", {"one", "wide"}, {"tables"}, "second");
  testing::Builder::Ints(builder.Node("ReduceMax", {"tables"}, {"most"}, "most"), "axes", {0});
  builder.Node("NonZero", {"most"}, {"y"}, "find");
  LoadOptions options;
  options.requests_bytes = 250'000;
  EXPECT_EQ(Told(builder, options), "");
  options.requests_bytes = 199'999;
  EXPECT_EQ(
      Told(builder, options),
      "node `second` (Expand, ai.onnx opset 17): every run takes 200000 bytes for it, 160000 of them for its result f32[100, 100, 4], and "
      "a request may have 199999");
}

TEST(WarmUp, AWalkThatFindsNoRoomTellsItsNode) {
  testing::Builder builder;
  builder.Input("c", {}, onnx::pb::BOOL).Output("y").Longs("shape", {1 << 25, 4});
  onnx::pb::NodeProto& node = builder.Node("If", {"c"}, {"y"}, "choose");
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::pb::GraphProto& body = testing::Builder::Body(node, name);
    testing::Builder::Add(body, "ConstantOfShape", {"shape"}, {"table"});
    testing::Builder::Ints(testing::Builder::Add(body, "ReduceMean", {"table"}, {"mean"}), "axes", {0});
    body.add_output()->set_name("mean");
  }
  const std::string told = Told(builder);
  EXPECT_EQ(told.find("warning: "), 0U) << told;
  EXPECT_NE(told.find("the largest of the results is that of node 0 (ConstantOfShape), 536870912 bytes"), std::string::npos) << told;
}

}  // namespace
}  // namespace wf::model
