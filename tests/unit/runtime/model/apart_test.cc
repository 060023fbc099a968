#include "runtime/model/apart.h"

#include <gtest/gtest.h>

#include "tests/unit/runtime/model/temp_file.h"
#include "tests/unit/runtime/onnx/builder.h"

namespace wf::model {
namespace {

using testing::Builder;
using testing::TempFile;

constexpr int64_t kMost = 64;

// What is found out of a file whose axis 0 is that of rows, as a written signature says, so that no rule decides: "" that each is computed
// apart, else how it is not, or why nobody knows.
std::string Found(Builder& builder, int64_t rows = 8) {
  const auto model = builder.Read();
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return "not read";
  onnx::Signature written = model->signature;
  for (auto* ports : {&written.inputs, &written.outputs}) {
    for (onnx::Port& port : *ports) port.dim[0] = onnx::Dim::Symbol(std::string(onnx::kBatchSymbol));
  }
  const std::string bytes = builder.Bytes();
  const TempFile file({bytes.begin(), bytes.end()});
  LoadOptions options;
  options.max_rows = kMost;
  options.signature = &written;
  options.signature_written = true;
  const auto version = Version::Load(file.path(), options);
  EXPECT_TRUE(version.ok()) << version.status().message();
  if (!version.ok()) return "not loaded";
  if (!(*version)->axes().batched) return "the file itself has no axis of samples";
  const base::Status apart = CheckRowsApart(**version, 0, rows, false);
  EXPECT_EQ((*version)->shape_misses(), 0U);
  return apart.ok() ? "" : (apart.code() == base::kFailedPrecondition ? "" : "unknown: ") + apart.message();
}

Builder SixToSix() {
  Builder builder;
  builder.Input("x", {"N", 6}).Output("y", {"N", 6});
  return builder;
}

TEST(RowsApart, LayersKeepThem) {
  Builder builder = SixToSix();
  std::vector<float> weights(36);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) - 3;
  Builder::SetFloats(builder.Floats("w", {6, 6}, 36), weights);
  builder.Node("MatMul", {"x", "w"}, {"h"});
  Builder::Int(builder.Node("Softmax", {"h"}, {"y"}), "axis", 1);
  EXPECT_EQ(Found(builder), "");
  EXPECT_EQ(Found(builder, 2), "");
}

// The logarithm of 1, to which kernels for one row and for several come to a rounding.
TEST(RowsApart, RoundingIsNoMixing) {
  Builder builder;
  builder.Input("x", {"N", 7, 7}).Output("y", {"N", 7, 7, 1});
  builder.Longs("axes", {3});
  builder.Node("Unsqueeze", {"x", "axes"}, {"h"});
  Builder::Int(builder.Node("LogSoftmax", {"h"}, {"y"}), "axis", 3);
  EXPECT_EQ(Found(builder), "");
}

// A row takes the place of the one before it.
Builder Shifted(int64_t by) {
  Builder builder = SixToSix();
  Builder::SetFloats(builder.Floats("token", {by, 6}, static_cast<size_t>(6 * by)), std::vector<float>(static_cast<size_t>(6 * by), 9));
  builder.Longs("from", {0});
  builder.Longs("to", {-by});
  builder.Longs("axis", {0});
  Builder::Int(builder.Node("Concat", {"token", "x"}, {"longer"}), "axis", 0);
  builder.Node("Slice", {"longer", "from", "to", "axis"}, {"y"});
  return builder;
}

TEST(RowsApart, AConcatAndASliceMoveThem) {
  for (const int64_t by : {1, 2, 3, 5, 7}) {
    Builder builder = Shifted(by);
    EXPECT_EQ(Found(builder).find("output `y` has "), 0U) << by;
    EXPECT_NE(Found(builder).find(" for a row beside others that has 9 for it alone"), std::string::npos) << Found(builder);
  }
  Builder two = Shifted(1);
  EXPECT_NE(Found(two, 2), "");
}

TEST(RowsApart, ATransposeAndAReshapeMixThem) {
  Builder builder = SixToSix();
  builder.Longs("rows", {-1, 6});
  Builder::Ints(builder.Node("Transpose", {"x"}, {"t"}), "perm", {1, 0});
  builder.Node("Reshape", {"t", "rows"}, {"y"});
  EXPECT_NE(Found(builder), "");
}

TEST(RowsApart, ANumberOfRowsInAResultIsFound) {
  Builder builder = SixToSix();
  builder.Longs("first", {0});
  builder.Node("Shape", {"x"}, {"shape"});
  builder.Node("Gather", {"shape", "first"}, {"n"});
  Builder::Int(builder.Node("Cast", {"n"}, {"count"}), "to", onnx::pb::FLOAT);
  builder.Node("Add", {"x", "count"}, {"y"});
  EXPECT_NE(Found(builder), "");
}

// y is x, and once the largest number of all rows is above `limit`, twice that.
Builder TwiceAbove(float limit, int type) {
  Builder builder;
  builder.Input("x", {"N", 6}, type).Output("y", {"N", 6});
  Builder::SetFloats(builder.Floats("limit", {}, 1), {limit});
  Builder::SetFloats(builder.Floats("one", {}, 1), {1});
  Builder::SetFloats(builder.Floats("two", {}, 1), {2});
  Builder::Int(builder.Node("Cast", {"x"}, {"f"}), "to", onnx::pb::FLOAT);
  Builder::Int(builder.Node("ReduceMax", {"f"}, {"most"}), "keepdims", 0);
  builder.Node("Greater", {"most", "limit"}, {"above"});
  builder.Node("Where", {"above", "two", "one"}, {"by"});
  builder.Node("Mul", {"f", "by"}, {"y"});
  return builder;
}

TEST(RowsApart, ALimitThatOnlyLargeNumbersPass) {
  for (const int64_t rows : {2, 8, 32}) {
    Builder floats = TwiceAbove(300'000, onnx::pb::FLOAT), halves = TwiceAbove(30'000, onnx::pb::FLOAT16);
    Builder integers = TwiceAbove(2'000, onnx::pb::INT64);
    EXPECT_NE(Found(floats, rows), "") << rows;
    EXPECT_NE(Found(halves, rows), "") << rows;
    EXPECT_NE(Found(integers, rows), "") << rows;
  }
}

// Rows are other ones where the first is above a limit.
TEST(RowsApart, TheFirstRowAndItsLargeNumbers) {
  Builder builder = SixToSix();
  builder.Longs("pads", {2, 0, 0, 0});
  builder.Longs("from", {0});
  builder.Longs("to", {1});
  Builder::SetFloats(builder.Floats("limit", {}, 1), {300'000});
  Builder::String(builder.Node("Pad", {"x", "pads"}, {"more"}), "mode", "edge");
  builder.Node("Slice", {"more", "from", "to", "from"}, {"first"});
  Builder::Int(builder.Node("ReduceMax", {"first"}, {"most"}), "keepdims", 0);
  builder.Node("Greater", {"most", "limit"}, {"above"});
  builder.Node("Neg", {"x"}, {"less"});
  builder.Node("Where", {"above", "less", "x"}, {"y"});
  for (const int64_t rows : {2, 8, 32}) EXPECT_NE(Found(builder, rows), "") << rows;
}

// Each is compared with the others beside rows of large numbers, too: their roundings tell nothing.
TEST(RowsApart, LargeNumbersOfARowAreNotCompared) {
  Builder builder = SixToSix();
  Builder::SetFloats(builder.Floats("large", {}, 1), {1e38F});
  builder.Node("Mul", {"x", "large"}, {"infinite"});
  builder.Node("Sub", {"infinite", "infinite"}, {"nothing"});
  builder.Node("Add", {"x", "nothing"}, {"y"});
  EXPECT_EQ(Found(builder, 32), "");
}

// Places from 10 on are others.
TEST(RowsApart, AsManyRowsAreTriedAsMayShareARun) {
  Builder builder = SixToSix();
  builder.Longs("first", {0});
  builder.Tensor("zero", {}, onnx::pb::INT64).add_int64_data(0);
  builder.Tensor("one", {}, onnx::pb::INT64).add_int64_data(1);
  builder.Tensor("ten", {}, onnx::pb::INT64).add_int64_data(10);
  builder.Longs("behind", {1});
  builder.Node("Shape", {"x"}, {"extents"});
  builder.Node("Gather", {"extents", "zero"}, {"n"});
  builder.Node("Range", {"zero", "n", "one"}, {"places"});
  builder.Node("Greater", {"places", "ten"}, {"far"});
  builder.Node("Unsqueeze", {"far", "behind"}, {"column"});
  Builder::Int(builder.Node("Cast", {"column"}, {"more"}), "to", onnx::pb::FLOAT);
  builder.Node("Add", {"x", "more"}, {"y"});
  EXPECT_EQ(Found(builder, 8), "");
  for (const int64_t rows : {16, 24, 32}) EXPECT_NE(Found(builder, rows), "") << rows;
}

TEST(RowsApart, IntegersHaveToBeEqual) {
  Builder builder;
  builder.Input("x", {"N", 6}, onnx::pb::INT64).Output("y", {"N", 6}, onnx::pb::INT64);
  onnx::pb::TensorProto& token = builder.Tensor("token", {1, 6}, onnx::pb::INT64);
  for (int i = 0; i < 6; ++i) token.add_int64_data(99);
  builder.Longs("from", {0});
  builder.Longs("to", {-1});
  builder.Longs("axis", {0});
  Builder::Int(builder.Node("Concat", {"token", "x"}, {"longer"}), "axis", 0);
  builder.Node("Slice", {"longer", "from", "to", "axis"}, {"y"});
  EXPECT_EQ(Found(builder), "output `y` has 0 for a row beside others that has 99 for it alone");
}

TEST(RowsApart, ARunThatFailsWithSeveralIsAMixture) {
  Builder builder = SixToSix();
  Builder::SetFloats(builder.Floats("table", {1}, 1), {5});
  builder.Longs("first", {0});
  builder.Longs("one", {1});
  builder.Node("Shape", {"x"}, {"shape"});
  builder.Node("Gather", {"shape", "first"}, {"n"});
  builder.Node("Sub", {"n", "one"}, {"last"});
  builder.Node("Gather", {"table", "last"}, {"picked"});  // of one entry
  builder.Node("Add", {"x", "picked"}, {"y"});
  EXPECT_EQ(Found(builder).find("each of 8 rows can be computed alone, but not all in one run: "), 0U) << Found(builder);
}

TEST(RowsApart, OpenExtentsAreThoseOfTheWarmUp) {
  for (const bool sound : {true, false}) {
    Builder builder;
    builder.Input("x", {"N", "w"}).Output("y", {"N", "w"});
    Builder::Int(builder.Node("Softmax", {"x"}, {"y"}), "axis", sound ? 1 : 0);
    EXPECT_EQ(Found(builder).empty(), sound);
  }
}

TEST(RowsApart, HalvesMayDifferByMore) {
  for (const bool sound : {true, false}) {
    Builder builder;
    builder.Input("x", {"N", 6}, onnx::pb::FLOAT16).Output("y", {"N", 6}, onnx::pb::FLOAT16);
    Builder::Int(builder.Node("Cast", {"x"}, {"f"}), "to", onnx::pb::FLOAT);
    Builder::Int(builder.Node("Softmax", {"f"}, {"s"}), "axis", sound ? 1 : 0);
    Builder::Int(builder.Node("Cast", {"s"}, {"y"}), "to", onnx::pb::FLOAT16);
    EXPECT_EQ(Found(builder).empty(), sound);
  }
}

TEST(RowsApart, ResultsThatAreNaNAreTheSame) {
  Builder builder = SixToSix();
  Builder::SetFloats(builder.Floats("zero", {}, 1), {0});
  builder.Node("Mul", {"x", "zero"}, {"h"});
  builder.Node("Div", {"h", "zero"}, {"y"});
  EXPECT_EQ(Found(builder), "");
}

// A table of one entry: any index but 0 fails.
TEST(RowsApart, RowsWhoseIndicesAreOfOneKindAreStillCompared) {
  Builder builder;
  builder.Input("i", {"N", 2}, onnx::pb::INT64).Input("x", {"N", 2}).Output("y", {"N", 2});
  Builder::SetFloats(builder.Floats("table", {1}, 1), {5});
  builder.Node("Gather", {"table", "i"}, {"picked"});
  builder.Node("Add", {"picked", "x"}, {"h"});
  Builder::Int(builder.Node("Softmax", {"h"}, {"y"}), "axis", 0);
  EXPECT_NE(Found(builder), "");
}

TEST(RowsApart, OnceItIsToStopNothingMoreRuns) {
  Builder builder = Shifted(1);
  const std::string bytes = builder.Bytes();
  const TempFile file({bytes.begin(), bytes.end()});
  LoadOptions options;
  options.max_rows = 16;
  const auto version = Version::Load(file.path(), options);
  ASSERT_TRUE(version.ok());
  EXPECT_EQ(CheckRowsApart(**version, 0, 8, true).code(), base::kCancelled);
}

}  // namespace
}  // namespace wf::model
