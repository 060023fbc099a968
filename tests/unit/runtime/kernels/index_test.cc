// What picks elements by index or puts them there, against numbers worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/kernels/ref.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels {
namespace {

using testing::Floats;
using testing::kNan;
using testing::Longs;
using testing::Of;
using testing::RunFloats;
using testing::RunKernel;
using testing::Tensor;
using F = std::vector<float>;
using I = std::vector<int64_t>;

TEST(IndexKernels, IndicesCountFromEitherEnd) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(RunFloats(ref::MakeGatherElements, GatherElements{1}, {x, Longs({2, 2}, {0, -1, 2, 1})}, {2, 2}), (F{1, 3, 6, 5}));
  EXPECT_EQ(RunFloats(ref::MakeGatherElements, GatherElements{0}, {x, Longs({1, 2}, {-1, 0})}, {1, 2}), (F{4, 2}));
  EXPECT_EQ(RunFloats(ref::MakeGatherND, GatherND{0}, {x, Longs({2, 2}, {0, -1, 1, 0})}, {2}), (F{3, 4}));
  EXPECT_EQ(RunFloats(ref::MakeGatherND, GatherND{1}, {x, Longs({2, 1}, {2, 0})}, {2}), (F{3, 4}));
  EXPECT_EQ(RunFloats(ref::MakeGatherND, GatherND{0}, {x, Longs({1, 1}, {-1})}, {1, 3}), (F{4, 5, 6}));
}

TEST(IndexKernels, UpdatesAreMadeInTheirOrder) {
  const Tensor x = Floats({3}, {1, 2, 3}), at = Longs({3}, {0, -1, 0}), by = Floats({3}, {10, 20, 30});
  const auto scattered = [&](Reduction reduction) {
    return RunFloats(ref::MakeScatterElements, ScatterElements{0, reduction}, {x, at, by}, {3});
  };
  EXPECT_EQ(scattered(Reduction::kNone), (F{30, 2, 20}));
  EXPECT_EQ(scattered(Reduction::kAdd), (F{41, 2, 23}));
  EXPECT_EQ(scattered(Reduction::kMul), (F{300, 2, 60}));
  EXPECT_EQ(scattered(Reduction::kMax), (F{30, 2, 20}));
  EXPECT_EQ(scattered(Reduction::kMin), (F{1, 2, 3}));
  const Tensor rows = Floats({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(RunFloats(ref::MakeScatterND, ScatterND{Reduction::kAdd}, {rows, Longs({2, 1}, {1, 1}), Floats({2, 2}, {1, 1, 2, 2})}, {2, 2}),
            (F{1, 2, 6, 7}));
}

TEST(IndexKernels, ExtremesKeepNan) {
  for (const Reduction reduction : {Reduction::kMax, Reduction::kMin}) {
    const F kept = RunFloats(ref::MakeScatterElements, ScatterElements{0, reduction},
                             {Floats({2}, {kNan, 1}), Longs({2}, {0, 1}), Floats({2}, {5, kNan})}, {2});
    EXPECT_TRUE(std::isnan(kept[0]) && std::isnan(kept[1]));
  }
}

TEST(IndexKernels, IntegersWrap) {
  const auto sum = RunKernel(ref::MakeScatterElements, ScatterElements{0, Reduction::kAdd},
                             {Longs({1}, {INT64_MAX}), Longs({1}, {0}), Longs({1}, {1})}, WF_I64, {1});
  EXPECT_EQ(sum.out.As<int64_t>(), I{INT64_MIN});
}

TEST(IndexKernels, AnIndexBeyondEitherEndFails) {
  const Tensor x = Floats({2, 2}, {1, 2, 3, 4}), one = Floats({1, 1}, {9});
  for (const int64_t index : {int64_t{2}, int64_t{-3}, INT64_MIN, INT64_MAX}) {
    const Tensor at = Longs({1, 1}, {index});
    const char* wanted = "an index is out of range";
    EXPECT_STREQ(RunKernel(ref::MakeGatherElements, GatherElements{0}, {x, at}, WF_F32, {1, 1}).failure, wanted);
    EXPECT_STREQ(RunKernel(ref::MakeGatherND, GatherND{0}, {x, at}, WF_F32, {1, 2}).failure, wanted);
    EXPECT_STREQ(RunKernel(ref::MakeScatterElements, ScatterElements{0}, {x, at, one}, WF_F32, {2, 2}).failure, wanted);
    EXPECT_STREQ(RunKernel(ref::MakeScatterND, ScatterND{}, {x, at, Floats({1, 2}, {1, 2})}, WF_F32, {2, 2}).failure, wanted);
  }
}

TEST(IndexKernels, AHotIndexBeyondEitherEndIsOffEverywhere) {
  const Tensor values = Floats({2}, {0, 1});
  EXPECT_EQ(RunFloats(ref::MakeOneHot, OneHot{1}, {Longs({4}, {1, -2, 2, -3}), Longs({}, {2}), values}, {4, 2}),
            (F{0, 1, 1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(RunFloats(ref::MakeOneHot, OneHot{0}, {Floats({2}, {1, kNan}), Longs({}, {2}), values}, {2, 2}), (F{0, 0, 1, 0}));
}

}  // namespace
}  // namespace wf::kernels
