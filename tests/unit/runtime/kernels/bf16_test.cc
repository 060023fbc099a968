// Kernels on f32 whose factors are rounded to bf16, and tensors stored so between them.
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "runtime/kernels/half.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/ref.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels {
namespace {

using testing::Formatted;
using testing::Random;
using testing::RunKernel;
using testing::Tensor;

constexpr float kOfSums = 1e-5F, kStored = 0x1p-8F;  // relative errors: of sums in f32, and of a number rounded to bf16

// Numbers that bf16 has, so that nothing but what is stored is rounded.
Tensor RandomBf16(std::vector<int64_t> dim, uint32_t seed) {
  Tensor tensor = Random(std::move(dim), seed);
  auto* const x = reinterpret_cast<float*>(tensor.data.get());
  for (int64_t i = 0; i < tensor.info.count(); ++i) x[i] = ToFloat(ToBrain(x[i]));
  return tensor;
}
Tensor Weights(std::vector<int64_t> dim, uint32_t seed) { return testing::Constant(RandomBf16(std::move(dim), seed)); }

base::Result<std::unique_ptr<Kernel>> MakeStoringBf16(const Operation& operation) {
  Operation asked = operation;
  asked.bf16 = asked.bf16_out = true;
  return MakeKernel(asked);
}
base::Result<std::unique_ptr<Kernel>> MakeGivingF32(const Operation& operation) {
  Operation asked = operation;
  asked.bf16 = true;
  return MakeKernel(asked);
}

FormatRef OutFormat(MakeFn make, const Params& params, const std::vector<Tensor>& in, std::vector<int64_t> dim) {
  Operation operation{params, {}, {{WF_F32, std::move(dim), nullptr, nullptr}}};
  for (const Tensor& each : in) operation.in.push_back(each.info);
  return (*make(operation))->out_format;
}
bool IsBf16(const FormatRef& format) { return format != nullptr && format->is_bf16(); }

void ExpectNear(const Tensor& is, const Tensor& wanted, float tolerance, const std::string& name) {
  const std::vector<float> a = is.As<float>(), b = wanted.As<float>();
  ASSERT_EQ(a.size(), b.size()) << name;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i])) {
      ASSERT_TRUE(std::isnan(a[i])) << name << " at " << i;
    } else {
      ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << name << " at " << i;
    }
  }
}

struct Case {
  std::string name;
  Params params;
  std::vector<Tensor> in;
  std::vector<int64_t> out;
  MakeFn ref;
  float stored = kStored;
};

Conv Square(int64_t stride, int64_t pad, int64_t group, Unary then) { return {{stride, stride}, {1, 1}, {pad, pad}, group, then}; }

std::vector<Case> Products() {
  std::vector<Case> cases = {
      {"first layer",
       Square(2, 1, 1, {UnaryOp::kRelu}),
       {RandomBf16({2, 4, 17, 17}, 1), Weights({8, 4, 3, 3}, 2), Weights({8}, 3)},
       {2, 8, 9, 9},
       ref::MakeConv},
      {"deep",
       Square(1, 1, 1, {UnaryOp::kClip, 0, 6}),
       {RandomBf16({1, 32, 9, 9}, 1), Weights({48, 32, 3, 3}, 2), Weights({48}, 3)},
       {1, 48, 9, 9},
       ref::MakeConv},
      {"few", Square(1, 0, 1, {UnaryOp::kSwish, 1}), {RandomBf16({1, 6, 8, 6}, 1), Weights({5, 6, 3, 3}, 2)}, {1, 5, 6, 4}, ref::MakeConv},
      {"depthwise",
       Square(2, 1, 16, {UnaryOp::kRelu}),
       {RandomBf16({1, 16, 9, 9}, 1), Weights({16, 1, 3, 3}, 2), Weights({16}, 3)},
       {1, 16, 5, 5},
       ref::MakeConv},
      {"grouped", Square(1, 1, 4, {}), {RandomBf16({2, 8, 6, 6}, 1), Weights({12, 2, 3, 3}, 2)}, {2, 12, 6, 6}, ref::MakeConv},
      {"points", Square(1, 0, 1, {}), {RandomBf16({1, 64, 7, 7}, 1), Weights({32, 64, 1, 1}, 2)}, {1, 32, 7, 7}, ref::MakeConv},
      {"product",
       MatMul{false, false, 1, 1, {UnaryOp::kGelu}},
       {RandomBf16({2, 9, 64}, 1), Weights({64, 80}, 2), Weights({80}, 3)},
       {2, 9, 80},
       ref::MakeMatMul},
      {"turned product",
       MatMul{false, true, 1, 1, {}},
       {RandomBf16({1, 96}, 1), Weights({64, 96}, 2), Weights({64}, 3)},
       {1, 64},
       ref::MakeMatMul},
  };
  Case joined = cases[1];
  joined.name = "with an addend";
  joined.in.push_back(RandomBf16(joined.out, 4));
  joined.stored = 4 * kStored;  // the product is rounded, then the sum
  cases.push_back(joined);
  return cases;
}

