// What only the elements tell the extents of, against numbers worked out by hand.
#include <gtest/gtest.h>

#include <limits>

#include "runtime/kernels/ref.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels {
namespace {

using testing::Floats;
using testing::kNan;
using testing::Longs;
using testing::Of;
using testing::RunOutputs;
using testing::Tensor;
using F = std::vector<float>;
using I = std::vector<int64_t>;

TensorInfo Room(uint8_t dtype, std::vector<int64_t> dim) { return {dtype, std::move(dim), nullptr, nullptr}; }

template <typename T>
std::vector<T> First(const Tensor& tensor, size_t count) {
  auto all = tensor.As<T>();
  all.resize(count);
  return all;
}

TEST(SelectKernels, CoordinatesLieDense) {
  const auto found =
      RunOutputs(ref::MakeNonZero, NonZero{}, {Floats({2, 2}, {1, -0.0f, kNan, 0})}, {Room(WF_I64, {2, 4}), Room(WF_I64, {2})});
  EXPECT_EQ(found.out[1].As<int64_t>(), (I{2, 2}));
  EXPECT_EQ(First<int64_t>(found.out[0], 4), (I{0, 1, 0, 0}));
  const auto halves =
      RunOutputs(ref::MakeNonZero, NonZero{}, {Of<uint16_t>(WF_F16, {2}, {0x8000, 1})}, {Room(WF_I64, {1, 2}), Room(WF_I64, {2})});
  EXPECT_EQ(halves.out[1].As<int64_t>(), (I{1, 1}));
  const auto scalar = RunOutputs(ref::MakeNonZero, NonZero{}, {Floats({}, {3})}, {Room(WF_I64, {1, 1}), Room(WF_I64, {2})});
  EXPECT_EQ(scalar.out[1].As<int64_t>(), (I{1, 1}));
}

TEST(SelectKernels, ConditionsMayBeShorterThanTheAxis) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6}), wanted = Of<uint8_t>(WF_BOOL, {2}, {0, 1});
  const auto columns = RunOutputs(ref::MakeCompress, Compress{1}, {x, wanted}, {Room(WF_F32, {2, 2}), Room(WF_I64, {2})});
  EXPECT_EQ(columns.out[1].As<int64_t>(), (I{2, 1}));
  EXPECT_EQ(First<float>(columns.out[0], 2), (F{2, 5}));
  const auto flat = RunOutputs(ref::MakeCompress, Compress{}, {x, wanted}, {Room(WF_F32, {2}), Room(WF_I64, {1})});
  EXPECT_EQ(flat.out[1].As<int64_t>(), (I{1}));
  EXPECT_EQ(First<float>(flat.out[0], 1), (F{2}));
}

TEST(SelectKernels, NanIsOneDifferentElement) {
  const std::vector<TensorInfo> room = {Room(WF_F32, {6}), Room(WF_I64, {6}), Room(WF_I64, {6}), Room(WF_I64, {6}), Room(WF_I64, {1})};
  const Tensor x = Floats({6}, {2, kNan, 1, 2, kNan, 1});
  const auto sorted = RunOutputs(ref::MakeUnique, Unique{{}, true}, {x}, room);
  EXPECT_EQ(sorted.out[4].As<int64_t>(), I{3});
  EXPECT_EQ(First<float>(sorted.out[0], 2), (F{1, 2}));
  EXPECT_EQ(First<int64_t>(sorted.out[1], 3), (I{2, 0, 1}));
  EXPECT_EQ(sorted.out[2].As<int64_t>(), (I{1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(First<int64_t>(sorted.out[3], 3), (I{2, 2, 2}));
  const auto found = RunOutputs(ref::MakeUnique, Unique{{}, false}, {x}, room);
  EXPECT_EQ(First<int64_t>(found.out[1], 3), (I{0, 1, 2}));
  EXPECT_EQ(found.out[2].As<int64_t>(), (I{0, 1, 2, 0, 1, 2}));
}

TEST(SelectKernels, DifferentBoolsAreTwoAtMost) {
  const auto found = RunOutputs(ref::MakeUnique, Unique{{}, true}, {Of<uint8_t>(WF_BOOL, {3}, {1, 0, 1})},
                                {Room(WF_BOOL, {3}), Room(WF_I64, {3}), {}, {}, Room(WF_I64, {1})});
  EXPECT_EQ(found.out[4].As<int64_t>(), I{2});
  EXPECT_EQ(First<uint8_t>(found.out[0], 2), (std::vector<uint8_t>{0, 1}));
  EXPECT_EQ(First<int64_t>(found.out[1], 2), (I{1, 0}));
}

TEST(SelectKernels, SlicesCompareAsAWhole) {
  const auto found = RunOutputs(ref::MakeUnique, Unique{1, true}, {Floats({2, 3}, {2, 1, 2, 0, 5, 0})},
                                {Room(WF_F32, {2, 3}), {}, Room(WF_I64, {3}), {}, Room(WF_I64, {2})});
  EXPECT_EQ(found.out[4].As<int64_t>(), (I{2, 2}));
  EXPECT_EQ(First<float>(found.out[0], 4), (F{1, 2, 5, 0}));
  EXPECT_EQ(found.out[2].As<int64_t>(), (I{1, 0, 1}));
}

TEST(SelectKernels, BoxesThatOverlapABetterOneGo) {
  const Tensor boxes = Floats({1, 4, 4}, {0, 0, 1, 1, 1, 1.1f, 0, 0, 0, 10, 1, 11, 0, 20, 1, 21}),
               scores = Floats({1, 1, 4}, {0.5f, 0.9f, 0.5f, kNan});
  const auto kept = [&](int64_t most, float overlap, float least) {
    const auto found = RunOutputs(ref::MakeNonMaxSuppression, NonMaxSuppression{},
                                  {boxes, scores, Longs({1}, {most}), Floats({1}, {overlap}), Floats({1}, {least})},
                                  {Room(WF_I64, {4, 3}), Room(WF_I64, {2})});
    return First<int64_t>(found.out[0], static_cast<size_t>(3 * found.out[1].As<int64_t>()[0]));
  };
  EXPECT_EQ(kept(4, 0.5f, 0), (I{0, 0, 1, 0, 0, 2}));
  EXPECT_EQ(kept(4, 0.95f, 0), (I{0, 0, 1, 0, 0, 0, 0, 0, 2}));
  EXPECT_EQ(kept(1, 0.5f, 0), (I{0, 0, 1}));
  EXPECT_EQ(kept(4, 0.5f, 0.6f), (I{0, 0, 1}));
  EXPECT_EQ(kept(-1, 0.5f, 0), I{});
}

}  // namespace
}  // namespace wf::kernels
