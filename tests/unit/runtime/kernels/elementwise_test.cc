// Functions of one, two and many tensors, over the types that they take.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/kernels/half.h"
#include "runtime/kernels/ref.h"
#include "runtime/kernels/unary/vector.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels::elementwise {
namespace {

using testing::Floats;
using testing::Of;
using testing::RunKernel;
using testing::Tensor;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
using F = std::vector<float>;

template <typename T>
Tensor RowOf(const std::vector<T>& values) {
  return Of<T>(ref::kDTypeOf<T>, {static_cast<int64_t>(values.size())}, values);
}

template <typename T, typename Out = T>
std::vector<Out> Computed(const Params& params, const std::vector<Tensor>& in, uint8_t out = ref::kDTypeOf<T>) {
  const auto outcome = RunKernel(nullptr, params, in, out, in[0].info.dim);
  WF_CHECK(outcome.made && outcome.failure == nullptr);
  return outcome.out.template As<Out>();
}

struct Sample {
  Unary unary;
  F in, out;
};

// Expected: ONNX's own formulas, computed by numpy.
TEST(Elementwise, FunctionsOfFloats) {
  const float root = std::sqrt(0.5f);
  const std::vector<Sample> samples = {
      {{UnaryOp::kAcos}, {1, root}, {0, 0.7853982f}},
      {{UnaryOp::kAcosh}, {1, 10}, {0, 2.9932228f}},
      {{UnaryOp::kAsin}, {0, root}, {0, 0.7853982f}},
      {{UnaryOp::kAsinh}, {0, -1}, {0, -0.8813736f}},
      {{UnaryOp::kAtan}, {0, kInf}, {0, 1.5707963f}},
      {{UnaryOp::kAtanh}, {0, 0.5}, {0, 0.54930615f}},
      {{UnaryOp::kCeil}, {-1.5, 1.2f}, {-1, 2}},
      {{UnaryOp::kCelu, 2}, {-1, 3}, {-0.7869387f, 3}},
      {{UnaryOp::kCos}, {0, 1}, {1, 0.5403023f}},
      {{UnaryOp::kCosh}, {0, -1}, {1, 1.5430806f}},
      {{UnaryOp::kElu, 2}, {-1, 3}, {-1.2642411f, 3}},
      {{UnaryOp::kFloor}, {-1.5, 1.7f}, {-2, 1}},
      {{UnaryOp::kGelu}, {-1, 0, 2}, {-0.15865526f, 0, 1.9544997f}},
      {{UnaryOp::kGeluTanh}, {-1, 0, 2}, {-0.15880801f, 0, 1.9545977f}},
      {{UnaryOp::kHardSigmoid, 0.2f, 0.5f}, {-9, 0, 1, 9}, {0, 0.5f, 0.7f, 1}},
      {{UnaryOp::kHardSwish}, {-4, -1, 3, 6}, {0, -0.33333334f, 3, 6}},
      {{UnaryOp::kMish}, {-1, 0, 60}, {-0.30340147f, 0, 60}},
      {{UnaryOp::kRound}, {0.5f, 1.5f, 2.5f, -0.5f, -2.5f, 1.4f}, {0, 2, 2, 0, -2, 1}},
      {{UnaryOp::kSelu, 1.6732632f, 1.050701f}, {-1, 2}, {-1.1113307f, 2.101402f}},
      {{UnaryOp::kShrink, 1.5f, 0.5f}, {-2, -1, 1, 2, kNan}, {-1.5f, 0, 0, 1.5f, 0}},
      {{UnaryOp::kSign}, {-3, 0, 5}, {-1, 0, 1}},
      {{UnaryOp::kSin}, {0, 1}, {0, 0.84147096f}},
      {{UnaryOp::kSinh}, {0, 1}, {0, 1.1752012f}},
      {{UnaryOp::kSoftplus}, {0, -200, 200}, {0.6931472f, 0, 200}},
      {{UnaryOp::kSoftsign}, {-1, 3}, {-0.5f, 0.75f}},
      {{UnaryOp::kSwish, 2}, {-1, 0, 1}, {-0.11920292f, 0, 0.880797f}},
      {{UnaryOp::kTan}, {0, 1}, {0, 1.5574077f}},
      {{UnaryOp::kThresholdedRelu, 1}, {0.5f, 1, 1.5f, kNan}, {0, 0, 1.5f, 0}},
  };
  for (const Sample& each : samples) {
    SCOPED_TRACE(static_cast<int>(each.unary.op));
    const F got = Computed<float>(each.unary, {RowOf(each.in)});
    const auto wide = Computed<double>(each.unary, {RowOf(std::vector<double>(each.in.begin(), each.in.end()))});
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], each.out[i], 2e-6 * (1 + std::abs(each.out[i])));
      EXPECT_NEAR(wide[i], static_cast<double>(each.out[i]), 1e-6 * (1 + std::abs(wide[i])));
    }
  }
}