// Without instructions for it everything is f32.
class Bf16Test : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(onednn::Available()) << "without oneDNN there is no bf16";
    UseOneThread();
  }
};

TEST_F(Bf16Test, ProductsOfNumbersThatBf16HasAreThoseOfF32) {
  for (const Case& each : Products()) {
    const Tensor wanted = RunKernel(each.ref, each.params, each.in, WF_F32, each.out).out;
    ExpectNear(RunKernel(MakeGivingF32, each.params, each.in, WF_F32, each.out).out, wanted, kOfSums, each.name);
    EXPECT_FALSE(IsBf16(OutFormat(MakeGivingF32, each.params, each.in, each.out))) << each.name;
    ExpectNear(RunKernel(MakeStoringBf16, each.params, each.in, WF_F32, each.out).out, wanted, each.stored, each.name);
    EXPECT_EQ(IsBf16(OutFormat(MakeStoringBf16, each.params, each.in, each.out)), MultipliesBf16()) << each.name;
  }
}

TEST_F(Bf16Test, WhatIsRoundedIsRoundedToTheNearest) {
  const std::vector<Tensor> in = {testing::Floats({1, 64}, std::vector<float>(64, 1 + 0x1p-8F + 0x1p-16F)), Weights({64, 64}, 1)};
  const Tensor up = testing::Floats({1, 64}, std::vector<float>(64, 1 + 0x1p-7F));
  const Tensor wanted = RunKernel(ref::MakeMatMul, MatMul{}, {MultipliesBf16() ? up : in[0], in[1]}, WF_F32, {1, 64}).out;
  ExpectNear(RunKernel(MakeGivingF32, MatMul{}, in, WF_F32, {1, 64}).out, wanted, kOfSums, "above the half");
}

// Of an odd number of factors the last would be multiplied beside the first of the next point, or row, times 0.
TEST_F(Bf16Test, SmallProductsThoseOfTwoResultsAndThoseOfOddLengthStayInF32) {
  for (const Case& each : {Case{"odd", MatMul{}, {Random({8, 65}, 1), testing::Constant(Random({65, 80}, 2))}, {8, 80}, ref::MakeMatMul},
                           Case{"odd channels",
                                Square(1, 0, 1, {}),
                                {Random({2, 7, 8, 6}, 1), testing::Constant(Random({5, 7, 3, 3}, 2))},
                                {2, 5, 6, 4},
                                ref::MakeConv},
                           Case{"small", MatMul{}, {Random({4, 16}, 1), testing::Constant(Random({16, 8}, 2))}, {4, 8}, ref::MakeMatMul},
                           Case{"of two", MatMul{}, {Random({64, 64}, 1), Random({64, 64}, 2)}, {64, 64}, ref::MakeMatMul}}) {
    const Tensor wanted = RunKernel(each.ref, each.params, each.in, WF_F32, each.out).out;
    ExpectNear(RunKernel(MakeStoringBf16, each.params, each.in, WF_F32, each.out).out, wanted, kOfSums, each.name);
  }
}

