// Faster kernels on 8-bit integers against `ref`: random shapes, types, zero points and scales, and numbers at the ends of their ranges.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>

#include "runtime/kernels/onednn/layout.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/quantise/vector.h"
#include "runtime/kernels/ref.h"
#include "runtime/kernels/unary/vector.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels {
namespace {

using testing::Constant;
using testing::Floats;
using testing::Of;
using testing::RunKernel;
using testing::Tensor;

class Dice {
 public:
  explicit Dice(uint32_t seed) : random_(seed) {}
  int64_t Below(int64_t end) { return std::uniform_int_distribution<int64_t>(0, end - 1)(random_); }
  bool Coin() { return Below(2) == 0; }
  uint8_t Byte() { return Coin() ? WF_U8 : WF_I8; }

  // Of u8 or i8; all at the ends of the range, or any.
  Tensor Bytes(uint8_t dtype, std::vector<int64_t> dim) {
    Tensor tensor{{dtype, std::move(dim), nullptr, nullptr}, nullptr};
    tensor.data = Allocate(tensor.info.size_bytes());
    const bool ends = Below(4) == 0;
    const uint8_t low = dtype == WF_U8 ? 0 : 0x80, high = dtype == WF_U8 ? 0xff : 0x7f;
    for (int64_t i = 0; i < tensor.info.count(); ++i)
      tensor.data.get()[i] = ends ? (Coin() ? low : high) : static_cast<uint8_t>(Below(256));
    return tensor;
  }
  Tensor Same(uint8_t dtype, std::vector<int64_t> dim, uint8_t value) {
    Tensor tensor = Bytes(dtype, std::move(dim));
    std::fill_n(tensor.data.get(), tensor.info.count(), value);
    return tensor;
  }
  Tensor Scales(int64_t count, float around) {
    std::vector<float> scales(static_cast<size_t>(count));
    for (float& each : scales) each = around * std::uniform_real_distribution<float>(0.5f, 2)(random_);
    return count == 1 ? Floats({}, scales) : Floats({count}, scales);
  }
  Tensor Bias(int64_t count) {
    std::vector<int32_t> bias(static_cast<size_t>(count));
    for (int32_t& each : bias) each = static_cast<int32_t>(Below(20001) - 10000);
    return Of<int32_t>(WF_I32, {count}, bias);
  }
  Within Bounds() {
    const int64_t kind = Below(3);
    return kind == 0 ? Within{} : kind == 1 ? Within{.low = 0} : Within{-0.5f, 0.7f};
  }

 private:
  std::mt19937 random_;
};

struct Off {
  int most = 0;
  int64_t count = 0, of = 0;
};

int64_t At(const Tensor& tensor, int64_t i) {
  if (tensor.info.dtype == WF_I32) return tensor.As<int32_t>()[static_cast<size_t>(i)];
  return tensor.info.dtype == WF_I8 ? int64_t{static_cast<int8_t>(tensor.data.get()[i])} : int64_t{tensor.data.get()[i]};
}

// By how much the results differ, at most.
void Compare(const Tensor& is, const Tensor& want, Off& off) {
  for (int64_t i = 0; i < want.info.count() && want.info.dtype != WF_I32; ++i, ++off.of) {
    const int64_t far = std::abs(At(is, i) - At(want, i));
    off.most = std::max(off.most, static_cast<int>(far));
    off.count += far != 0 ? 1 : 0;
  }
  if (want.info.dtype == WF_I32) {
    EXPECT_EQ(is.As<int32_t>(), want.As<int32_t>());
  }
}

// The inputs of a product with weights of the last of these extents, in the order of the contracts.
struct Product {
  std::vector<Tensor> in;
  uint8_t dtype;
};
Product MakeInputs(Dice& dice, std::vector<int64_t> x, std::vector<int64_t> w, int64_t results, int64_t summed) {
  const uint8_t a = dice.Byte(), b = dice.Below(3) == 0 ? WF_U8 : WF_I8, y = dice.Byte();
  const bool whole = dice.Below(4) == 0, many = dice.Coin();
  Product product{{dice.Bytes(a, std::move(x)), dice.Scales(1, 0.02f), dice.Bytes(a, {}), dice.Bytes(b, std::move(w)),
                   dice.Scales(many ? results : 1, 0.01f),
                   dice.Same(b, many ? std::vector<int64_t>{results} : std::vector<int64_t>{}, b == WF_U8 ? 128 : 0),
                   dice.Scales(1, 0.01f * std::sqrt(static_cast<float>(summed))), dice.Bytes(y, {}), dice.Bias(results)},
                  whole ? static_cast<uint8_t>(WF_I32) : y};
  if (dice.Coin() || whole) product.in.resize(8);
  if (whole) product.in = {product.in[0], Tensor{}, product.in[2], product.in[3], Tensor{}, product.in[5]};
  for (size_t i = 1; i < product.in.size(); ++i) {
    const bool changes = whole && i == 2 && dice.Coin();  // as of a tensor that is quantised in the run
    if (product.in[i].info.dtype != 0 && !changes) product.in[i] = Constant(product.in[i]);
  }
  return product;
}

TEST(Integers, ConvolutionsAgreeWithRef) {
  Off off;
  int taken = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    constexpr int64_t kChannels[] = {1, 3, 8, 16, 17, 32, 64};
    const int64_t group = std::array<int64_t, 3>{1, 1, 4}[static_cast<size_t>(dice.Below(3))];
    const bool depthwise = dice.Below(4) == 0;
    const int64_t c = kChannels[dice.Below(7)] * (depthwise ? 1 : group), m = depthwise ? c : kChannels[dice.Below(7)] * group;
    const int64_t groups = depthwise ? c : group, side = 5 + dice.Below(8), kernel = 1 + 2 * dice.Below(3), stride = 1 + dice.Below(2);
    const int64_t begin = dice.Below(kernel), end = dice.Below(kernel), out = (side + begin + end - kernel) / stride + 1;
    const Product of =
        MakeInputs(dice, {1 + dice.Below(2), c, side, side}, {m, c / groups, kernel, kernel}, m, c / groups * kernel * kernel);
    IntegerConv conv{{stride, stride}, {1, 1}, {begin, begin}, groups};
    if (of.dtype != WF_I32) conv.within = dice.Bounds();
    const std::vector<int64_t> y = {of.in[0].info.dim[0], m, out, out};
    const auto want = RunKernel(ref::MakeIntegerConv, conv, of.in, of.dtype, y),
               is = RunKernel(onednn::MakeIntegerConv, conv, of.in, of.dtype, y);
    taken += is.made ? 1 : 0;
    if (is.made) Compare(is.out, want.out, off);
  }
  EXPECT_LE(off.most, 1);
  EXPECT_LE(off.count, off.of / 1000) << "only where the scaled sum is about half between two";
  EXPECT_GE(taken, onednn::MultipliesBytes() ? 80 : 0);
}

