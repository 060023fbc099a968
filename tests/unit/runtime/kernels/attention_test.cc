// Transforms, losses and the fused operators of transformers, against plain loops in f64 or numbers worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>

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
using testing::RunOutputs;
using testing::Tensor;
using F = std::vector<float>;

TEST(Dft, AnyLengthForwardAndBack) {
  for (const int64_t n : {1, 2, 3, 4, 5, 7, 8, 12, 16, 30, 97}) {
    const Tensor x = Random({2, n, 3, 2}, 1);
    const F in = x.As<float>();
    F want;
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t k = 0; k < n; ++k) {
        for (int64_t c = 0; c < 3; ++c) {
          std::complex<double> sum = 0;
          for (int64_t i = 0; i < n; ++i) {
            const size_t at = static_cast<size_t>(((b * n + i) * 3 + c) * 2);
            sum += std::complex<double>(in[at], in[at + 1]) *
                   std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * k % n) / static_cast<double>(n));
          }
          want.push_back(static_cast<float>(sum.real()));
          want.push_back(static_cast<float>(sum.imag()));
        }
      }
    }
    SCOPED_TRACE(n);
    const auto got = RunOutputs(Dft{1, n, false}, {x}, {F32({2, n, 3, 2})});
    EXPECT_FLOATS(got.out[0].As<float>(), want, 1e-5);
    const auto back = RunOutputs(Dft{1, n, true}, {got.out[0]}, {F32({2, n, 3, 2})});
    EXPECT_FLOATS(back.out[0].As<float>(), in, 1e-5);
  }
}

TEST(Dft, CutsPadsAndIsOneSided) {
  const Tensor x = Floats({1, 3, 1}, {1, 2, 3});
  EXPECT_FLOATS(RunFloats(Dft{1, 2, false}, {x}, {1, 2, 2}), (F{3, 0, -1, 0}), 1e-6);
  EXPECT_FLOATS(RunFloats(Dft{1, 4, false}, {x}, {1, 3, 2}), (F{6, 0, -2, -2, 2, 0}), 1e-6);
}

TEST(ShortDft, FramesWithTheirWindow) {
  const Tensor x = Floats({1, 5}, {1, 2, 3, 4, 5}), window = Floats({2}, {1, 2});
  EXPECT_FLOATS(RunFloats(ShortDft{2, 2}, {x, window}, {1, 2, 2, 2}), (F{5, 0, -3, 0, 11, 0, -5, 0}), 1e-6);
}

TEST(SignalWindow, PeriodicSymmetricAndOfOneElement) {
  EXPECT_FLOATS(RunFloats(SignalWindow{}, {Longs({}, {4})}, {4}), (F{0, 0.5f, 1, 0.5f}), 1e-6);
  EXPECT_FLOATS(RunFloats(SignalWindow{0.42, 0.5, 0.08, false}, {Longs({}, {3})}, {3}), (F{0, 1, 0}), 1e-6);
  EXPECT_FLOATS(RunFloats(SignalWindow{0.5, 0.5, 0, false}, {Longs({}, {1})}, {1}), (F{0}), 1e-6);
}

TEST(MelWeights, EdgesBeyondTheSpectrumFail) {
  const MelWeights mels{16, 8000};
  const auto run = [&](float low, float high) { return RunOutputs(mels, {Floats({}, {low}), Floats({}, {high})}, {F32({9, 4})}).failure; };
  EXPECT_EQ(run(0, 4000), nullptr);
  for (const float wrong : {1e30f, -1e5f, NAN, INFINITY}) EXPECT_NE(run(0, wrong), nullptr) << wrong;
}

