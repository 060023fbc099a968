// `ref` against numbers worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/ref.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels {
namespace {

using testing::Floats;
using testing::kInf;
using testing::kNan;
using testing::Longs;
using testing::Of;
using testing::RunFloats;
using testing::RunKernel;
using testing::Tensor;

using F = std::vector<float>;
using I = std::vector<int64_t>;

TEST(Ref, ConvSumsWindowsAndChannels) {
  const Conv conv{{1, 1}, {1, 1}, {0, 0}, 1, {UnaryOp::kIdentity}};
  const Tensor x = Floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}), w = Floats({1, 1, 2, 2}, {1, 0, 0, 2});
  EXPECT_EQ(RunFloats(ref::MakeConv, conv, {x, w}, {1, 1, 2, 2}), (F{11, 14, 20, 23}));
  const Conv padded{{2, 2}, {1, 1}, {1, 1}, 1, {UnaryOp::kRelu}};
  EXPECT_EQ(RunFloats(ref::MakeConv, padded, {x, w, Floats({1}, {-6})}, {1, 1, 2, 2}), (F{0, 0, 8, 17}));
  const Conv grouped{{1}, {1}, {0}, 2, {UnaryOp::kIdentity}};
  EXPECT_EQ(RunFloats(ref::MakeConv, grouped, {Floats({1, 2, 2}, {1, 2, 3, 4}), Floats({2, 1, 1}, {10, 100})}, {1, 2, 2}),
            (F{10, 20, 300, 400}));
}

TEST(Ref, MatMulTakesTurnsAndBroadcasts) {
  const Tensor a = Floats({2, 3}, {1, 2, 3, 4, 5, 6}), b = Floats({3, 2}, {1, 0, 0, 1, 2, 2});
  EXPECT_EQ(RunFloats(ref::MakeMatMul, MatMul{}, {a, b}, {2, 2}), (F{7, 8, 16, 17}));
  EXPECT_EQ(RunFloats(ref::MakeMatMul, MatMul{true, true}, {a, Floats({2, 2}, {1, 0, 1, 1})}, {3, 2}), (F{1, 5, 2, 7, 3, 9}));
  EXPECT_EQ(RunFloats(ref::MakeMatMul, MatMul{false, false, 2, 10}, {a, b, Floats({2}, {1, -1})}, {2, 2}), (F{24, 6, 42, 24}));
  EXPECT_EQ(RunFloats(ref::MakeMatMul, MatMul{}, {Floats({2, 1, 2}, {1, 2, 3, 4}), Floats({2, 1}, {1, 10})}, {2, 1, 1}), (F{21, 43}));
}

TEST(Ref, TheLargestOfNothingButInfinitiesIsOne) {
  const float low = -std::numeric_limits<float>::infinity(), least = std::numeric_limits<float>::lowest();
  const Tensor x = Floats({1, 1, 6}, {low, low, least, low, 1, low});
  const Pool pool{false, false, {2}, {2}, {1}, {0}, {0}};
  EXPECT_EQ(RunFloats(ref::MakePool, pool, {x}, {1, 1, 3}), (F{low, least, 1}));
  EXPECT_EQ(RunFloats(onednn::MakePool, pool, {x}, {1, 1, 3}), (F{low, least, 1}));
  const Pool beyond{false, false, {1}, {2}, {1}, {1}, {0}};  // windows of padding alone
  EXPECT_EQ(RunFloats(ref::MakePool, beyond, {Floats({1, 1, 2}, {1, 2})}, {1, 1, 2})[0], low);
}

TEST(Ref, PoolsIgnoreOrCountPadding) {
  const Tensor x = Floats({1, 1, 4}, {1, -2, 3, 5});
  Pool pool{false, false, {2}, {2}, {1}, {1}, {1}};
  EXPECT_EQ(RunFloats(ref::MakePool, pool, {x}, {1, 1, 3}), (F{1, 3, 5}));
  pool.mean = true;
  EXPECT_EQ(RunFloats(ref::MakePool, pool, {x}, {1, 1, 3}), (F{1, 0.5, 5}));
  pool.count_padding = true;
  EXPECT_EQ(RunFloats(ref::MakePool, pool, {x}, {1, 1, 3}), (F{0.5, 0.5, 2.5}));
  pool.mean = false;
  EXPECT_TRUE(std::isnan(RunFloats(ref::MakePool, pool, {Floats({1, 1, 4}, {kNan, 1, 2, 3})}, {1, 1, 3})[0]));
}