TEST(Elementwise, NanStaysNan) {
  for (const UnaryOp op : {UnaryOp::kCelu, UnaryOp::kElu, UnaryOp::kGelu, UnaryOp::kHardSigmoid, UnaryOp::kHardSwish, UnaryOp::kMish,
                           UnaryOp::kRound, UnaryOp::kSelu, UnaryOp::kSign, UnaryOp::kSoftplus, UnaryOp::kSoftsign}) {
    EXPECT_TRUE(std::isnan(Computed<float>(Unary{op, 1, 1}, {RowOf(F{kNan})})[0])) << static_cast<int>(op);
  }
  for (const BinaryOp op : {BinaryOp::kMax, BinaryOp::kMin, BinaryOp::kPRelu, BinaryOp::kMod}) {
    EXPECT_TRUE(std::isnan(Computed<float>(Binary{op}, {RowOf(F{kNan}), RowOf(F{1})})[0])) << static_cast<int>(op);
  }
  for (const BinaryOp op : {BinaryOp::kMax, BinaryOp::kMin})
    EXPECT_TRUE(std::isnan(Computed<float>(Binary{op}, {RowOf(F{1}), RowOf(F{kNan})})[0]));
}

// Vectors against plain code: numbers of all sizes, ends of branches and of the type, and counts that are no whole vectors.
TEST(Elementwise, VectorsGiveWhatPlainCodeGives) {
  if (!avx2::Available()) return;
  const float least = std::numeric_limits<float>::denorm_min(), most = std::numeric_limits<float>::max();
  F x = {0, -0.0f, least, -least, most, -most, kInf, -kInf, kNan, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 1, -1, 8388609, 0.4142135f, 2.4142137f};
  for (int i = 0; i < 4000; ++i) x.push_back(std::ldexp(static_cast<float>(i % 2 == 0 ? i : -i) / 4000, i % 7));
  for (float at = -5; at < 5; at += 0.0123f) x.push_back(at);
  const std::vector<UnaryOp> exact = {UnaryOp::kAbs,        UnaryOp::kCeil,  UnaryOp::kFloor, UnaryOp::kNeg,
                                      UnaryOp::kReciprocal, UnaryOp::kRound, UnaryOp::kSign,  UnaryOp::kSqrt};
  const std::vector<UnaryOp> close = {UnaryOp::kAsin, UnaryOp::kAtan, UnaryOp::kErf};
  for (const bool is_exact : {true, false}) {
    for (const UnaryOp op : is_exact ? exact : close) {
      for (const size_t count : {x.size(), size_t{0}, size_t{1}, size_t{7}, size_t{9}, size_t{19}}) {
        SCOPED_TRACE(std::to_string(static_cast<int>(op)) + " of " + std::to_string(count));
        const Tensor in = RowOf(F(x.begin(), x.begin() + static_cast<ptrdiff_t>(count)));
        const auto got = RunKernel(avx2::MakeUnary, Unary{op}, {in}, WF_F32, in.info.dim);
        ASSERT_TRUE(got.made);
        const F is = got.out.As<float>(), want = RunKernel(ref::MakeUnary, Unary{op}, {in}, WF_F32, in.info.dim).out.As<float>();
        for (size_t i = 0; i < count; ++i) {
          ASSERT_EQ(std::isnan(is[i]), std::isnan(want[i])) << x[i];
          if (std::isnan(want[i])) continue;
          ASSERT_EQ(std::signbit(is[i]), std::signbit(want[i])) << x[i];
          const bool same = is[i] == want[i] || (!is_exact && std::abs(is[i] - want[i]) <= 4e-7f * std::abs(want[i]));
          ASSERT_TRUE(same) << x[i] << ": " << is[i] << " is not " << want[i];
        }
      }
    }
  }
}

