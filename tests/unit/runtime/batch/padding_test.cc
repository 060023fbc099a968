#include "runtime/batch/padding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <random>

#include "runtime/batch/staging.h"
#include "tests/unit/support/one_to_one.h"
#include "tests/unit/support/pads.h"

namespace wf::batch {
namespace {

wf_tensor Shaped(std::initializer_list<int64_t> dims) {
  wf_tensor tensor{};
  tensor.rank = static_cast<uint8_t>(dims.size());
  std::copy(dims.begin(), dims.end(), tensor.dim);
  return tensor;
}

size_t KindOf(const Padding& padding, const wf_tensor& x) {
  const wf_tensor* const inputs[] = {&x};
  return padding.KindOf(inputs);
}

TEST(PaddingTest, ARowGoesToTheSmallestBucketThatHoldsIt) {
  const test::Pads pads({4, 8}, {{0, 0, 1, 1, 0}}, {});
  const size_t kinds[] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 2};
  for (int64_t w = 0; w < 10; ++w) EXPECT_EQ(KindOf(pads.padding(), Shaped({w})), kinds[w]) << w;
}

TEST(PaddingTest, NoPaddingHasOneKind) {
  EXPECT_EQ(Padding().kinds(), 1U);
  EXPECT_EQ(KindOf(Padding(), Shaped({1000})), 0U);
}

TEST(PaddingTest, TheSymbolIsFoundThroughAFunctionOfIt) {
  const test::Pads pads({5}, {{0, 1, 1, 4, 0}, {0, 0, 2, 1, 3}}, {});  // [2*w + 3, w/4]
  const auto symbol = [&](int64_t first, int64_t second) {
    const wf_tensor x = Shaped({first, second});
    const wf_tensor* const inputs[] = {&x};
    return pads.padding().SymbolOf(inputs);
  };
  EXPECT_EQ(symbol(13, 1), 5);
  EXPECT_EQ(symbol(9, 0), 3);
  EXPECT_FALSE(symbol(12, 1));  // no w has it
  EXPECT_FALSE(symbol(13, 2));  // the axes contradict each other
  wf_tensor x = Shaped({9, 0});
  ASSERT_TRUE(pads.padding().SetInput(0, 5, x));
  EXPECT_EQ(x.dim[0], 13);
  EXPECT_EQ(x.dim[1], 1);
}

TEST(PaddingTest, AnExtentIsNeverNegativeNorOverflows) {
  const test::Pads pads({4}, {{0, 0, 1, 1, 0}}, {{0, 0, 1, 1, -2}, {1, 0, 1 << 30, 1, 0}});
  wf_tensor y = Shaped({0});
  EXPECT_FALSE(pads.padding().SetOutput(0, 1, y));
  EXPECT_TRUE(pads.padding().SetOutput(0, 2, y));
  EXPECT_FALSE(pads.padding().SetOutput(1, INT64_MAX / 2, y));
}

TEST(PaddingTest, ARowTooShortForAnOutputRunsAlone) {
  const test::Pads pads({4}, {{0, 0, 1, 1, 0}}, {{0, 0, 1, 1, -2}});
  EXPECT_EQ(KindOf(pads.padding(), Shaped({1})), 1U);
  EXPECT_EQ(KindOf(pads.padding(), Shaped({2})), 0U);
}

TEST(PaddingTest, IsComparedByWhatItSays) {
  const test::Pads a({4, 8}, {{0, 0, 1, 1, 0}}, {}), same({4, 8}, {{0, 0, 1, 1, 0}}, {});
  const test::Pads buckets({4}, {{0, 0, 1, 1, 0}}, {}), axis({4, 8}, {{0, 1, 1, 1, 0}}, {}),
      crop({4, 8}, {{0, 0, 1, 1, 0}}, {{0, 0, 1, 1, 0}});
  EXPECT_EQ(a.padding(), same.padding());
  for (const test::Pads* other : {&buckets, &axis, &crop}) EXPECT_NE(a.padding(), other->padding());
  EXPECT_NE(a.padding(), Padding());
  EXPECT_EQ(Padding(), Padding());
}

// A row over i32 of any shape, with its own memory.
class ShapedRow final : public Row {
 public:
  explicit ShapedRow(const std::vector<int64_t>& dims) {
    x_.dtype = WF_I32;
    x_.rank = static_cast<uint8_t>(dims.size());
    int64_t count = 1;
    for (size_t i = dims.size(); i-- > 0;) {
      x_.dim[i] = dims[i];
      x_.stride[i] = count;
      count *= dims[i];
    }
    values.resize(static_cast<size_t>(count));
    x_.data = values.data();
    inputs = input_;
    outputs = output_;
  }
  void* Allocate(uint64_t bytes) noexcept override {
    memory_.assign((bytes + 3) / 4, -1);
    return memory_.data();
  }
  void Fail(wf_code, std::string_view) noexcept override {}
  void Deliver() noexcept override {}
  const wf_tensor& x() const { return x_; }
  const wf_tensor& y() const { return y_; }
  std::vector<int32_t> values;