TEST(Ref, UnaryFunctions) {
  const auto apply = [](Unary unary, const F& values) {
    return RunFloats(ref::MakeUnary, unary, {Floats({static_cast<int64_t>(values.size())}, values)}, {static_cast<int64_t>(values.size())});
  };
  EXPECT_EQ(apply({UnaryOp::kRelu}, {-1, 0, 2}), (F{0, 0, 2}));
  EXPECT_TRUE(std::isnan(apply({UnaryOp::kRelu}, {kNan})[0]));
  EXPECT_EQ(apply({UnaryOp::kClip, -1, 1}, {-3, 0.5, 9}), (F{-1, 0.5, 1}));
  EXPECT_EQ(apply({UnaryOp::kLeakyRelu, 0.5}, {-4, 4}), (F{-2, 4}));
  EXPECT_EQ(apply({UnaryOp::kSigmoid}, {0, -1000, 1000}), (F{0.5, 0, 1}));
  EXPECT_NEAR(apply({UnaryOp::kErf}, {0.5})[0], 0.5204999f, 1e-6);
  EXPECT_EQ(apply({UnaryOp::kSqrt}, {9})[0], 3);
  const auto negated = RunKernel(ref::MakeUnary, Unary{UnaryOp::kNeg}, {Longs({2}, {5, INT64_MIN})}, WF_I64, {2});
  EXPECT_EQ(negated.out.As<int64_t>(), (I{-5, INT64_MIN}));
}

TEST(Ref, BinaryBroadcastsAndWraps) {
  const Tensor a = Floats({2, 1}, {1, 2}), b = Floats({3}, {10, 20, 30});
  EXPECT_EQ(RunFloats(ref::MakeBinary, Binary{BinaryOp::kAdd}, {a, b}, {2, 3}), (F{11, 21, 31, 12, 22, 32}));
  EXPECT_EQ(RunFloats(ref::MakeBinary, Binary{BinaryOp::kPow}, {Floats({2}, {3, 4}), Floats({1}, {2})}, {2}), (F{9, 16}));
  const auto divided =
      RunKernel(ref::MakeBinary, Binary{BinaryOp::kDiv}, {Longs({4}, {7, -7, 5, INT64_MIN}), Longs({4}, {2, 2, 0, -1})}, WF_I64, {4});
  EXPECT_EQ(divided.out.As<int64_t>(), (I{3, -3, 0, INT64_MIN}));
  const auto sum = RunKernel(ref::MakeBinary, Binary{BinaryOp::kAdd}, {Longs({1}, {INT64_MAX}), Longs({1}, {1})}, WF_I64, {1});
  EXPECT_EQ(sum.out.As<int64_t>()[0], INT64_MIN);
  EXPECT_EQ(RunFloats(ref::MakeBinary, Binary{BinaryOp::kAdd}, {Floats({0, 3}, {}), b}, {0, 3}), F{});
}

