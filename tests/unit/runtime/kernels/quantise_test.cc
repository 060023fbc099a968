// Kernels on integers that stand for other numbers.
#include <gtest/gtest.h>

#include <limits>

#include "runtime/kernels/ref.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels::quantised {
namespace {

using testing::Floats;
using testing::Of;
using testing::RunKernel;
using testing::Tensor;

using U = std::vector<uint8_t>;
using S = std::vector<int8_t>;
using L = std::vector<int32_t>;

Tensor Bytes(std::vector<int64_t> dim, const U& values) { return Of<uint8_t>(WF_U8, std::move(dim), values); }
Tensor Signed(std::vector<int64_t> dim, const S& values) { return Of<int8_t>(WF_I8, std::move(dim), values); }
const Tensor kAbsent{};

template <typename T>
std::vector<T> Computed(const Params& params, const std::vector<Tensor>& in, std::vector<int64_t> dim) {
  const auto outcome = RunKernel(nullptr, params, in, ref::kDTypeOf<T>, std::move(dim));
  WF_CHECK(outcome.made && outcome.failure == nullptr);
  return outcome.out.template As<T>();
}

TEST(Quantise, HalvesGoToEvenAndTheRestSaturates) {
  constexpr float kNothing = std::numeric_limits<float>::quiet_NaN(), kEndless = std::numeric_limits<float>::infinity();
  const Tensor x = Floats({8}, {1, 3, 5, -1, 1e9f, -kEndless, kEndless, kNothing}), two = Floats({}, {2});
  EXPECT_EQ(Computed<uint8_t>(Quantise{}, {x, two, Bytes({}, {128})}, {8}), (U{128, 130, 130, 128, 255, 0, 255, 128}));
  EXPECT_EQ(Computed<int8_t>(Quantise{}, {x, two}, {8}), (S{0, 2, 2, 0, 127, -128, 127, 0}));
  EXPECT_EQ(Computed<uint16_t>(Quantise{}, {x, two}, {8}), (std::vector<uint16_t>{0, 2, 2, 0, 65535, 0, 65535, 0}));
  EXPECT_EQ(Computed<uint8_t>(Quantise{}, {Of<int32_t>(WF_I32, {2}, {INT32_MAX, 7}), two}, {2}), (U{255, 4}));
}

TEST(Quantise, ScalesGoAlongAnAxisOrInBlocks) {
  const Tensor x = Floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(Computed<uint8_t>(Quantise{{1, 0}}, {x, Floats({2}, {1, 0.5f}), Bytes({2}, {0, 100})}, {2, 2, 2}),
            (U{1, 2, 106, 108, 5, 6, 114, 116}));
  EXPECT_EQ(Computed<uint8_t>(Quantise{{2, 0}}, {x, Floats({2}, {1, 0.5f})}, {2, 2, 2}), (U{1, 4, 3, 8, 5, 12, 7, 16}));
  const Tensor row = Bytes({1, 5}, {1, 2, 3, 4, 5});
  EXPECT_EQ(Computed<float>(Dequantise{{1, 2}}, {row, Floats({1, 3}, {1, 10, 100}), Bytes({1, 3}, {0, 1, 2})}, {1, 5}),
            (std::vector<float>{1, 2, 20, 30, 300}));
  const Tensor column = Bytes({3, 2}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(Computed<float>(Dequantise{{0, 2}}, {column, Floats({2, 2}, {1, 10, 100, 1000})}, {3, 2}),
            (std::vector<float>{1, 20, 3, 40, 500, 6000}));
  EXPECT_EQ(Computed<float>(Dequantise{}, {Of<int32_t>(WF_I32, {2}, {INT32_MIN, 3}), Floats({}, {2})}, {2}),
            (std::vector<float>{-0x1p32f, 6}));
}

TEST(Quantise, OtherFormatsAreRoundedToInTheirHolder) {
  const Tensor x = Floats({4}, {1, -900, 37, 900}), two = Floats({}, {2});
  EXPECT_EQ(Computed<int8_t>(Quantise{{}, base::Narrow::kI4}, {x, two, Signed({}, {1})}, {4}), (S{1, -8, 7, 7}));
  EXPECT_EQ(Computed<uint8_t>(Quantise{{}, base::Narrow::kU4}, {x, two}, {4}), (U{0, 0, 15, 15}));
  const auto stored = RunKernel(nullptr, Quantise{{}, base::Narrow::kE4M3FN}, {x, two}, WF_F16, {4});
  EXPECT_EQ(stored.out.As<uint16_t>(), (std::vector<uint16_t>{0x3800, 0xdf00, 0x4c80, 0x5f00}));  // 0.5, -448, 18, 448
  const auto open = RunKernel(nullptr, Quantise{{}, base::Narrow::kE5M2, false}, {Floats({2}, {1e6f, 3}), two}, WF_F16, {2});
  EXPECT_EQ(open.out.As<uint16_t>(), (std::vector<uint16_t>{0x7c00, 0x3e00}));  // infinity, 1.5
  EXPECT_EQ(Computed<float>(Dequantise{{0, 0}}, {Of<uint16_t>(WF_F16, {2}, {0x3e00, 0x4000}), Floats({2}, {2, 3})}, {2}),
            (std::vector<float>{3, 6}));
}

TEST(Quantise, SixteenBitFloatsTakePart) {
  const Tensor scale = Of<uint16_t>(WF_F16, {}, {0x3800});  // 0.5
  const auto half = RunKernel(nullptr, Dequantise{}, {Bytes({2}, {3, 5}), scale, Bytes({}, {1})}, WF_F16, {2});
  EXPECT_EQ(half.out.As<uint16_t>(), (std::vector<uint16_t>{0x3c00, 0x4000}));  // 1, 2
  EXPECT_EQ(Computed<uint8_t>(Quantise{}, {Of<uint16_t>(WF_F16, {2}, {0x3c00, 0x4000}), scale}, {2}), (U{2, 4}));
}

TEST(Quantise, DynamicRangesHoldZero) {
  const auto run = [](const std::vector<float>& values, float& scale, uint8_t& zero) {
    const auto n = static_cast<int64_t>(values.size());
    const Tensor x = Floats({n}, values);
    const Operation operation{
        DynamicQuantise{}, {x.info}, {{WF_U8, {n}, nullptr, nullptr}, {WF_F32, {}, nullptr, nullptr}, {WF_U8, {}, nullptr, nullptr}}};
    auto kernel = MakeKernel(operation);
    WF_CHECK(kernel.ok());
    U y(values.size());
    WF_CHECK((*(*kernel)->Bind({{x.data.get()}, {y.data(), &scale, &zero}, nullptr}))->Run() == nullptr);
    return y;
  };
  float scale = 0;
  uint8_t zero = 0;
  EXPECT_EQ(run({0, 2, -3, -2.5f, 1.34f, 0.5f}, scale, zero), (U{153, 255, 0, 26, 221, 179}));
  EXPECT_FLOAT_EQ(scale, 0.019607844f);
  EXPECT_EQ(zero, 153);
  EXPECT_EQ(run({-1, -2.1f, -1.3f, -2.5f}, scale, zero), (U{153, 41, 122, 0}));
  EXPECT_EQ(zero, 255);
  EXPECT_EQ(run({0, 0}, scale, zero), (U{0, 0}));
  EXPECT_EQ(scale, 1);
  EXPECT_EQ(run({}, scale, zero), U{});
}

TEST(IntegerMatMul, TakesZeroPointsOff) {
  const Tensor a = Bytes({2, 3}, {11, 7, 3, 10, 6, 2}), b = Bytes({3, 2}, {1, 4, 2, 5, 3, 6});
  EXPECT_EQ(Computed<int32_t>(IntegerMatMul{}, {a, kAbsent, Bytes({}, {12}), b, kAbsent, Bytes({}, {0})}, {2, 2}), (L{-38, -83, -44, -98}));
  EXPECT_EQ(Computed<int32_t>(IntegerMatMul{}, {a, kAbsent, Bytes({2}, {12, 0}), b, kAbsent, Bytes({2}, {0, 1})}, {2, 2}),
            (L{-1 - 10 - 27, -3 - 20 - 45, 10 + 12 + 6, 30 + 24 + 10}));
  const Tensor left = Signed({2, 1, 2}, {1, -2, 3, -4}), right = Signed({2, 2}, {-1, 5, 7, -128});
  EXPECT_EQ(Computed<int32_t>(IntegerMatMul{}, {left, kAbsent, kAbsent, right}, {2, 1, 2}), (L{-15, 261, -31, 527}));
  EXPECT_EQ(Computed<int32_t>(IntegerMatMul{}, {left, kAbsent, Signed({2, 1, 1}, {0, 3}), right}, {2, 1, 2}), (L{-15, 261, -49, 896}));
  EXPECT_EQ(Computed<int32_t>(IntegerMatMul{}, {Signed({2}, {1, 2}), kAbsent, kAbsent, Signed({2}, {3, 4})}, {}), (L{11}));
}

TEST(IntegerMatMul, ScalesBackTo8Bits) {
  const Tensor a = Bytes({2, 4}, {208, 236, 0, 238, 3, 214, 255, 29}),
               b = Bytes({4, 3}, {152, 51, 244, 60, 26, 255, 0, 127, 246, 127, 254, 247});
  const std::vector<Tensor> in = {a,
                                  Floats({1}, {0.0066f}),
                                  Bytes({1}, {113}),
                                  b,
                                  Floats({1}, {0.00705f}),
                                  Bytes({1}, {114}),
                                  Floats({1}, {0.0107f}),
                                  Bytes({1}, {118})};
  EXPECT_EQ(Computed<uint8_t>(IntegerMatMul{}, in, {2, 3}), (U{168, 115, 255, 1, 66, 151}));
}

TEST(IntegerConv, PaddingAddsNothing) {
  const Tensor x = Bytes({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 10}), w = Bytes({1, 1, 2, 2}, {1, 1, 1, 1});
  EXPECT_EQ(Computed<int32_t>(IntegerConv{{1, 1}, {1, 1}, {0, 0}, 1}, {x, kAbsent, Bytes({}, {1}), w}, {1, 1, 2, 2}), (L{12, 16, 24, 28}));
  EXPECT_EQ(Computed<int32_t>(IntegerConv{{1, 1}, {1, 1}, {1, 1}, 1}, {x, kAbsent, Bytes({}, {1}), w}, {1, 1, 4, 4}),
            (L{1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9}));
  const Tensor filters = Signed({2, 1, 1}, {3, 3}), row = Signed({1, 2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(Computed<int32_t>(IntegerConv{{1}, {1}, {0}, 2}, {row, kAbsent, kAbsent, filters, kAbsent, Signed({2}, {1, 2})}, {1, 2, 2}),
            (L{2, 4, 3, 4}));
}

TEST(IntegerConv, ScalesOfFiltersAndABias) {
  const Tensor x = Bytes({1, 1, 2}, {10, 20}), w = Signed({2, 1, 1}, {1, -2});
  const std::vector<Tensor> in = {x,
                                  Floats({}, {0.5f}),
                                  Bytes({}, {4}),
                                  w,
                                  Floats({2}, {1, 0.25f}),
                                  Signed({}, {0}),
                                  Floats({}, {0.5f}),
                                  Bytes({}, {10}),
                                  Of<int32_t>(WF_I32, {2}, {3, -5})};
  EXPECT_EQ(Computed<uint8_t>(IntegerConv{{1}, {1}, {0}, 1}, in, {1, 2, 2}), (U{19, 29, 6, 1}));
}

}  // namespace
}  // namespace wf::kernels::quantised