TEST(Elementwise, FunctionsOfIntegers) {
  EXPECT_EQ((Computed<int8_t>(Unary{UnaryOp::kSign}, {RowOf<int8_t>({-128, 0, 5})})), (std::vector<int8_t>{-1, 0, 1}));
  EXPECT_EQ((Computed<uint64_t>(Unary{UnaryOp::kSign}, {RowOf<uint64_t>({UINT64_MAX, 0})})), (std::vector<uint64_t>{1, 0}));
  EXPECT_EQ((Computed<uint16_t>(Unary{UnaryOp::kBitNot}, {RowOf<uint16_t>({0, 0xf0f0})})), (std::vector<uint16_t>{0xffff, 0x0f0f}));
  EXPECT_EQ((Computed<int32_t>(Unary{UnaryOp::kShrink, 1.5f, 1}, {RowOf<int32_t>({-3, 1, INT32_MAX})})),
            (std::vector<int32_t>{-2, 0, INT32_MAX - 1}));
  EXPECT_EQ((Computed<int64_t>(Unary{UnaryOp::kErf}, {RowOf<int64_t>({-7, 0, 1, 7})})), (std::vector<int64_t>{-1, 0, 0, 1}));
  EXPECT_EQ((Computed<int8_t>(Unary{UnaryOp::kAbs}, {RowOf<int8_t>({-128, -3})})), (std::vector<int8_t>{-128, 3}));
}

TEST(Elementwise, TestsGiveBools) {
  const F x = {kNan, kInf, -kInf, 1};
  using B = std::vector<uint8_t>;
  EXPECT_EQ((Computed<float, uint8_t>(Unary{UnaryOp::kIsNan}, {RowOf(x)}, WF_BOOL)), (B{1, 0, 0, 0}));
  EXPECT_EQ((Computed<float, uint8_t>(Unary{UnaryOp::kIsInf, 1, 1}, {RowOf(x)}, WF_BOOL)), (B{0, 1, 1, 0}));
  EXPECT_EQ((Computed<float, uint8_t>(Unary{UnaryOp::kIsInf, 1, 0}, {RowOf(x)}, WF_BOOL)), (B{0, 0, 1, 0}));
  EXPECT_EQ((Computed<float, uint8_t>(Unary{UnaryOp::kIsInf, 0, 1}, {RowOf(x)}, WF_BOOL)), (B{0, 1, 0, 0}));
  EXPECT_EQ((Computed<bool, uint8_t>(Unary{UnaryOp::kNot}, {Of<uint8_t>(WF_BOOL, {2}, {1, 0})})), (B{0, 1}));
  const Tensor half = Of<uint16_t>(WF_F16, {3}, {0x7e00, 0x7c00, 0x3c00});
  EXPECT_EQ((Computed<float, uint8_t>(Unary{UnaryOp::kIsNan}, {half}, WF_BOOL)), (B{1, 0, 0}));
  EXPECT_EQ((Computed<float, uint8_t>(Binary{BinaryOp::kLess}, {RowOf(F{1, 2, kNan}), RowOf(F{2, 2, 2})}, WF_BOOL)), (B{1, 0, 0}));
  EXPECT_EQ((Computed<float, uint8_t>(Binary{BinaryOp::kLessEqual}, {RowOf(F{1, 2, kNan}), RowOf(F{2, 2, 2})}, WF_BOOL)), (B{1, 1, 0}));
  EXPECT_EQ((Computed<uint64_t, uint8_t>(Binary{BinaryOp::kGreater}, {RowOf<uint64_t>({UINT64_MAX, 1}), RowOf<uint64_t>({1, 1})}, WF_BOOL)),
            (B{1, 0}));
  EXPECT_EQ((Computed<int8_t, uint8_t>(Binary{BinaryOp::kGreaterEqual}, {RowOf<int8_t>({-1, 1}), RowOf<int8_t>({1, 1})}, WF_BOOL)),
            (B{0, 1}));
  const Tensor flags = Of<uint8_t>(WF_BOOL, {2}, {1, 0}), yes = Of<uint8_t>(WF_BOOL, {2}, {1, 1});
  EXPECT_EQ((Computed<bool, uint8_t>(Binary{BinaryOp::kEqual}, {flags, yes})), (B{1, 0}));
  EXPECT_EQ((Computed<bool, uint8_t>(Binary{BinaryOp::kBitXor}, {flags, yes})), (B{0, 1}));
}