TEST(ClassLoss, WeighsIgnoresAndReduces) {
  const Tensor scores = Floats({3, 2}, {-1, -2, -3, -4, -5, -6}), weights = Floats({2}, {1, 3});
  const Tensor targets = Longs({3}, {0, 1, 7});
  using enum ClassLoss::Reduction;
  EXPECT_EQ(RunFloats(ClassLoss{false, kNone, 7}, {scores, targets, weights}, {3}), (F{1, 12, 0}));
  EXPECT_EQ(RunFloats(ClassLoss{false, kSum, 7}, {scores, targets, weights}, {}), (F{13}));
  EXPECT_EQ(RunFloats(ClassLoss{false, kMean, 7}, {scores, targets, weights}, {}), (F{13.0f / 4}));
  EXPECT_EQ(RunFloats(ClassLoss{false, kMean, 7}, {scores, targets}, {}), (F{2.5f}));
  EXPECT_NE(RunOutputs(ClassLoss{false, kSum, {}}, {scores, targets}, {F32({})}).failure, nullptr);
  EXPECT_NE(RunOutputs(ClassLoss{false, kSum, {}}, {scores, Longs({3}, {0, 0, -1})}, {F32({})}).failure, nullptr);
  const auto both = RunOutputs(ClassLoss{true, kSum, {}}, {Floats({1, 2}, {0, 0}), Of<int32_t>(WF_I32, {1}, {1})}, {F32({}), F32({1, 2})});
  EXPECT_FLOATS(both.out[0].As<float>(), (F{std::log(2.0f)}), 1e-6);
  EXPECT_FLOATS(both.out[1].As<float>(), (F{-std::log(2.0f), -std::log(2.0f)}), 1e-6);
}

TEST(BiasGelu, Kinds) {
  const Tensor x = Floats({2, 1}, {-1, 1}), bias = Floats({1}, {1});
  EXPECT_FLOATS(RunFloats(BiasGelu{}, {x, bias}, {2, 1}), (F{0, 1 + std::erf(std::numbers::sqrt2_v<float>)}), 1e-6);
  EXPECT_FLOATS(RunFloats(BiasGelu{BiasGelu::Kind::kTanh}, {x}, {2, 1}), (F{-0.15880801f, 0.84119199f}), 1e-6);
}

// One head: keys and values are rows as long as q.
struct Head {
  F q, k, v;
  double scale = 1;
};

// Its weights times v, over the elements that `added` does not leave out with -infinity.
F Weighted(const Head& head, const std::vector<double>& added) {
  const size_t size = head.q.size();
  std::vector<double> weight(added.size());
  double sum = 0;
  for (size_t j = 0; j < weight.size(); ++j) {
    double product = 0;
    for (size_t i = 0; i < size; ++i) product += double{head.q[i]} * double{head.k[j * size + i]};
    sum += weight[j] = std::exp(product * head.scale + added[j]);
  }
  F out(size, 0);
  for (size_t j = 0; j < weight.size(); ++j) {
    for (size_t i = 0; i < size; ++i) out[i] += static_cast<float>(weight[j] / sum * double{head.v[j * size + i]});
  }
  return out;
}

F Part(const Tensor& tensor, int64_t begin, int64_t count) {
  const F all = tensor.As<float>();
  return {all.begin() + begin, all.begin() + begin + count};
}

constexpr double kOut = -std::numeric_limits<double>::infinity();

TEST(Attention, OneHeadWithMaskAndBias) {
  const Tensor q = Random({1, 2, 3}, 1), k = Random({1, 4, 3}, 2), v = Random({1, 4, 3}, 3), added = Random({1, 1, 2, 4}, 4);
  Attention attention{1, 1, 3, 3, 0.5f};
  attention.total = 4;
  F want;
  for (int64_t i = 0; i < 2; ++i) {
    std::vector<double> rest;
    for (const float each : Part(added, i * 4, 4)) rest.push_back(each);
    rest[1] -= 10000;
    for (const float each : Weighted({Part(q, i * 3, 3), k.As<float>(), v.As<float>(), 0.5}, rest)) want.push_back(each);
  }
  const Tensor mask = Of<int32_t>(WF_I32, {1, 4}, {1, 0, 1, 1});
  EXPECT_FLOATS(RunFloats(attention, {q, k, v, None(), None(), mask, added}, {1, 2, 3}), want, 1e-5);
}