 private:
  std::vector<int32_t> memory_;
  wf_tensor x_{}, y_{};
  const wf_tensor* input_[1] = {&x_};
  wf_tensor* output_[1] = {&y_};
};

// y[i, ..] = 3 * x[i, ..], without its first `cut` elements along axis `cut_axis` (of what calls see); counts what is not zero.
class Tripler final : public test::OneToOne {
 public:
  Tripler(int rank, int batch_axis) : OneToOne("Tripler", {"x", WF_I32, std::vector<int64_t>(static_cast<size_t>(rank), -1)}, batch_axis) {}

  wf_tensor seen{};
  int64_t not_zero = 0;
  int cut = 0, cut_axis = 0;

 private:
  void Give(int64_t, const wf_tensor& given, wf_tensor& y) override {
    seen = given;
    const int64_t count = CountOf(seen);
    const auto* const x = static_cast<const int32_t*>(seen.data);
    not_zero = std::count_if(x, x + count, [](int32_t value) { return value != 0; });
    const int axis = cut_axis + (cut_axis >= batch_axis() ? 1 : 0);
    y.dim[axis] = std::max<int64_t>(0, seen.dim[axis] - cut);
    for (int i = seen.rank, stride = 1; i-- > 0; stride *= static_cast<int>(y.dim[i])) y.stride[i] = stride;
    result_.clear();
    for (int64_t at = 0; at < count; ++at) {
      int64_t inside = at;
      for (int i = seen.rank - 1; i > axis; --i) inside /= seen.dim[i];
      if (inside % seen.dim[axis] >= cut) result_.push_back(3 * x[at]);
    }
    y.data = result_.data();
  }