TEST(Integers, ProductsAgreeWithRef) {
  Off off;
  int taken = 0;
  for (uint32_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const int64_t m = 1 + dice.Below(20), k = 1 + dice.Below(seed % 10 == 0 ? 5000 : 200), n = 1 + dice.Below(100);
    const Product of = MakeInputs(dice, dice.Coin() ? std::vector<int64_t>{m, k} : std::vector<int64_t>{2, m, k}, {k, n}, n, k);
    std::vector<int64_t> y = of.in[0].info.dim;
    y.back() = n;
    IntegerMatMul product;
    if (of.dtype != WF_I32) product.within = dice.Bounds();
    const auto want = RunKernel(ref::MakeIntegerMatMul, product, of.in, of.dtype, y),
               is = RunKernel(onednn::MakeIntegerMatMul, product, of.in, of.dtype, y);
    taken += is.made ? 1 : 0;
    if (is.made) Compare(is.out, want.out, off);
  }
  EXPECT_LE(off.most, 1);
  EXPECT_LE(off.count, off.of / 1000);
  EXPECT_GE(taken, onednn::MultipliesBytes() ? 130 : 0);
}

TEST(Integers, ProductsOfWhatIsQuantisedInTheRunAgreeWithRef) {
  int taken = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const int64_t m = 1 + dice.Below(20), k = 1 + dice.Below(200), n = 2 + dice.Below(100);
    const uint8_t a = dice.Byte();
    std::vector<Tensor> in = {dice.Bytes(a, {m, k}), dice.Scales(1, 0.02f), dice.Bytes(a, {}), Constant(dice.Bytes(WF_I8, {k, n})),
                              Constant(dice.Scales(dice.Coin() ? n : 1, 0.01f))};
    in.resize(8);
    if (dice.Coin()) in.push_back(Constant(testing::Random({n}, seed)));
    const auto is = RunKernel(onednn::MakeIntegerMatMul, IntegerMatMul{}, in, WF_F32, {m, n});
    if (!is.made) continue;
    ++taken;
    const auto want = RunKernel(ref::MakeIntegerMatMul, IntegerMatMul{}, in, WF_F32, {m, n}).out.As<float>(), got = is.out.As<float>();
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-5f * (1 + std::abs(want[i])));
  }
  EXPECT_GE(taken, onednn::MultipliesBytes() ? 60 : 0);
}