TEST(Attention, ProjectionAndPastInOneTensor) {
  const int64_t s = 2, past = 1, heads = 2, size = 2, width = heads * size;
  const Tensor x = Random({1, s, 3}, 1), w = Random({3, 3 * width}, 2), bias = Random({3 * width}, 3),
               before = Random({2, 1, heads, past, size}, 4);
  Attention attention{heads, heads, size, size, 1};
  attention.causal = attention.joined = true;
  attention.total = s + past;
  const auto got = RunOutputs(attention, {x, None(), None(), w, bias, None(), None(), before, None()},
                              {F32({1, s, width}), F32({2, 1, heads, s + past, size})});
  const F qkv = RunFloats(MatMul{}, {x, w, bias}, {1, s, 3 * width});
  for (int64_t head = 0; head < heads; ++head) {
    F keys = Part(before, head * size, size), values = Part(before, (heads + head) * size, size);
    for (int64_t i = 0; i < s; ++i) {
      const auto at = qkv.begin() + i * 3 * width + head * size;
      keys.insert(keys.end(), at + width, at + width + size);
      values.insert(values.end(), at + 2 * width, at + 2 * width + size);
    }
    EXPECT_FLOATS(Part(got.out[1], head * 3 * size, 3 * size), keys, 1e-6);
    EXPECT_FLOATS(Part(got.out[1], (heads + head) * 3 * size, 3 * size), values, 1e-6);
    for (int64_t i = 0; i < s; ++i) {
      const auto at = qkv.begin() + i * 3 * width + head * size;
      std::vector<double> rest = {0, 0, i == 0 ? kOut : 0};
      EXPECT_FLOATS(Part(got.out[0], i * width + head * size, size), Weighted({F(at, at + size), keys, values}, rest), 1e-5);
    }
  }
}

TEST(Attention, SharedHeadsLengthsAndTurnedPositions) {
  // One sample with 2 elements of before, in memory for 4, and one more now.
  const int64_t size = 2, most = 4;
  const Tensor q = Random({1, 1, 2 * size}, 1), k = Random({1, 1, size}, 2), v = Random({1, 1, size}, 3);
  const Tensor past_k = Random({1, 1, most, size}, 4), past_v = Random({1, 1, most, size}, 5), length = Of<int32_t>(WF_I32, {1}, {2});
  const Tensor cosine = Floats({3, 1}, {1, 1, 0}), sine = Floats({3, 1}, {0, 0, 1});  // position 2 is turned by a quarter
  Attention attention{2, 1, size, size, 1};
  attention.causal = true;
  attention.total = most;
  const auto got = RunOutputs(attention, {q, k, v, None(), None(), None(), None(), past_k, past_v, length, cosine, sine},
                              {F32({1, 1, 2 * size}), F32({1, 1, most, size}), F32({1, 1, most, size})});
  ASSERT_EQ(got.failure, nullptr);
  F keys = Part(past_k, 0, 2 * size), values = Part(past_v, 0, 2 * size);
  const F one = k.As<float>();
  keys.insert(keys.end(), {-one[1], one[0]});
  for (const float each : v.As<float>()) values.push_back(each);
  EXPECT_FLOATS(Part(got.out[1], 0, 3 * size), keys, 1e-6);
  for (int64_t head = 0; head < 2; ++head) {
    const F row = Part(q, head * size, size);
    EXPECT_FLOATS(Part(got.out[0], head * size, size), Weighted({{-row[1], row[0]}, keys, values}, {0, 0, 0}), 1e-5);
  }
  for (const int32_t wrong : {-1, 4, INT32_MAX, INT32_MIN}) {
    const auto failed =
        RunOutputs(attention, {q, k, v, None(), None(), None(), None(), past_k, past_v, Of<int32_t>(WF_I32, {1}, {wrong}), cosine, sine},
                   {F32({1, 1, 2 * size})});
    EXPECT_NE(failed.failure, nullptr) << wrong;
  }
}

TEST(Rotary, PairsApartAndSideBySide) {
  const Tensor x = Floats({1, 1, 6}, {1, 2, 3, 4, 5, 6}), cosine = Floats({2, 2}, {1, 1, 0, 1}), sine = Floats({2, 2}, {0, 0, 1, 0});
  EXPECT_EQ(RunFloats(Rotary{1, 6}, {x, Longs({1}, {1}), cosine, sine}, {1, 1, 6}), (F{-3, 2, 1, 4, 5, 6}));
  EXPECT_EQ(RunFloats(Rotary{1, 6, true}, {x, Longs({1, 1}, {1}), cosine, sine}, {1, 1, 6}), (F{-2, 1, 3, 4, 5, 6}));
  for (const int64_t wrong : {int64_t{-1}, int64_t{2}, INT64_MAX}) {
    EXPECT_NE(RunOutputs(Rotary{1, 6}, {x, Longs({1}, {wrong}), cosine, sine}, {F32({1, 1, 6})}).failure, nullptr) << wrong;
  }
}

