// What ranks and runs along an axis, against numbers worked out by hand.
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
using testing::RunKernel;
using testing::RunOutputs;
using F = std::vector<float>;
using I = std::vector<int64_t>;

TEST(OrderKernels, OfEqualOnesTheFirstRanksFirst) {
  const auto top = [](bool largest) {
    return RunOutputs(ref::MakeTopK, TopK{1, largest}, {Floats({1, 5}, {2, 3, 1, 3, 1})},
                      {{WF_F32, {1, 3}, nullptr, nullptr}, {WF_I64, {1, 3}, nullptr, nullptr}});
  };
  EXPECT_EQ(top(true).out[0].As<float>(), (F{3, 3, 2}));
  EXPECT_EQ(top(true).out[1].As<int64_t>(), (I{1, 3, 0}));
  EXPECT_EQ(top(false).out[0].As<float>(), (F{1, 1, 2}));
  EXPECT_EQ(top(false).out[1].As<int64_t>(), (I{2, 4, 0}));
}

TEST(OrderKernels, NanRanksAboveAll) {
  const auto places = [](bool largest) {
    return RunOutputs(ref::MakeTopK, TopK{0, largest}, {Floats({3}, {1, kNan, std::numeric_limits<float>::infinity()})},
                      {{WF_F32, {3}, nullptr, nullptr}, {WF_I64, {3}, nullptr, nullptr}})
        .out[1]
        .As<int64_t>();
  };
  EXPECT_EQ(places(true), (I{1, 2, 0}));
  EXPECT_EQ(places(false), (I{0, 2, 1}));
}

TEST(OrderKernels, ExtremesAndTheirTies) {
  const auto extreme = [](const ArgExtreme& arg, const F& x) {
    const auto size = static_cast<int64_t>(x.size());
    return RunKernel(ref::MakeArgExtreme, arg, {Floats({size}, x)}, WF_I64, {1}).out.As<int64_t>()[0];
  };
  EXPECT_EQ(extreme({0, true, false}, {1, 3, 3, 2}), 1);
  EXPECT_EQ(extreme({0, true, true}, {1, 3, 3, 2}), 2);
  EXPECT_EQ(extreme({0, false, false}, {1, 3, 1}), 0);
  EXPECT_EQ(extreme({0, false, true}, {1, 3, 1}), 2);
  EXPECT_EQ(extreme({0, true, false}, {1, kNan, 3, kNan}), 1);
  EXPECT_EQ(extreme({0, false, true}, {1, kNan, 3, kNan}), 3);
  const auto columns = RunKernel(ref::MakeArgExtreme, ArgExtreme{0, true, false}, {Floats({2, 3}, {1, 5, 3, 4, 2, 6})}, WF_I64, {3});
  EXPECT_EQ(columns.out.As<int64_t>(), (I{1, 0, 1}));
}

TEST(OrderKernels, OneOfEachRowIsHot) {
  const auto hot = RunKernel(ref::MakeHardmax, Hardmax{1, 2}, {Floats({2, 2}, {1, 1, 0, 2})}, WF_F32, {2, 2});
  EXPECT_EQ(hot.out.As<float>(), (F{1, 0, 0, 1}));
  const auto flat = RunKernel(ref::MakeHardmax, Hardmax{0, 2}, {Floats({2, 2}, {1, 1, 0, 2})}, WF_F32, {2, 2});
  EXPECT_EQ(flat.out.As<float>(), (F{0, 0, 0, 1}));
}

TEST(OrderKernels, SumsRunEitherWay) {
  const auto sums = [](const CumSum& sum) {
    return RunKernel(ref::MakeCumSum, sum, {Longs({2, 3}, {1, 2, 3, 4, 5, 6})}, WF_I64, {2, 3}).out.As<int64_t>();
  };
  EXPECT_EQ(sums({1, false, false}), (I{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(sums({1, true, false}), (I{0, 1, 3, 0, 4, 9}));
  EXPECT_EQ(sums({1, false, true}), (I{6, 5, 3, 15, 11, 6}));
  EXPECT_EQ(sums({0, true, true}), (I{4, 5, 6, 0, 0, 0}));
}

TEST(OrderKernels, LengthsLieWithinTheAxis) {
  const auto turned = [](const I& lengths) {
    return RunKernel(ref::MakeReverseSequence, ReverseSequence{false}, {Floats({2, 3}, {1, 2, 3, 4, 5, 6}), Longs({2}, lengths)}, WF_F32,
                     {2, 3});
  };
  EXPECT_EQ(turned({2, 3}).out.As<float>(), (F{2, 1, 3, 6, 5, 4}));
  EXPECT_EQ(turned({0, 1}).out.As<float>(), (F{1, 2, 3, 4, 5, 6}));
  EXPECT_STREQ(turned({4, 1}).failure, "a length is out of range");
  EXPECT_STREQ(turned({1, -1}).failure, "a length is out of range");
}

}  // namespace
}  // namespace wf::kernels