TEST(Elementwise, RemaindersHaveTheSignOfOneSide) {
  const std::vector<int8_t> a = {7, -7, 7, -7, -128, 5}, b = {3, 3, -3, -3, -1, 0};
  EXPECT_EQ((Computed<int8_t>(Binary{BinaryOp::kMod}, {RowOf(a), RowOf(b)})), (std::vector<int8_t>{1, 2, -2, -1, 0, 0}));
  EXPECT_EQ((Computed<int8_t>(Binary{BinaryOp::kFmod}, {RowOf(a), RowOf(b)})), (std::vector<int8_t>{1, -1, 1, -1, 0, 0}));
  EXPECT_EQ(Computed<float>(Binary{BinaryOp::kMod}, {RowOf(F{-1.5f, 1.5f}), RowOf(F{1, -1})}), (F{0.5f, -0.5f}));
  EXPECT_EQ(Computed<float>(Binary{BinaryOp::kFmod}, {RowOf(F{-1.5f, 1.5f}), RowOf(F{1, -1})}), (F{-0.5f, 0.5f}));
}

TEST(Elementwise, ShiftsByAllBitsLeaveNothing) {
  using U = std::vector<uint8_t>;
  EXPECT_EQ((Computed<uint8_t>(Binary{BinaryOp::kShiftLeft}, {RowOf<uint8_t>({3, 3, 3}), RowOf<uint8_t>({1, 8, 255})})), (U{6, 0, 0}));
  EXPECT_EQ((Computed<uint8_t>(Binary{BinaryOp::kShiftRight}, {RowOf<uint8_t>({128, 3, 3}), RowOf<uint8_t>({7, 8, 255})})), (U{1, 0, 0}));
  EXPECT_EQ((Computed<uint64_t>(Binary{BinaryOp::kShiftLeft}, {RowOf<uint64_t>({1, 1}), RowOf<uint64_t>({63, 64})})),
            (std::vector<uint64_t>{uint64_t{1} << 63, 0}));
  EXPECT_EQ((Computed<int16_t>(Binary{BinaryOp::kBitOr}, {RowOf<int16_t>({-256}), RowOf<int16_t>({15})})), (std::vector<int16_t>{-241}));
}

TEST(Elementwise, SeveralTensorsBroadcastTogether) {
  const std::vector<Tensor> in = {Floats({2, 1}, {1, 4}), Floats({3}, {1, 2, 9}), Floats({}, {3})};
  const auto run = [&](Variadic::Op op) { return RunKernel(nullptr, Variadic{op}, in, WF_F32, {2, 3}).out.As<float>(); };
  EXPECT_EQ(run(Variadic::Op::kSum), (F{5, 6, 13, 8, 9, 16}));
  EXPECT_EQ(run(Variadic::Op::kMax), (F{3, 3, 9, 4, 4, 9}));
  EXPECT_EQ(run(Variadic::Op::kMin), (F{1, 1, 1, 1, 2, 3}));
  EXPECT_EQ(run(Variadic::Op::kMean), (F{5 / 3.0f, 2, 13 / 3.0f, 8 / 3.0f, 3, 16 / 3.0f}));
  const std::vector<Tensor> bytes = {RowOf<uint8_t>({200}), RowOf<uint8_t>({100}), RowOf<uint8_t>({7})};
  EXPECT_EQ((Computed<uint8_t>(Variadic{Variadic::Op::kMax}, bytes)), (std::vector<uint8_t>{200}));
}

TEST(Elementwise, PowersTakeEveryExponent) {
  EXPECT_EQ(Computed<float>(Binary{BinaryOp::kPow}, {RowOf(F{2, 3}), RowOf<uint8_t>({3, 2})}), (F{8, 9}));
  EXPECT_EQ((Computed<int32_t>(Binary{BinaryOp::kPow}, {RowOf<int32_t>({-2}), RowOf<int8_t>({3})})), (std::vector<int32_t>{-8}));
  const Tensor half = Of<uint16_t>(WF_F16, {1}, {0x4000});  // 2
  EXPECT_EQ(Computed<float>(Binary{BinaryOp::kPow}, {RowOf(F{3}), half}), F{9});
}

}  // namespace
}  // namespace wf::kernels::elementwise