// An image as a convolution leaves it.
Tensor Stored(std::vector<int64_t> dim, uint32_t seed) {
  const int64_t channels = dim[1];
  const std::vector<Tensor> in = {RandomBf16(dim, seed), Weights({channels, channels, 1, 1}, 2)};
  const FormatRef format = OutFormat(MakeStoringBf16, Square(1, 0, 1, {}), in, dim);
  WF_CHECK(IsBf16(format) == MultipliesBf16());
  return Formatted(in[0], format);
}

Tensor Plain(const Tensor& stored) { return Formatted(stored, nullptr); }

TEST_F(Bf16Test, WhatHandsOnTakesAndGivesWhatIsStored) {
  const std::vector<int64_t> dim = {2, 32, 8, 8}, half = {2, 32, 4, 4}, twice = {2, 64, 8, 8};
  const Pool most{.kernel = {2, 2}, .stride = {2, 2}, .dilation = {1, 1}, .pad_begin = {0, 0}, .pad_end = {0, 0}};
  Pool mean = most;
  mean.mean = true;
  const Tensor a = Stored(dim, 5), b = Stored(dim, 6);
  for (const Case& each : {Case{"largest", most, {a}, half, ref::MakePool}, Case{"mean", mean, {a}, half, ref::MakePool},
                           Case{"sum", Binary{BinaryOp::kAdd}, {a, b}, dim, ref::MakeBinary},
                           Case{"side by side", Concat{1}, {a, b}, twice, ref::MakeConcat}}) {
    std::vector<Tensor> plain;
    for (const Tensor& in : each.in) plain.push_back(Plain(in));
    const Tensor wanted = RunKernel(each.ref, each.params, plain, WF_F32, each.out).out;
    ExpectNear(RunKernel(MakeStoringBf16, each.params, each.in, WF_F32, each.out).out, wanted, kStored, each.name);
    EXPECT_EQ(IsBf16(OutFormat(MakeStoringBf16, each.params, each.in, each.out)), MultipliesBf16()) << each.name;
  }
}

TEST_F(Bf16Test, OthersGetWhatIsStoredWidened) {
  const Tensor a = Stored({1, 32, 8, 8}, 5);
  for (const UnaryOp op : {UnaryOp::kRelu, UnaryOp::kSigmoid, UnaryOp::kTanh, UnaryOp::kFloor}) {
    const Unary unary{op};
    const Tensor wanted = RunKernel(ref::MakeUnary, unary, {Plain(a)}, WF_F32, a.info.dim).out;
    ExpectNear(RunKernel(MakeStoringBf16, unary, {a}, WF_F32, a.info.dim).out, wanted, kOfSums, std::to_string(static_cast<int>(op)));
  }
  const Transpose transpose{{0, 2, 3, 1}};
  const Tensor turned = RunKernel(ref::MakeTranspose, transpose, {Plain(a)}, WF_F32, {1, 8, 8, 32}).out;
  ExpectNear(RunKernel(MakeStoringBf16, transpose, {a}, WF_F32, {1, 8, 8, 32}).out, turned, 0, "turned");
}

// Tiles of AMX multiply what lies beside a window by zeros, too: a NaN may reach outputs next to its own.
void ExpectNanKept(const Tensor& is, const Tensor& wanted, float tolerance, const std::string& name) {
  const std::vector<float> a = is.As<float>(), b = wanted.As<float>();
  ASSERT_EQ(a.size(), b.size()) << name;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(b[i])) {
      ASSERT_TRUE(std::isnan(a[i])) << name << " at " << i;
    } else if (!std::isnan(a[i])) {
      ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i]))) << name << " at " << i;
    }
  }
}