  std::vector<int32_t> result_;
};

using Dice = std::mt19937;
int64_t Roll(Dice& dice, int64_t least, int64_t most) { return std::uniform_int_distribution<int64_t>(least, most)(dice); }

// One run of rows of random ranks, widths, buckets and padded axes; the oracle is a plain loop over each row alone.
void RunOnce(Dice& dice) {
  const int rank = static_cast<int>(Roll(dice, 1, 4));
  const auto bucket = Roll(dice, 1, 9);
  std::vector<wf_pad> pads, crops;
  std::vector<int64_t> dims;
  for (int axis = 0; axis < rank; ++axis) {
    dims.push_back(Roll(dice, 1, 4));
    const bool first = axis == rank - 1 && pads.empty();
    if (!first && Roll(dice, 0, 1) == 0) continue;
    const wf_pad function{0, static_cast<uint16_t>(axis), static_cast<int32_t>(Roll(dice, 1, 2)), 1,
                          static_cast<int32_t>(Roll(dice, 0, 2))};
    pads.push_back(function);
    crops.push_back(function);
  }
  Tripler model(rank, static_cast<int>(Roll(dice, 0, rank)));
  wf_pad& cropped = crops[static_cast<size_t>(Roll(dice, 0, static_cast<int64_t>(crops.size()) - 1))];
  model.cut = static_cast<int>(Roll(dice, 0, cropped.add));
  model.cut_axis = cropped.axis;
  cropped.add -= model.cut;
  const test::Pads given({bucket}, pads, crops);
  std::deque<ShapedRow> rows;
  RowList list;
  int64_t not_zero = 0;
  for (int64_t i = Roll(dice, 1, 4); i > 0; --i) {
    const int64_t w = Roll(dice, 0, bucket);
    for (const wf_pad& pad : pads) dims[pad.axis] = pad.mul * w + pad.add;
    ShapedRow& row = rows.emplace_back(dims);
    for (int32_t& value : row.values) value = static_cast<int32_t>(Roll(dice, 1, 1000));
    not_zero += static_cast<int64_t>(row.values.size());
    ASSERT_EQ(given.padding().KindOf(row.inputs), 0U);
    list.Append(row);
  }
  Staging staging(model);
  const int64_t size = list.count == 3 ? 4 : list.count;
  if (size > list.count) not_zero += static_cast<int64_t>(rows.front().values.size());  // the first again
  ASSERT_TRUE(staging.Gather(list, size, given.padding()).ok());
  ASSERT_TRUE(staging.Run(list, 0, size).ok());
  EXPECT_EQ(model.not_zero, not_zero);  // nothing but the rows' own values, and zeros
  for (const wf_pad& pad : pads)
    EXPECT_EQ(model.seen.dim[pad.axis + (pad.axis >= model.model().batch_axis[0] ? 1 : 0)], pad.mul * bucket + pad.add);
  ASSERT_TRUE(staging.Scatter(list, size, given.padding()).ok()) << staging.Scatter(list, size, given.padding()).message();
  for (const ShapedRow& row : rows) {
    std::vector<int32_t> expected;
    for (size_t at = 0; at < row.values.size(); ++at) {
      int64_t inside = static_cast<int64_t>(at) / row.x().stride[model.cut_axis];
      if (inside % row.x().dim[model.cut_axis] >= model.cut) expected.push_back(3 * row.values[at]);
    }
    EXPECT_EQ(row.y().dim[model.cut_axis], row.x().dim[model.cut_axis] - model.cut);
    const auto* const y = static_cast<const int32_t*>(row.y().data);
    EXPECT_EQ(std::vector<int32_t>(y, y + expected.size()), expected);
  }
}

TEST(PaddedStagingTest, RowsOfAllWidthsAndAxesComeBackAsIfRunAlone) {
  Dice dice(20);
  for (int i = 0; i < 2000 && !testing::Test::HasFailure(); ++i) RunOnce(dice);
}

TEST(PaddedStagingTest, ARowOfExactlyTheBucketIsNotCopied) {
  const test::Pads pads({5}, {{0, 0, 1, 1, 0}}, {{0, 0, 1, 1, 0}});
  Tripler model(1, 0);
  Staging staging(model);
  ShapedRow exact({5}), shorter({4});
  RowList list;
  list.Append(exact);
  ASSERT_TRUE(staging.Gather(list, 1, pads.padding()).ok());
  ASSERT_TRUE(staging.Run(list, 0, 1).ok());
  EXPECT_EQ(model.seen.data, exact.x().data);
  RowList other;
  other.Append(shorter);
  ASSERT_TRUE(staging.Gather(other, 1, pads.padding()).ok());
  ASSERT_TRUE(staging.Run(other, 0, 1).ok());
  EXPECT_NE(model.seen.data, shorter.x().data);
}

TEST(PaddedStagingTest, ALongerRowRunsAsItIs) {
  const test::Pads pads({2}, {{0, 0, 1, 1, 0}}, {{0, 0, 1, 1, 0}});
  Tripler model(1, 0);
  Staging staging(model);
  ShapedRow row({7});
  row.kind = static_cast<uint16_t>(pads.padding().KindOf(row.inputs));
  RowList list;
  list.Append(row);
  ASSERT_TRUE(staging.Gather(list, 1, pads.padding()).ok());
  ASSERT_TRUE(staging.Run(list, 0, 1).ok());
  EXPECT_EQ(model.seen.dim[1], 7);
  ASSERT_TRUE(staging.Scatter(list, 1, pads.padding()).ok());
  EXPECT_EQ(row.y().dim[0], 7);
}

TEST(PaddedStagingTest, AnOutputThatIsNotTheStatedFunctionFailsTheRun) {
  const test::Pads pads({8}, {{0, 0, 1, 1, 0}}, {{0, 0, 1, 2, 0}});
  Tripler model(1, 0);
  Staging staging(model);
  ShapedRow row({7});
  RowList list;
  list.Append(row);
  ASSERT_TRUE(staging.Gather(list, 1, pads.padding()).ok());
  ASSERT_TRUE(staging.Run(list, 0, 1).ok());
  EXPECT_NE(staging.Scatter(list, 1, pads.padding()).message().find("not the function of the padded dimension"), std::string::npos);
}

}  // namespace
}  // namespace wf::batch