TEST(EmbedNorm, SumsTablesAndCountsTheMask) {
  const Tensor words = Of<int32_t>(WF_I32, {1, 2}, {1, 0}), segments = Of<int32_t>(WF_I32, {1, 2}, {0, 1}),
               mask = Of<int32_t>(WF_I32, {1, 2}, {1, 0});
  const Tensor table = Floats({2, 2}, {1, 2, 3, 5}), positions = Floats({2, 2}, {0, 0, 10, 10}), parts = Floats({2, 2}, {0, 0, 0, 3});
  const Tensor one = Floats({2}, {1, 2}), zero = Floats({2}, {0, 1});
  const auto got = RunOutputs(EmbedNorm{0}, {words, segments, table, positions, parts, one, zero, mask},
                              {F32({1, 2, 2}), {WF_I32, {1}, nullptr, nullptr}, F32({1, 2, 2})});
  ASSERT_EQ(got.failure, nullptr);
  EXPECT_EQ(got.out[2].As<float>(), (F{3, 5, 11, 15}));
  EXPECT_FLOATS(got.out[0].As<float>(), (F{-1, 3, -1, 3}), 1e-6);
  EXPECT_EQ(got.out[1].As<int32_t>(), (std::vector<int32_t>{1}));
  const auto failed =
      RunOutputs(EmbedNorm{0}, {Of<int32_t>(WF_I32, {1, 2}, {2, 0}), None(), table, positions, None(), one, zero}, {F32({1, 2, 2})});
  EXPECT_NE(failed.failure, nullptr);
}

TEST(MatMulNBits, UnpacksBlocksWithTheirZeros) {
  // Two columns of 16 elements of 4 bits: 0 to 15, and all 9.
  std::vector<uint8_t> bytes;
  for (uint8_t i = 0; i < 8; ++i) bytes.push_back(static_cast<uint8_t>(2 * i | (2 * i + 1) << 4));
  bytes.insert(bytes.end(), 8, 0x99);
  const Tensor x = Floats({1, 16}, F(16, 1)), weights = Of<uint8_t>(WF_U8, {2, 1, 8}, bytes), scales = Floats({2}, {1, 0.5f});
  EXPECT_EQ(RunFloats(MatMulNBits{16, 2, 4, 16}, {x, weights, scales}, {1, 2}), (F{120 - 128, 8}));
  const Tensor zeros = Of<uint8_t>(WF_U8, {2}, {1, 5}), bias = Floats({2}, {100, 0});
  EXPECT_EQ(RunFloats(MatMulNBits{16, 2, 4, 16}, {x, weights, scales, zeros, bias}, {1, 2}), (F{120 - 16 + 100, 32}));
  const Tensor floats = Floats({2}, {0.5f, 9});
  EXPECT_EQ(RunFloats(MatMulNBits{16, 2, 4, 16}, {x, weights, scales, floats}, {1, 2}), (F{112, 0}));
}

TEST(MatMulNBits, AnElementHasTheScaleAndTheZeroOfItsGroup) {
  // 20 elements of 4 bits, all 9, in blocks of 16: the first four are of the second.
  const Tensor x = Floats({1, 20}, F(20, 1)), weights = Of<uint8_t>(WF_U8, {1, 2, 8}, std::vector<uint8_t>(16, 0x99)),
               scales = Floats({2}, {1, 10}), zeros = Of<uint8_t>(WF_U8, {1}, {0x58}), bias = Floats({1}, {0.5f});
  std::vector<int32_t> groups(20, 0);
  std::fill_n(groups.begin(), 4, 1);
  const auto run = [&](const Tensor& zero, const Tensor& added) {
    return RunFloats(MatMulNBits{20, 1, 4, 16}, {x, weights, scales, zero, added, Of<int32_t>(WF_I32, {20}, groups)}, {1, 1});
  };
  EXPECT_EQ(run(None(), None()), F{4 * 10 + 16});
  EXPECT_EQ(run(zeros, bias), F{4 * 10 * 4 + 16 + 0.5f});
  for (const int32_t wrong : {-1, 2}) {
    groups[19] = wrong;
    EXPECT_STREQ(
        RunOutputs(MatMulNBits{20, 1, 4, 16}, {x, weights, scales, None(), None(), Of<int32_t>(WF_I32, {20}, groups)}, {F32({1, 1})})
            .failure,
        "a group of weights is no block of them");
  }
}

