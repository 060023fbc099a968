#include "runtime/batch/staging.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <numeric>
#include <string>
#include <utility>

#include "runtime/abi/dtype.h"
#include "runtime/abi/view.h"
#include "tests/unit/support/counted_limit.h"
#include "tests/unit/support/one_to_one.h"
#include "tests/unit/support/rows.h"

namespace wf::batch {
namespace {

// y[...] = 2 * x[...]; remembers the shape that it saw.
class Doubler final : public test::OneToOne {
 public:
  Doubler(int64_t columns, int axis, bool batched) : OneToOne("Doubler", {"x", WF_I64, {2, columns}}, axis, batched) {}
  base::MemoryShare memory_share() const override { return share; }

  wf_tensor seen{};
  std::vector<int64_t> values;
  bool grows = false;
  base::MemoryShare share;

 private:
  void Give(int64_t, const wf_tensor& x, wf_tensor& y) override {
    seen = x;
    values.assign(static_cast<const int64_t*>(x.data), static_cast<const int64_t*>(x.data) + CountOf(x));
    result_ = values;
    for (int64_t& value : result_) value *= 2;
    if (grows) ++y.dim[0];
    y.data = result_.data();
  }

  std::vector<int64_t> result_;
};

// A row of shape [2, columns] holding first, first + 1, ..
struct Matrix {
  Matrix(int64_t first, int64_t columns) : row(std::vector<int64_t>(static_cast<size_t>(2 * columns))) {
    auto* const data = static_cast<int64_t*>(row.x().data);
    std::iota(data, data + 2 * columns, first);
    row.x().rank = 2;
    row.x().dim[0] = 2;
    row.x().dim[1] = columns;
    row.x().stride[0] = columns;
    row.x().stride[1] = 1;
  }
  test::TestRow row;
};

std::vector<int64_t> Values(const wf_tensor& tensor) {
  const auto* const data = static_cast<const int64_t*>(tensor.data);
  return {data, data + tensor.dim[0] * tensor.dim[1]};
}

TEST(StagingTest, LaysRowsAlongTheBatchAxisWhereverItIs) {
  for (const int axis : {0, 1, 2}) {
    Doubler model(3, axis, true);
    Staging staging(model);
    Matrix a(0, 3), b(100, 3);
    RowList rows;
    rows.Append(a.row);
    rows.Append(b.row);
    ASSERT_TRUE(staging.Gather(rows, 2).ok());
    ASSERT_TRUE(staging.Run(rows, 0, 2).ok());
    EXPECT_EQ(model.seen.rank, 3);
    EXPECT_EQ(model.seen.dim[axis], 2);
    const std::vector<int64_t> interleaved{0, 100, 1, 101, 2, 102, 3, 103, 4, 104, 5, 105};
    EXPECT_TRUE(axis != 2 || model.values == interleaved);
    ASSERT_TRUE(staging.Scatter(rows, 2).ok());
    EXPECT_EQ(a.row.y().rank, 2);
    EXPECT_EQ(Values(a.row.y()), (std::vector<int64_t>{0, 2, 4, 6, 8, 10})) << axis;
    EXPECT_EQ(Values(b.row.y()), (std::vector<int64_t>{200, 202, 204, 206, 208, 210})) << axis;
  }
}

TEST(StagingTest, FillersAreTheFirstRowAgainEvenAfterALargerBatch) {
  for (const int axis : {0, 1}) {
    Doubler model(1, axis, true);
    Staging staging(model);
    std::deque<Matrix> matrices;
    RowList four;
    for (int i = 0; i < 4; ++i) matrices.emplace_back(10 * (i + 1), 1);
    for (Matrix& matrix : matrices) four.Append(matrix.row);
    ASSERT_TRUE(staging.Gather(four, 4).ok());
    four.Remove(*four.last);
    ASSERT_TRUE(staging.Gather(four, 4).ok());
    ASSERT_TRUE(staging.Run(four, 0, 4).ok());
    EXPECT_EQ(std::accumulate(model.values.begin(), model.values.end(), int64_t{0}), 21 + 41 + 61 + 21);
  }
}

TEST(StagingTest, BlocksCountInTheModelsShareAndGoBackWhenTheyMayNotBeKept) {
  test::CountedLimit limit(1000);
  Doubler model(3, 0, true);
  model.share = {&limit, 200};
  Staging staging(model);
  std::deque<Matrix> matrices;
  RowList rows;
  const auto gathers = [&](int64_t count) {  // rows of 48 bytes
    while (rows.count < count) rows.Append(matrices.emplace_back(1, 3).row);
    return staging.Gather(rows, count).code();
  };
  EXPECT_EQ(gathers(2), base::kOk);
  staging.Trim(0);
  EXPECT_EQ(limit.used, 128);
  EXPECT_EQ(gathers(8), base::kOk);
  EXPECT_EQ(limit.used, 384);
  staging.Trim(0);
  EXPECT_EQ(limit.used, 0);
  EXPECT_EQ(gathers(32), base::kResourceExhausted);
  EXPECT_EQ(limit.used, 0);
}

TEST(StagingTest, ASingleDenseRowIsNotCopied) {
  Doubler model(3, 0, true);
  Staging staging(model);
  Matrix a(0, 3);
  RowList rows;
  rows.Append(a.row);
  ASSERT_TRUE(staging.Gather(rows, 1).ok());
  ASSERT_TRUE(staging.Run(rows, 0, 1).ok());
  EXPECT_EQ(model.seen.data, a.row.x().data);
}

TEST(StagingTest, ARowWithWiderStridesIsMadeDense) {
  Doubler model(2, 0, true);
  Staging staging(model);
  Matrix wide(0, 4);  // 0 1 2 3 / 4 5 6 7, of which the first two columns are the value
  wide.row.x().dim[1] = 2;
  RowList rows;
  rows.Append(wide.row);
  ASSERT_TRUE(staging.Gather(rows, 1).ok());
  ASSERT_TRUE(staging.Run(rows, 0, 1).ok());
  EXPECT_EQ(model.values, (std::vector<int64_t>{0, 1, 4, 5}));
}

TEST(StagingTest, ADroppedAxisOfOneIsPutBackForTheModel) {
  Doubler model(3, 0, false);
  Staging staging(model);
  Matrix a(0, 3);
  RowList rows;
  rows.Append(a.row);
  ASSERT_TRUE(staging.Gather(rows, 1).ok());
  ASSERT_TRUE(staging.Run(rows, 0, 1).ok());
  EXPECT_EQ(model.seen.rank, 3);
  ASSERT_TRUE(staging.Scatter(rows, 1).ok());
  EXPECT_EQ(a.row.y().rank, 2);
}

TEST(StagingTest, AShapeThatTheModelDoesNotTakeIsNamed) {
  Doubler model(3, 0, true);
  Staging staging(model);
  Matrix a(0, 5);
  RowList rows;
  rows.Append(a.row);
  EXPECT_EQ(staging.Gather(rows, 1).message(), "model `Doubler`, port `x`: a tensor of shape [2, 5] does not fit");
}

// What is said of an output that has grown by one on its first axis.
std::string RefusalOfGrown(Doubler&& model) {
  model.grows = true;
  Staging staging(model);
  Matrix a(0, 3);
  RowList rows;
  rows.Append(a.row);
  EXPECT_TRUE(staging.Gather(rows, 1).ok());
  EXPECT_TRUE(staging.Run(rows, 0, 1).ok());
  return std::string(staging.Scatter(rows, 1).message());
}

TEST(StagingTest, AnOutputWithoutOneSamplePerRowIsRefused) {
  EXPECT_EQ(RefusalOfGrown(Doubler(3, 0, true)), "model `Doubler`, port `x`: the output does not hold one sample per row");
}

TEST(StagingTest, AnOutputOfAnotherShapeThanItsPortIsRefused) {
  EXPECT_EQ(RefusalOfGrown(Doubler(3, -1, false)), "model `Doubler`, port `x`: a tensor of shape [3, 3] does not fit");
}

// Gives each string back with a mark behind it, from memory that is another's after the run.
class Marker final : public test::OneToOne {
 public:
  explicit Marker(uint8_t rank) : OneToOne("Marker", {"s", WF_TEXTS, std::vector<int64_t>(rank, 2)}, 0) {}

