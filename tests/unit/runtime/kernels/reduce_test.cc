// Reductions and normalisations against numbers worked out by hand or in f64.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/runtime/kernels/outputs.h"

namespace wf::kernels {
namespace {

using testing::F32;
using testing::Floats;
using testing::Longs;
using testing::None;
using testing::Of;
using testing::Random;
using testing::RunFloats;
using testing::RunKernel;
using testing::RunOutputs;
using testing::Tensor;
using F = std::vector<float>;
using I = std::vector<int64_t>;

constexpr float kQuietNan = std::numeric_limits<float>::quiet_NaN(), kInfinite = std::numeric_limits<float>::infinity();

F Reduced(ReduceOp op, std::vector<bool> axis, const Tensor& x, std::vector<int64_t> out, double p = 2) {
  return RunFloats(Reduce{std::move(axis), op, p}, {x}, std::move(out));
}

TEST(Reduce, EachFunctionOverInnerOuterAndAllAxes) {
  const Tensor x = Floats({2, 3}, {1, -2, 3, 4, 5, -6});
  EXPECT_EQ(Reduced(ReduceOp::kMax, {false, true}, x, {2}), (F{3, 5}));
  EXPECT_EQ(Reduced(ReduceOp::kMax, {true, false}, x, {3}), (F{4, 5, 3}));
  EXPECT_EQ(Reduced(ReduceOp::kMin, {true, true}, x, {}), (F{-6}));
  EXPECT_EQ(Reduced(ReduceOp::kProd, {false, true}, x, {2}), (F{-6, -120}));
  EXPECT_EQ(Reduced(ReduceOp::kL1, {false, true}, x, {2}), (F{6, 15}));
  EXPECT_EQ(Reduced(ReduceOp::kSumSquare, {true, false}, x, {3}), (F{17, 29, 45}));
  EXPECT_FLOATS(Reduced(ReduceOp::kL2, {true, true}, x, {}), (F{std::sqrt(91.0f)}), 1e-6);
  EXPECT_FLOATS(Reduced(ReduceOp::kLp, {false, true}, x, {2}, 3), (F{std::cbrt(36.0f), std::cbrt(405.0f)}), 1e-6);
  EXPECT_FLOATS(Reduced(ReduceOp::kLogSum, {false, true}, x, {2}), (F{std::log(2.0f), std::log(3.0f)}), 1e-6);
  EXPECT_FLOATS(Reduced(ReduceOp::kLogSumExp, {true, true}, Floats({2, 2}, {1000, 1000, 1000, 1000}), {}), (F{1000 + std::log(4.0f)}),
                1e-6);
  EXPECT_EQ(Reduced(ReduceOp::kLogSumExp, {true}, Floats({2}, {-kInfinite, -kInfinite}), {}), (F{-kInfinite}));
  EXPECT_EQ(Reduced(ReduceOp::kLogSumExp, {true}, Floats({2}, {kInfinite, 1}), {}), (F{kInfinite}));
}

TEST(Reduce, OfNothing) {
  const Tensor x = Floats({2, 0}, {});
  EXPECT_EQ(Reduced(ReduceOp::kSum, {false, true}, x, {2}), (F{0, 0}));
  EXPECT_EQ(Reduced(ReduceOp::kProd, {false, true}, x, {2}), (F{1, 1}));
  EXPECT_EQ(Reduced(ReduceOp::kMax, {false, true}, x, {2}), (F{-kInfinite, -kInfinite}));
  EXPECT_EQ(Reduced(ReduceOp::kMin, {false, true}, x, {2}), (F{kInfinite, kInfinite}));
  EXPECT_EQ(Reduced(ReduceOp::kLogSumExp, {false, true}, x, {2}), (F{-kInfinite, -kInfinite}));
  EXPECT_TRUE(std::isnan(Reduced(ReduceOp::kMean, {false, true}, x, {2})[0]));
  EXPECT_EQ(Reduced(ReduceOp::kSum, {true, false}, x, {1, 0}), F{});
  const auto longs = RunKernel(nullptr, Reduce{{true}, ReduceOp::kMax}, {Longs({0}, {})}, WF_I64, {});
  EXPECT_EQ(longs.out.As<int64_t>(), (I{INT64_MIN}));
}

TEST(Reduce, MaximaAndMinimaKeepNan) {
  for (const ReduceOp op : {ReduceOp::kMax, ReduceOp::kMin}) {
    for (size_t at = 0; at < 40; at += 13) {  // in every lane, and behind them
      F values(40, 1);
      values[at] = kQuietNan;
      EXPECT_TRUE(std::isnan(Reduced(op, {true}, Floats({40}, values), {})[0])) << at;
    }
  }
}

TEST(Reduce, IntegersWrapAndTakeSmallTypesAndBool) {
  const auto of = [](ReduceOp op, const I& values) {
    return RunKernel(nullptr, Reduce{{true}, op}, {Longs({static_cast<int64_t>(values.size())}, values)}, WF_I64, {}).out.As<int64_t>()[0];
  };
  EXPECT_EQ(of(ReduceOp::kSum, {INT64_MAX, 1}), INT64_MIN);
  EXPECT_EQ(of(ReduceOp::kMean, {-7, -8}), -7);
  EXPECT_EQ(of(ReduceOp::kL1, {-7, 8}), 15);
  EXPECT_EQ(of(ReduceOp::kL2, {3, 4}), 5);
  EXPECT_EQ(of(ReduceOp::kProd, {-3, 4, 5}), -60);
  const auto bytes = RunKernel(nullptr, Reduce{{true}, ReduceOp::kMin}, {Of<int8_t>(WF_I8, {3}, {5, -128, 7})}, WF_I8, {});
  EXPECT_EQ(bytes.out.As<int8_t>()[0], -128);
  const auto any = RunKernel(nullptr, Reduce{{false, true}, ReduceOp::kMax}, {Of<uint8_t>(WF_BOOL, {2, 2}, {0, 1, 0, 0})}, WF_BOOL, {2});
  EXPECT_EQ(any.out.As<uint8_t>(), (std::vector<uint8_t>{1, 0}));
}

TEST(Reduce, LongRunsAreExactToF64) {
  F values(100'003, 0.1f);
  EXPECT_FLOATS(Reduced(ReduceOp::kSum, {true}, Floats({100'003}, values), {}),
                (F{static_cast<float>(100'003 * static_cast<double>(0.1f))}), 1e-7);
}

TEST(LayerNorm, RowsWithScaleShiftAndStatistics) {
  const Tensor x = Floats({2, 4}, {1, 2, 3, 4, -2, 0, 2, 4}), scale = Floats({4}, {1, 2, 1, 2}), shift = Floats({4}, {0, 0, 1, 1});
  const auto got = RunOutputs(LayerNorm{1, 0, true, 1, 2, 0}, {x, scale, shift}, {F32({2, 4}), F32({2, 1}), F32({2, 1})});
  const float a = 1 / std::sqrt(1.25f), b = 1 / std::sqrt(5.0f);
  EXPECT_FLOATS(got.out[0].As<float>(), (F{-1.5f * a, -a, 0.5f * a + 1, 3 * a + 1, -3 * b, -2 * b, b + 1, 6 * b + 1}), 1e-6);
  EXPECT_FLOATS(got.out[1].As<float>(), (F{2.5f, 1}), 1e-6);
  EXPECT_FLOATS(got.out[2].As<float>(), (F{a, b}), 1e-6);
}

TEST(LayerNorm, ScaleMayBroadcastOverRows) {
  const Tensor x = Floats({2, 2}, {1, 3, 5, 9}), scale = Floats({2, 1}, {10, 100});
  EXPECT_FLOATS(RunFloats(LayerNorm{1, 0}, {x, scale}, {2, 2}), (F{-10, 10, -100, 100}), 1e-6);
}

TEST(LayerNorm, SkipAndBiasComeFirstAndRootMeanSquaresHaveNoMean) {
  const Tensor x = Floats({2, 1, 2}, {1, 2, 3, 4}), scale = Floats({2}, {1, 1}), skip = Floats({1, 2}, {1, 1}), bias = Floats({2}, {1, 0});
  const auto got = RunOutputs(LayerNorm{2, 0, false, 1, 2, 3}, {x, scale, None(), skip, bias}, {F32({2, 1, 2}), {}, {}, F32({2, 1, 2})});
  EXPECT_EQ(got.out[3].As<float>(), (F{3, 3, 5, 5}));
  EXPECT_FLOATS(got.out[0].As<float>(), (F{1, 1, 1, 1}), 1e-6);
}

TEST(GroupNorm, ScaleByGroupOrByChannel) {
  const Tensor x = Floats({1, 4, 1}, {1, 3, 10, 30});
  EXPECT_FLOATS(RunFloats(GroupNorm{2, 0}, {x, Floats({2}, {1, 2}), Floats({2}, {0, 1})}, {1, 4, 1}), (F{-1, 1, -1, 3}), 1e-6);
  EXPECT_FLOATS(RunFloats(GroupNorm{2, 0}, {x, Floats({4}, {1, 2, 3, 4}), Floats({4}, {0, 0, 0, 1})}, {1, 4, 1}), (F{-1, 2, -3, 5}), 1e-6);
}

TEST(Normalisations, OverAxesRowsAndChannels) {
  const Tensor x = Floats({2, 2}, {1, 3, 5, 9});
  EXPECT_FLOATS(RunFloats(MeanVariance{{true, false}}, {x}, {2, 2}), (F{-1, -1, 1, 1}), 1e-6);
  EXPECT_FLOATS(RunFloats(LpNorm{1, 2}, {Floats({2, 2}, {3, 4, 0, 0})}, {2, 2}), (F{0.6f, 0.8f, 0, 0}), 1e-6);
  EXPECT_FLOATS(RunFloats(LpNorm{0, 1}, {Floats({2, 2}, {3, -4, 1, 4})}, {2, 2}), (F{0.75f, -0.5f, 0.25f, 0.5f}), 1e-6);
  EXPECT_FLOATS(RunFloats(LocalNorm{3, 3, 1, 1}, {Floats({1, 3, 1}, {1, 2, 3})}, {1, 3, 1}), (F{1.0f / 6, 2.0f / 15, 3.0f / 14}), 1e-6);
}

TEST(BatchNorm, TrainingMeasuresAndBlends) {
  const Tensor x = Floats({2, 1, 2}, {1, 3, 5, 7}), one = Floats({1}, {1}), zero = Floats({1}, {0});
  const auto got =
      RunOutputs(BatchNorm{0, 0.75f, true}, {x, one, zero, zero, one}, {F32({2, 1, 2}), F32({1}), F32({1}), F32({1}), F32({1})});
  const float scale = 1 / std::sqrt(5.0f);
  EXPECT_FLOATS(got.out[0].As<float>(), (F{-3 * scale, -scale, scale, 3 * scale}), 1e-6);
  EXPECT_FLOATS(got.out[1].As<float>(), (F{1}), 1e-6);
  EXPECT_FLOATS(got.out[2].As<float>(), (F{0.75f + 1.25f}), 1e-6);
  EXPECT_FLOATS(got.out[3].As<float>(), (F{4}), 1e-6);
  EXPECT_FLOATS(got.out[4].As<float>(), (F{5}), 1e-6);
}

TEST(BatchNorm, StatisticsMayBeOfEachElement) {
  const Tensor x = Floats({2, 1, 2}, {1, 3, 5, 7}), one = Floats({1, 2}, {1, 1}), mean = Floats({1, 2}, {1, 2}),
               zero = Floats({1, 2}, {0, 0});
  EXPECT_FLOATS(RunFloats(BatchNorm{0, 0, false, true}, {x, one, zero, mean, one}, {2, 1, 2}), (F{0, 1, 4, 5}), 1e-6);
}

TEST(Pool, MaximaOfSmallIntegers) {
  const Tensor x = Of<int8_t>(WF_I8, {1, 1, 2, 3}, {1, -9, -3, -9, -128, -8});
  const Pool pool{false, false, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  EXPECT_EQ(RunKernel(nullptr, pool, {x}, WF_I8, {1, 1, 1, 2}).out.As<int8_t>(), (std::vector<int8_t>{1, -3}));
}

TEST(Pool, PowersAndDilatedMeans) {
  const Tensor x = Floats({1, 1, 4}, {3, 4, 0, 12});
  EXPECT_FLOATS(RunFloats(Pool{false, false, {2}, {2}, {1}, {0}, {0}, 2}, {x}, {1, 1, 2}), (F{5, 12}), 1e-6);
  EXPECT_FLOATS(RunFloats(Pool{true, false, {2}, {1}, {2}, {1}, {1}}, {x}, {1, 1, 4}), (F{4, 1.5f, 8, 0}), 1e-6);
}

}  // namespace
}  // namespace wf::kernels