// Expected: numpy.power, by which ONNX's reference computes; of negative exponents, which it refuses, the quotient without its fraction.
TEST(Ref, PowersOfIntegersWrap) {
  const auto longs = [](const I& bases, int64_t exponent) {
    const auto size = static_cast<int64_t>(bases.size());
    return RunKernel(ref::MakeBinary, Binary{BinaryOp::kPow}, {Longs({size}, bases), Longs({1}, {exponent})}, WF_I64, {size})
        .out.As<int64_t>();
  };
  const I bases = {3, -2, 7, INT64_MIN, INT64_MAX, -1, 0, 10};
  EXPECT_EQ(longs(bases, 0), (I{1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(longs(bases, 1), bases);
  EXPECT_EQ(longs(bases, 3), (I{27, -8, 343, 0, INT64_MAX, -1, 0, 1000}));
  EXPECT_EQ(longs(bases, 63), (I{-3237885987332494933, INT64_MIN, 2898552624600762295, 0, INT64_MAX, -1, 0, INT64_MIN}));
  EXPECT_EQ(longs(bases, (INT64_C(1) << 62) + 1), (I{3, 0, 7, 0, INT64_MAX, -1, 0, 0}));
  EXPECT_EQ(longs({94906267}, 2), (I{9007199515875289})) << "more digits than a double has";
  EXPECT_EQ(longs({1, -1, 2, -2, 0, INT64_MIN, INT64_MAX}, -1), (I{1, -1, 0, 0, 0, 0, 0}));
  EXPECT_EQ(longs({1, -1, 2, 0}, -2), (I{1, 1, 0, 0}));
  EXPECT_EQ(longs({1, -1, 2, 0}, INT64_MIN), (I{1, 1, 0, 0}));

  const Tensor narrow = Of<int32_t>(WF_I32, {5}, {46341, INT32_MIN, INT32_MAX, 10, 0});
  const auto mixed = RunKernel(ref::MakeBinary, Binary{BinaryOp::kPow}, {narrow, Longs({1}, {2})}, WF_I32, {5});
  EXPECT_EQ(mixed.out.As<int32_t>(), (std::vector<int32_t>{-2147479015, 0, 1, 100, 0}));
}

TEST(Ref, PowersOfIntegersByFloatsSaturate) {
  const auto by = [](const I& bases, float exponent) {
    const auto size = static_cast<int64_t>(bases.size());
    return RunKernel(ref::MakeBinary, Binary{BinaryOp::kPow}, {Longs({size}, bases), Floats({1}, {exponent})}, WF_I64, {size})
        .out.As<int64_t>();
  };
  EXPECT_EQ(by({9, -3, 0, 2}, 2), (I{81, 9, 0, 4}));
  EXPECT_EQ(by({9, 2, -4}, 0.5F), (I{3, 1, 0}));  // 1.41.. is cut, NaN is 0
  EXPECT_EQ(by({10, -10, INT64_MIN, INT64_MAX}, 99), (I{INT64_MAX, INT64_MIN, INT64_MIN, INT64_MAX}));
  EXPECT_EQ(by({2, 0, 1, -1}, -1), (I{0, INT64_MAX, 1, -1}));  // 1/0 is infinite
  EXPECT_EQ(by({2, 1, 0}, kInf), (I{INT64_MAX, 1, 0}));
  EXPECT_EQ(by({2, 1}, kNan), (I{0, 1}));
  const Tensor narrow = Of<int32_t>(WF_I32, {2}, {INT32_MAX, INT32_MIN});
  const auto wide = RunKernel(ref::MakeBinary, Binary{BinaryOp::kPow}, {narrow, Of<double>(WF_F64, {1}, {3})}, WF_I32, {2});
  EXPECT_EQ(wide.out.As<int32_t>(), (std::vector<int32_t>{INT32_MAX, INT32_MIN}));
}

TEST(Ref, SoftmaxOfLargeNumbersIsFinite) {
  const F one = RunFloats(ref::MakeSoftmax, Softmax{0, 1, false}, {Floats({2}, {1000, 1000})}, {2});
  EXPECT_EQ(one, (F{0.5, 0.5}));
  const F log = RunFloats(ref::MakeSoftmax, Softmax{1, 2, true}, {Floats({1, 2}, {0, 0})}, {1, 2});
  EXPECT_NEAR(log[0], -std::log(2.0f), 1e-6);
  EXPECT_EQ(RunFloats(ref::MakeSoftmax, Softmax{0, 1, false}, {Floats({2, 2}, {0, 5, 0, 5})}, {2, 2}), (F{0.5, 0.5, 0.5, 0.5}));
}

TEST(Ref, Reductions) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(RunFloats(ref::MakeReduce, Reduce{{true, false}}, {x}, {3}), (F{5, 7, 9}));
  EXPECT_EQ(RunFloats(ref::MakeReduce, Reduce{{false, true}, ReduceOp::kMean}, {x}, {2, 1}), (F{2, 5}));
  EXPECT_EQ(RunFloats(ref::MakeReduce, Reduce{{true, true}}, {x}, {}), (F{21}));
  EXPECT_EQ(RunFloats(ref::MakeReduce, Reduce{{true}}, {Floats({0}, {})}, {1}), (F{0}));
}

TEST(Ref, CastsSaturateAndRound) {
  const auto ints = RunKernel(ref::MakeCast, Cast{}, {Floats({5}, {1.9f, -1.9f, 3e9f, -kInf, kNan})}, WF_I32, {5});
  EXPECT_EQ(ints.out.As<int32_t>(), (std::vector<int32_t>{1, -1, INT32_MAX, INT32_MIN, 0}));
  const auto half = RunKernel(ref::MakeCast, Cast{}, {Floats({6}, {1, 65504, 65520, 5.9604645e-8f, 1.0009766f, -2.5f})}, WF_F16, {6});
  EXPECT_EQ(half.out.As<uint16_t>(), (std::vector<uint16_t>{0x3c00, 0x7bff, 0x7c00, 1, 0x3c01, 0xc100}));
  const auto back = RunKernel(ref::MakeCast, Cast{}, {Of<uint16_t>(WF_F16, {4}, {0x3c00, 0x7bff, 1, 0xfc00})}, WF_F32, {4});
  EXPECT_EQ(back.out.As<float>(), (F{1, 65504, 5.9604645e-8f, -kInf}));
  const auto brain = RunKernel(ref::MakeCast, Cast{}, {Floats({2}, {1, 1.00390625f})}, WF_BF16, {2});
  EXPECT_EQ(brain.out.As<uint16_t>(), (std::vector<uint16_t>{0x3f80, 0x3f80}));  // a tie goes to even
}

TEST(Ref, CastsToFourBitsTruncateAndSaturateFloatsAndCutIntegers) {
  const Cast low{base::Narrow::kI4}, high{base::Narrow::kU4};
  const auto from_floats = RunKernel(ref::MakeCast, low, {Floats({5}, {1.9f, -1.9f, 3e9f, -kInf, kNan})}, WF_I8, {5});
  EXPECT_EQ(from_floats.out.As<int8_t>(), (std::vector<int8_t>{1, -1, 7, -8, 0}));
  const Tensor whole = Of<int32_t>(WF_I32, {4}, {200, -200, 9, 17});
  EXPECT_EQ(RunKernel(ref::MakeCast, low, {whole}, WF_I8, {4}).out.As<int8_t>(), (std::vector<int8_t>{-8, -8, -7, 1}));
  EXPECT_EQ(RunKernel(ref::MakeCast, high, {whole}, WF_U8, {4}).out.As<uint8_t>(), (std::vector<uint8_t>{8, 8, 9, 1}));
}

TEST(Ref, EveryHalfSurvivesTheWayThereAndBack) {
  std::vector<uint16_t> all;
  for (uint32_t i = 0; i < 65536; ++i) {
    if ((i & 0x7c00) != 0x7c00 || (i & 1023) == 0) all.push_back(static_cast<uint16_t>(i));
  }
  const int64_t n = static_cast<int64_t>(all.size());
  const auto wide = RunKernel(ref::MakeCast, Cast{}, {Of<uint16_t>(WF_F16, {n}, all)}, WF_F32, {n});
  EXPECT_EQ(RunKernel(ref::MakeCast, Cast{}, {wide.out}, WF_F16, {n}).out.As<uint16_t>(), all);
}

TEST(Ref, Movers) {
  const Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(RunFloats(ref::MakeTranspose, Transpose{{1, 0}}, {x}, {3, 2}), (F{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(RunFloats(ref::MakeConcat, Concat{1}, {x, Floats({2, 1}, {9, 8})}, {2, 4}), (F{1, 2, 3, 9, 4, 5, 6, 8}));
  EXPECT_EQ(RunFloats(ref::MakeSlice, Slice{{1, 2}, {1, -2}}, {x}, {1, 2}), (F{6, 4}));
  EXPECT_EQ(RunFloats(ref::MakePad, Pad{Pad::Mode::kConstant, {0, 1}, 7}, {x}, {2, 4}), (F{7, 1, 2, 3, 7, 4, 5, 6}));
  EXPECT_EQ(RunFloats(ref::MakePad, Pad{Pad::Mode::kReflect, {0, 1}, 0}, {x}, {2, 5}), (F{2, 1, 2, 3, 2, 5, 4, 5, 6, 5}));
  EXPECT_EQ(RunFloats(ref::MakePad, Pad{Pad::Mode::kEdge, {1, -1}, 0}, {x}, {3, 2}), (F{2, 3, 2, 3, 5, 6}));
  EXPECT_EQ(RunFloats(ref::MakeGather, Gather{1}, {x, Longs({2}, {-1, 0})}, {2, 2}), (F{3, 1, 6, 4}));
  EXPECT_EQ(RunFloats(ref::MakeWhere, Where{}, {Of<uint8_t>(WF_BOOL, {3}, {1, 0, 1}), x, Floats({1}, {0})}, {2, 3}), (F{1, 0, 3, 4, 0, 6}));
}

TEST(Ref, AnIndexOutOfRangeFails) {
  const auto outcome = RunKernel(ref::MakeGather, Gather{0}, {Floats({2}, {1, 2}), Longs({1}, {2})}, WF_F32, {1});
  ASSERT_TRUE(outcome.made);
  EXPECT_STREQ(outcome.failure, "an index is out of range");
}

}  // namespace
}  // namespace wf::kernels