TEST_F(Bf16Test, NanIsKept) {
  for (Case& each : Products()) {
    const int64_t count = each.in[0].info.count();
    for (const int64_t at : {int64_t{3}, count / 2, count - 1}) {  // the first of the second image, where there are two
      Tensor x = RandomBf16(each.in[0].info.dim, 1);
      reinterpret_cast<float*>(x.data.get())[at] = testing::kNan;
      each.in[0] = x;
      const Tensor wanted = RunKernel(each.ref, each.params, each.in, WF_F32, each.out).out;
      ExpectNanKept(RunKernel(MakeStoringBf16, each.params, each.in, WF_F32, each.out).out, wanted, each.stored, each.name);
    }
  }
  Tensor x = RandomBf16({1, 32, 8, 8}, 5);
  reinterpret_cast<float*>(x.data.get())[130] = testing::kNan;
  const Tensor stored = Formatted(x, Stored({1, 32, 8, 8}, 5).info.format);
  const Pool most{.kernel = {2, 2}, .stride = {2, 2}, .dilation = {1, 1}, .pad_begin = {0, 0}, .pad_end = {0, 0}};
  const Tensor wanted = RunKernel(ref::MakePool, most, {x}, WF_F32, {1, 32, 4, 4}).out;
  ExpectNear(RunKernel(MakeStoringBf16, most, {stored}, WF_F32, {1, 32, 4, 4}).out, wanted, kStored, "largest");
}

// How far it is from the other: the root of the mean squares, of that of the other.
float Off(const Tensor& is, const Tensor& wanted) {
  const std::vector<float> a = is.As<float>(), b = wanted.As<float>();
  double apart = 0, whole = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    const double far = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    apart += far * far;
    whole += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return static_cast<float>(std::sqrt(apart / whole));
}

std::string named_way;  // makers capture nothing
base::Result<std::unique_ptr<Kernel>> MakeNamed(const Operation& operation) {
  Operation asked = operation;
  asked.bf16 = asked.bf16_out = true;
  asked.way = named_way;
  return MakeKernel(asked);
}

// Of 3 x 3 in squares: those whose last square, filters or channels are not whole among them.
std::vector<Case> Squares() {
  std::vector<Case> cases;
  for (const auto& [name, images, channels, filters, height, width] :
       {std::tuple("whole", 1, 64, 64, 16, 16), std::tuple("odd", 2, 50, 72, 13, 11), std::tuple("deep", 1, 256, 48, 14, 14),
        std::tuple("few", 1, 18, 20, 5, 7)}) {
    for (const Unary then :
         {Unary{}, Unary{UnaryOp::kRelu}, Unary{UnaryOp::kClip, -0.5F, 6}, Unary{UnaryOp::kLeakyRelu, 0.1F}, Unary{UnaryOp::kSwish, 1}}) {
      Case each{name,
                Square(1, 1, 1, then),
                {Random({images, channels, height, width}, 1), testing::Constant(Random({filters, channels, 3, 3}, 2)),
                 testing::Constant(Random({filters}, 3))},
                {images, filters, height, width},
                ref::MakeConv};
      cases.push_back(each);
    }
  }
  cases[0].in.push_back(RandomBf16(cases[0].out, 4));  // an addend
  return cases;
}

TEST_F(Bf16Test, SumsOfWinogradAreAsNearAsPlainOnesNearly) {
  constexpr float kMost = 2 * kStored;
  for (const Case& each : Squares()) {
    const Tensor wanted = RunKernel(each.ref, each.params, each.in, WF_F32, each.out).out;
    EXPECT_LT(Off(RunKernel(MakeGivingF32, each.params, each.in, WF_F32, each.out).out, wanted), kMost) << each.name;
    EXPECT_LT(Off(RunKernel(MakeStoringBf16, each.params, each.in, WF_F32, each.out).out, wanted), kMost) << each.name;
  }
}