  std::vector<std::string> seen;
  std::string mark = "!";

 private:
  void Give(int64_t, const wf_tensor& x, wf_tensor& y) override {
    const auto* const given = static_cast<const wf_bytes*>(x.data);
    seen.clear();
    for (uint64_t i = 0; i < abi::DenseBytes(WF_TEXTS, x.rank, x.dim) / sizeof(wf_bytes); ++i) seen.emplace_back(abi::View(given[i]));
    texts_.clear();
    elements_.clear();
    for (const std::string& text : seen) texts_.push_back(text + mark);
    for (const std::string& text : texts_) elements_.push_back(abi::BytesOf(text));
    y.data = elements_.data();
  }

  std::vector<std::string> texts_;
  std::vector<wf_bytes> elements_;
};

// A row with a list of strings, or with one of rank 0.
class TextRow final : public Row {
 public:
  TextRow(std::vector<std::string> texts, uint8_t rank) : texts_(std::move(texts)) {
    for (const std::string& text : texts_) elements_.push_back(abi::BytesOf(text));
    x_.data = elements_.data();
    x_.dtype = WF_TEXTS;
    x_.rank = rank;
    x_.dim[0] = static_cast<int64_t>(elements_.size());
    x_.stride[0] = 1;
    inputs = input_;
    outputs = output_;
  }
  void* Allocate(uint64_t bytes) noexcept override {
    if (bytes > left) return nullptr;
    left -= bytes;
    return blocks_.emplace_back(bytes).data();
  }
  void Fail(wf_code, std::string_view) noexcept override {}
  void Deliver() noexcept override {}
  std::vector<std::string> result() const {
    std::vector<std::string> texts;
    const auto* const elements = static_cast<const wf_bytes*>(y_.data);
    for (int64_t i = 0; i < (y_.rank == 0 ? 1 : y_.dim[0]); ++i) texts.emplace_back(abi::View(elements[i]));
    return texts;
  }
  const wf_tensor& y() const { return y_; }