// 255 * 127 twice is more than 16 bits hold, where instructions for less than four products at once saturate.
TEST(Integers, LargestProductsDoNotSaturateOnTheWay) {
  Dice dice(1);
  for (const uint8_t w : {uint8_t{0x7f}, uint8_t{0x80}}) {
    const std::vector<Tensor> in = {dice.Same(WF_U8, {3, 64}, 255), Tensor{}, Tensor{}, Constant(dice.Same(WF_I8, {64, 16}, w))};
    const auto is = RunKernel(nullptr, IntegerMatMul{}, in, WF_I32, {3, 16});
    EXPECT_EQ(is.out.As<int32_t>(), std::vector<int32_t>(48, 64 * 255 * int32_t{static_cast<int8_t>(w)}));
    const std::vector<Tensor> image = {dice.Same(WF_U8, {1, 64, 2, 2}, 255), Tensor{}, Tensor{},
                                       Constant(dice.Same(WF_I8, {16, 64, 1, 1}, w))};
    const auto conv = RunKernel(nullptr, IntegerConv{{1, 1}, {1, 1}, {0, 0}, 1}, image, WF_I32, {1, 16, 2, 2});
    EXPECT_EQ(conv.out.As<int32_t>(), std::vector<int32_t>(64, 64 * 255 * int32_t{static_cast<int8_t>(w)}));
  }
}

TEST(Integers, WhatIsFarOutOfRangeIsTheNearestThereIs) {
  Dice dice(1);
  for (const uint8_t dtype : {WF_U8, WF_I8}) {
    for (const uint8_t w : {uint8_t{0x7f}, uint8_t{0x80}}) {
      const Tensor huge = Constant(Floats({}, {1e9f})), zero = Constant(dice.Same(dtype, {}, 3));
      const std::vector<Tensor> in = {
          dice.Same(WF_U8, {3, 64}, 255), huge, Tensor{}, Constant(dice.Same(WF_I8, {64, 16}, w)), huge, Tensor{},
          Constant(Floats({}, {1})),      zero};
      const uint8_t end = dtype == WF_U8 ? (w == 0x7f ? 0xff : 0) : w;
      EXPECT_EQ(RunKernel(nullptr, IntegerMatMul{}, in, dtype, {3, 16}).out.As<uint8_t>(), std::vector<uint8_t>(48, end));
      std::vector<Tensor> image = in;
      image[0] = dice.Same(WF_U8, {1, 64, 2, 2}, 255);
      image[3] = Constant(dice.Same(WF_I8, {16, 64, 1, 1}, w));
      const IntegerConv conv{{1, 1}, {1, 1}, {0, 0}, 1};
      EXPECT_EQ(RunKernel(nullptr, conv, image, dtype, {1, 16, 2, 2}).out.As<uint8_t>(), std::vector<uint8_t>(64, end));
    }
  }
}

// More than 24 bits, which f32 would round.
TEST(Integers, LargeSumsAreExact) {
  Dice dice(1);
  const Tensor x = dice.Same(WF_U8, {1, 1600}, 255), w = dice.Same(WF_I8, {1600, 16}, 127);
  const Tensor image = dice.Same(WF_U8, {1, 64, 5, 5}, 255), filters = dice.Same(WF_I8, {16, 64, 5, 5}, 127);
  w.data.get()[0] = filters.data.get()[0] = 126;
  const IntegerConv conv{{1, 1}, {1, 1}, {0, 0}, 1};
  for (const bool is_known : {false, true}) {
    for (const int32_t zero : {0, 4}) {
      const int32_t sum = (255 - zero) * (1600 * 127 - 1);
      Tensor point = dice.Same(WF_U8, {}, static_cast<uint8_t>(zero));
      if (is_known) point = Constant(point);
      const auto is = RunKernel(nullptr, IntegerMatMul{}, {x, Tensor{}, point, Constant(w)}, WF_I32, {1, 16});
      EXPECT_EQ(is.out.As<int32_t>()[0], sum);
      const auto sums = RunKernel(nullptr, conv, {image, Tensor{}, point, Constant(filters)}, WF_I32, {1, 16, 1, 1});
      EXPECT_EQ(sums.out.As<int32_t>()[0], sum);
    }
  }
}

TEST(Integers, WeightsAroundAnotherMiddleAreLeftToRef) {
  Dice dice(1);
  const std::vector<Tensor> in = {dice.Bytes(WF_U8, {3, 64}),       Tensor{}, Tensor{}, Constant(dice.Bytes(WF_I8, {64, 16})), Tensor{},
                                  Constant(dice.Same(WF_I8, {}, 3))};
  EXPECT_FALSE(RunKernel(onednn::MakeIntegerMatMul, IntegerMatMul{}, in, WF_I32, {3, 16}).made);
  std::vector<Tensor> changing = {in[0], Tensor{}, Tensor{}, in[3]};
  changing[3].info.constant = nullptr;
  EXPECT_FALSE(RunKernel(onednn::MakeIntegerMatMul, IntegerMatMul{}, changing, WF_I32, {3, 16}).made);
}