TEST_F(Bf16Test, WhatIsNotFiniteReachesInWinogradThoseWhoReadIt) {
  Case each = Squares()[0];
  for (const float odd : {testing::kNan, testing::kInf, -testing::kInf, 1e38F}) {
    reinterpret_cast<float*>(each.in[0].data.get())[5 * 16 + 7] = odd;
    const Tensor wanted = RunKernel(each.ref, each.params, each.in, WF_F32, each.out).out;
    const std::vector<float> a = RunKernel(MakeGivingF32, each.params, each.in, WF_F32, each.out).out.As<float>(), b = wanted.As<float>();
    for (size_t i = 0; i < b.size(); ++i) EXPECT_EQ(std::isfinite(a[i]), std::isfinite(b[i])) << i;
  }
}

TEST_F(Bf16Test, EveryWayIsNearTheReference) {
  std::vector<Case> cases = Squares();
  for (const Case& each : Products()) cases.push_back(each);
  for (const Case& each : cases) {
    const Tensor wanted = RunKernel(each.ref, each.params, each.in, WF_F32, each.out).out;
    Operation operation{each.params, {}, {{WF_F32, each.out, nullptr, nullptr}}};
    for (const Tensor& in : each.in) operation.in.push_back(in.info);
    operation.bf16 = operation.bf16_out = true;
    for (const std::string& way : Ways(operation)) {
      named_way = way;
      EXPECT_LT(Off(RunKernel(MakeNamed, each.params, each.in, WF_F32, each.out).out, wanted), 2 * kStored) << each.name << " " << way;
    }
  }
}

TEST_F(Bf16Test, AttentionRoundsWhatItMultiplies) {
  for (const auto& [batch, heads, s, l, size] : {std::tuple(2, 3, 17, 17, 32), std::tuple(1, 2, 130, 67, 64), std::tuple(1, 1, 1, 5, 6)}) {
    Attention attention;
    attention.heads = attention.kv_heads = heads;
    attention.size = attention.v_size = size;
    attention.scale = 0.2F;
    attention.total = l;
    const std::vector<int64_t> out = {batch, s, heads * size};
    std::vector<Tensor> in = {RandomBf16(out, 1), RandomBf16({batch, l, heads * size}, 2), RandomBf16({batch, l, heads * size}, 3)};
    for (const bool adds : {false, true}) {
      in.resize(3);
      if (adds) {
        in.resize(6);
        in.push_back(Random({batch, 1, 1, l}, 4));
      }
      const Tensor wanted = RunKernel(ref::MakeAttention, attention, in, WF_F32, out).out;
      EXPECT_LT(Off(RunKernel(MakeGivingF32, attention, in, WF_F32, out).out, wanted), kStored) << s << " " << adds;
      EXPECT_LT(Off(RunKernel(MakeStoringBf16, attention, in, WF_F32, out).out, wanted), 2 * kStored) << s << " " << adds;
      EXPECT_EQ(IsBf16(OutFormat(MakeStoringBf16, attention, in, out)), MultipliesBf16());
    }
  }
}

TEST_F(Bf16Test, BlocksOfATransposedConvolutionAreStored) {
  const ConvTranspose twice{{2, 2}, {1, 1}, {0, 0}, 1, {UnaryOp::kRelu}};
  const std::vector<Tensor> in = {RandomBf16({2, 32, 5, 7}, 1), Weights({32, 16, 2, 2}, 2), Weights({16}, 3)};
  const std::vector<int64_t> out = {2, 16, 10, 14};
  const Tensor wanted = RunKernel(ref::MakeConvTranspose, twice, in, WF_F32, out).out;
  ExpectNear(RunKernel(MakeGivingF32, twice, in, WF_F32, out).out, wanted, kOfSums, "f32");
  ExpectNear(RunKernel(MakeStoringBf16, twice, in, WF_F32, out).out, wanted, kStored, "stored");
  EXPECT_EQ(IsBf16(OutFormat(MakeStoringBf16, twice, in, out)), MultipliesBf16());
}

}  // namespace
}  // namespace wf::kernels