  uint64_t left = 1000;

 private:
  std::vector<std::string> texts_;
  std::vector<wf_bytes> elements_;
  std::deque<std::vector<uint8_t>> blocks_;
  wf_tensor x_{}, y_{};
  const wf_tensor* input_[1] = {&x_};
  wf_tensor* output_[1] = {&y_};
};

using Strings = std::vector<std::string>;

TEST(StagingTest, ListsOfStringsAreRowsAsTensorsAre) {
  Marker model(1);
  Staging staging(model);
  TextRow a({"north", ""}, 1), b({"a string that is longer than any that lies inside of its object", "south"}, 1);
  RowList rows;
  rows.Append(a);
  rows.Append(b);
  ASSERT_TRUE(staging.Gather(rows, 4).ok());
  ASSERT_TRUE(staging.Run(rows, 0, 4).ok());
  EXPECT_EQ(model.seen.size(), 8u);
  EXPECT_EQ(model.seen[7], "");  // rows that are none hold empty strings
  ASSERT_TRUE(staging.Scatter(rows, 4).ok());
  TextRow other({"east", "west"}, 1);
  RowList next;
  next.Append(other);
  ASSERT_TRUE(staging.Gather(next, 1).ok());
  ASSERT_TRUE(staging.Run(next, 0, 1).ok());
  EXPECT_EQ(a.result(), (Strings{"north!", "!"}));  // their own, when the model's are gone
  EXPECT_EQ(b.result(), (Strings{"a string that is longer than any that lies inside of its object!", "south!"}));
}

TEST(StagingTest, AStringIsARowWithoutAxes) {
  Marker model(0);
  Staging staging(model);
  TextRow a({"north"}, 0), b({"south"}, 0);
  RowList rows;
  rows.Append(a);
  rows.Append(b);
  ASSERT_TRUE(staging.Gather(rows, 2).ok());
  ASSERT_TRUE(staging.Run(rows, 0, 2).ok());
  ASSERT_TRUE(staging.Scatter(rows, 2).ok());
  EXPECT_EQ(a.result(), Strings{"north!"});
  EXPECT_EQ(b.result(), Strings{"south!"});
}

TEST(StagingTest, AListOfAnotherLengthIsToldWithBoth) {
  Marker model(1);
  Staging staging(model);
  TextRow row({"north"}, 1);
  RowList rows;
  rows.Append(row);
  EXPECT_EQ(staging.Gather(rows, 1).message(), "model `Marker`, port `s`: a list of 1 string, wanted 2");
}

TEST(StagingTest, ARowWithoutMemoryForItsStringsFailsAlone) {
  Marker model(1);
  Staging staging(model);
  TextRow poor({"north", "south"}, 1), rich({"north", "south"}, 1);
  poor.left = 64;  // for the list, and not for what it holds
  RowList rows;
  rows.Append(poor);
  rows.Append(rich);
  model.mark = std::string(50, '!');
  ASSERT_TRUE(staging.Gather(rows, 2).ok());
  ASSERT_TRUE(staging.Run(rows, 0, 2).ok());
  ASSERT_TRUE(staging.Scatter(rows, 2).ok());
  EXPECT_EQ(poor.y().data, nullptr);
  EXPECT_EQ(rich.result()[0], "north" + model.mark);
}

TEST(StagingTest, StringsOfAModelAreUtf8) {
  Marker model(1);
  Staging staging(model);
  TextRow row({"north", "south"}, 1);
  RowList rows;
  rows.Append(row);
  model.mark = "\xff";
  ASSERT_TRUE(staging.Gather(rows, 1).ok());
  ASSERT_TRUE(staging.Run(rows, 0, 1).ok());
  EXPECT_EQ(staging.Scatter(rows, 1).message(), "model `Marker`, port `s`: a string of it is not UTF-8");
}

}  // namespace
}  // namespace wf::batch