TEST(Integers, SumsAndProductsOfElementsAgreeWithRef) {
  if (!avx2::Available()) return;
  Off off;
  for (uint32_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const uint8_t dtype = dice.Byte();
    const std::vector<int64_t> dim = {2, 1 + dice.Below(9), 1 + dice.Below(9)};
    std::vector<Tensor> in = {dice.Bytes(dtype, dim), dice.Scales(1, 0.01f), dice.Bytes(dtype, {}), dice.Bytes(dtype, dim),
                              dice.Scales(1, 0.01f),  dice.Bytes(dtype, {}), dice.Scales(1, 0.02f), dice.Bytes(dtype, {})};
    for (const size_t i : {1, 2, 4, 5, 6, 7}) in[i] = Constant(in[i]);
    if (dice.Coin()) in.resize(7);
    const IntegerBinary binary{dice.Coin() ? IntegerBinary::Op::kAdd : IntegerBinary::Op::kMul, dice.Bounds()};
    const auto is = RunKernel(avx2::MakeIntegerBinary, binary, in, dtype, dim);
    ASSERT_TRUE(is.made);
    Compare(is.out, RunKernel(ref::MakeIntegerBinary, binary, in, dtype, dim).out, off);
  }
  EXPECT_LE(off.most, 1);
  EXPECT_LE(off.count, off.of / 500);
}

TEST(Integers, SumsBroadcast) {
  const Tensor a = Of<uint8_t>(WF_U8, {2, 2}, {1, 2, 3, 4}), b = Of<uint8_t>(WF_U8, {2}, {10, 20}), one = Floats({}, {1}),
               five = Of<uint8_t>(WF_U8, {}, {5});
  const auto is =
      RunKernel(nullptr, IntegerBinary{}, {a, one, Tensor{}, b, Floats({}, {2}), five, Floats({}, {0.5f}), five}, WF_U8, {2, 2});
  EXPECT_EQ(is.out.As<uint8_t>(), (std::vector<uint8_t>{27, 69, 31, 73}));
}

TEST(Integers, QuantisingAgreesWithRefInEachFormat) {
  if (!avx2::Available()) return;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const uint8_t dtype = dice.Byte();
    const std::vector<int64_t> dim = {2, 8, 1 + dice.Below(5), 3};
    Tensor x = testing::Random(dim, seed);
    reinterpret_cast<float*>(x.data.get())[1] = testing::kNan;
    reinterpret_cast<float*>(x.data.get())[2] = -testing::kInf;
    const std::vector<Tensor> in = {x, dice.Scales(1, 0.01f), dice.Bytes(dtype, {})}, back = {dice.Bytes(dtype, dim), in[1], in[2]};
    const auto want = RunKernel(ref::MakeQuantise, Quantise{}, in, dtype, dim),
               is = RunKernel(avx2::MakeQuantise, Quantise{}, in, dtype, dim);
    EXPECT_EQ(is.out.As<uint8_t>(), want.out.As<uint8_t>());
    const auto wide = RunKernel(avx2::MakeDequantise, Dequantise{}, back, WF_F32, dim);
    EXPECT_EQ(wide.out.As<float>(), RunKernel(ref::MakeDequantise, Dequantise{}, back, WF_F32, dim).out.As<float>());
    if (!onednn::Available()) continue;
    const onednn::Layout last{onednn::Order::kChannelsLast};
    const auto moved = RunKernel(avx2::MakeQuantise, Quantise{}, {testing::Formatted(x, last.Format(dim)), in[1], in[2]}, dtype, dim);
    EXPECT_EQ(moved.out.As<uint8_t>(), want.out.As<uint8_t>());
  }
}

TEST(Integers, TheLargestOfBytesInAFormat) {
  if (!onednn::Available()) return;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(seed);
    const uint8_t dtype = dice.Byte();
    const Pool pool{false, false, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}};
    const Tensor x = dice.Bytes(dtype, {1, 1 + dice.Below(40), 9, 9});
    const std::vector<int64_t> out = {1, x.info.dim[1], 5, 5};
    const auto is = RunKernel(onednn::MakePool, pool, {x}, dtype, out), want = RunKernel(ref::MakePool, pool, {x}, dtype, out);
    ASSERT_TRUE(is.made);
    EXPECT_EQ(is.out.As<uint8_t>(), want.out.As<uint8_t>());
    const TensorInfo as_f32{WF_F32, x.info.dim, onednn::Layout{onednn::Order::kChannelsLast}.Format(x.info.dim), nullptr};
    const auto last = RunKernel(onednn::MakePool, pool, {testing::Formatted(x, onednn::FormatFor(as_f32, dtype))}, dtype, out);
    ASSERT_TRUE(last.made);
    EXPECT_EQ(last.out.As<uint8_t>(), want.out.As<uint8_t>());
  }
}

}  // namespace
}  // namespace wf::kernels