TEST(MatMulBnb4, CodesStandForNumbersTimesTheScaleOfTheirBlock) {
  // Two rows of 20 codes in blocks of 16, all the last: 1 for normals, -1/4 for floats.
  const Tensor x = Floats({1, 20}, F(20, 1)), scales = Floats({3}, {1, 10, 100});
  const Tensor last = Of<uint8_t>(WF_U8, {20}, std::vector<uint8_t>(20, 0xff));
  EXPECT_EQ(RunFloats(MatMulBnb4{20, 2, 16, true}, {x, last, scales}, {1, 2}), (F{16 + 4 * 10, 12 * 10 + 8 * 100}));
  EXPECT_EQ(RunFloats(MatMulBnb4{20, 2, 16, false}, {x, last, scales}, {1, 2}), (F{-56 / 4, -920 / 4}));
  // The first of a byte lies in its high half.
  const Tensor one = Floats({1, 2}, {1, 0}), scale = Floats({1}, {2});
  EXPECT_EQ(RunFloats(MatMulBnb4{2, 1, 16, false}, {one, Of<uint8_t>(WF_U8, {1}, {0x5b}), scale}, {1, 1}), F{1});
}

// What ONNX Runtime 1.32 gives.
TEST(GatherBlocks, RowsOfHalfBytesWithTheirZeros) {
  std::vector<uint8_t> bytes(3 * 16, 0);
  for (size_t row = 0; row < 3; ++row) bytes[row * 16] = 0x21, bytes[row * 16 + 8] = 0x43;
  for (size_t i = 16; i < 32; ++i) bytes[i] += 0x11;
  const Tensor table = Of<uint8_t>(WF_U8, {3, 16}, bytes), at = Longs({2}, {1, -3}), scales = Floats({3, 2}, {1, 2, 3, 4, 5, 6});
  const auto wanted = [](std::array<float, 12> of) {
    F all;
    for (size_t i = 0; i < 12; i += 3) {
      all.insert(all.end(), {of[i], of[i + 1]});
      all.insert(all.end(), 14, of[i + 2]);
    }
    return all;
  };
  const GatherBlocks format{0, 1, 16, true, 8};
  EXPECT_EQ(RunFloats(format, {table, at, scales}, {2, 32}), wanted({-18, -15, -21, -16, -12, -28, -7, -6, -8, -10, -8, -16}));
  const Tensor zeros = Of<uint8_t>(WF_U8, {3, 1}, {0x10, 0x32, 0});
  EXPECT_EQ(RunFloats(format, {table, at, scales, zeros}, {2, 32}), wanted({0, 3, -3, 4, 8, -8, 1, 2, 0, 4, 6, -2}));
  EXPECT_NE(RunOutputs(format, {table, Longs({1}, {3}), scales}, {F32({1, 32})}).failure, nullptr);
}

TEST(GatherBlocks, ColumnsOfATableInBlocksAlongItsRows) {
  std::vector<int8_t> numbers;
  for (int i = 0; i < 17 * 3; ++i) numbers.push_back(static_cast<int8_t>(i % 8));
  const Tensor table = Of<int8_t>(WF_I8, {17, 3}, numbers), scales = Floats({2, 3}, {1, 2, 3, 10, 20, 30}),
               zeros = Of<int8_t>(WF_I8, {2, 3}, {1, 2, 3, 0, 0, 0});
  const F got = RunFloats(GatherBlocks{1, 0, 16}, {table, Of<int32_t>(WF_I32, {2}, {1, 0}), scales, zeros}, {17, 2});
  EXPECT_EQ((F{got[0], got[1], got[2], got[3], got[32], got[33]}), (F{-2, -1, 4, 2, 20, 0}));
}

}  // namespace
}  // namespace wf::kernels
