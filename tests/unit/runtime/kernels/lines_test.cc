// Convolutions of each channel by itself along lines.
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/kernels/avx2.h"
#include "runtime/kernels/onednn/layout.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/ref.h"
#include "runtime/kernels/unary/vector.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels {
namespace {

using testing::Constant;
using testing::Floats;
using testing::Formatted;
using testing::kInf;
using testing::kNan;
using testing::Random;
using testing::RunKernel;
using testing::Tensor;

struct LineCase {
  int64_t samples, channels, length, taps;
  int64_t stride = 1, dilation = 1, begin = 0, end = 0;
  Unary then = {UnaryOp::kIdentity};
  int64_t filters_each = 1;

  Conv params() const { return {{stride}, {dilation}, {begin}, channels, then}; }
  std::vector<int64_t> out() const {
    return {samples, channels * filters_each, (length + begin + end - dilation * (taps - 1) - 1) / stride + 1};
  }
  std::string name() const {
    std::string text;
    for (const int64_t each : {samples, channels, length, taps, stride, dilation, begin, end, filters_each})
      text += std::to_string(each) + " ";
    return text + "then " + std::to_string(static_cast<int>(then.op));
  }
};

std::vector<LineCase> LineCases() {
  std::vector<LineCase> cases = {
      {1, 1, 1, 1},
      {2, 3, 5, 3, 1, 1, 1, 1, {UnaryOp::kRelu}},
      {1, 8, 7, 7, 1, 1, 6, 6},
      {1, 16, 100, 31, 1, 1, 15, 15, {UnaryOp::kSwish, 1}},
      {3, 24, 64, 3, 1, 1, 2, 0, {UnaryOp::kClip, -0.5f, 0.25f}},
      {1, 8, 1300, 9, 1, 3, 12, 12, {UnaryOp::kTanh}},
      {2, 40, 65, 15, 2, 1, 7, 7, {UnaryOp::kLeakyRelu, 0.1f}},
      {1, 8, 2101, 5, 2, 2, 4, 4},
      {1, 8, 1999, 4, 3, 5, 0, 9},
      {1, 5, 47, 3, 16, 1, 1, 1},
      {1, 8, 6, 3, 1, 1, 40, 40},
      {1, 8, 30, 2, 5, 9, 3, 0, {UnaryOp::kRelu}},
      {2, 4, 33, 5, 1, 1, 2, 2, {UnaryOp::kRelu}, 3},
  };
  for (int64_t length = 60; length < 76; ++length) cases.push_back({1, 8, length, 4, 1, 1, 1, 2});
  return cases;
}

enum class With : uint8_t { kNothing, kBias, kAddend, kBoth };

std::vector<Tensor> InputsOf(const LineCase& each, With with) {
  const int64_t filters = each.channels * each.filters_each;
  std::vector<Tensor> in = {Random({each.samples, each.channels, each.length}, 1), Constant(Random({filters, 1, each.taps}, 2))};
  if (with == With::kBias || with == With::kBoth) in.push_back(Constant(Random({filters}, 3)));
  if (with == With::kAddend || with == With::kBoth) {
    in.resize(3, Tensor{});
    in.push_back(Random(each.out(), 4));
  }
  return in;
}

void ExpectNear(const std::vector<float>& is, const std::vector<float>& want) {
  ASSERT_EQ(is.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(std::isnan(is[i]), std::isnan(want[i])) << i;
    if (std::isnan(want[i]) || is[i] == want[i]) continue;  // infinities, too
    ASSERT_NEAR(is[i], want[i], 2e-5 * (1 + std::abs(want[i]))) << i;
  }
}

bool HasWide() { return __builtin_cpu_supports("avx512f") != 0; }

// In each layout, with the same bits in all.
void ExpectAgree(const LineCase& each, std::vector<Tensor> in) {
  const auto want = RunKernel(ref::MakeConv, each.params(), in, WF_F32, each.out()).out.As<float>();
  const auto plain = RunKernel(avx2::MakeConv, each.params(), in, WF_F32, each.out());
  ASSERT_TRUE(plain.made);
  const auto is = plain.out.As<float>();
  ExpectNear(is, want);
  const auto wide = RunKernel(avx512::MakeLineConv, each.params(), in, WF_F32, each.out());
  ASSERT_EQ(wide.made, HasWide());
  const auto of_wide = wide.made ? wide.out.As<float>() : is;
  for (size_t i = 0; i < is.size(); ++i) ASSERT_TRUE(std::isnan(is[i]) ? std::isnan(of_wide[i]) : of_wide[i] == is[i]) << i;
  if (!onednn::Available()) return;
  for (const onednn::Layout& layout : {onednn::Layout{onednn::Order::kChannelsLast}, onednn::Layout{onednn::Order::kBlocked, 8}}) {
    if (!layout.Takes(each.out()) || !layout.Takes(in[0].info.dim)) continue;
    const Tensor rows = in[0];
    in[0] = Formatted(in[0], layout.Format(in[0].info.dim));
    const auto formatted = RunKernel(avx2::MakeConv, each.params(), in, WF_F32, each.out());
    in[0] = rows;
    ASSERT_TRUE(formatted.made);
    const auto elements = formatted.out.As<float>();
    for (size_t i = 0; i < is.size(); ++i) {
      ASSERT_TRUE(std::isnan(is[i]) || elements[i] == is[i]) << i << " in order " << static_cast<int>(layout.order);
    }
  }
}

TEST(Lines, AgreeWithRef) {
  if (!avx2::Available()) return;
  for (const LineCase& each : LineCases()) {
    for (const With with : {With::kNothing, With::kBias, With::kAddend, With::kBoth}) {
      SCOPED_TRACE(each.name() + " with " + std::to_string(static_cast<int>(with)));
      std::vector<Tensor> in = InputsOf(each, with);
      ExpectAgree(each, in);
      auto* const x = reinterpret_cast<float*>(in[0].data.get());
      for (int64_t i = 0; i < in[0].info.count(); i += 1 + in[0].info.count() / 3) x[i] = i % 2 == 0 ? kNan : kInf;
      ExpectAgree(each, in);
    }
  }
}

TEST(Lines, TheFormatOfWholeVectorsOfChannelsStays) {
  if (!avx2::Available() || !onednn::Available()) return;
  const LineCase each{2, 16, 50, 7, 1, 1, 3, 3};
  const auto last = onednn::ChannelsLast({2, 16, 50}, WF_F32);
  Operation operation{each.params(), {}, {{WF_F32, each.out(), nullptr, nullptr}}};
  for (const Tensor& in : InputsOf(each, With::kBoth)) operation.in.push_back(in.info);
  operation.in[0].format = last;
  auto kernel = *MakeKernel(operation);
  EXPECT_EQ(kernel->impl, "avx2");
  for (const FormatRef& format : {kernel->in_format[0], kernel->in_format[3], kernel->out_format}) EXPECT_TRUE(SameFormat(format, last));
  operation.in[0].format = nullptr;
  kernel = *MakeKernel(operation);
  EXPECT_EQ(kernel->impl, HasWide() ? "avx512" : "avx2");
  for (const FormatRef& format : {kernel->in_format[0], kernel->in_format[3], kernel->out_format}) EXPECT_EQ(format, nullptr);
}

// The same line as the one row, or column, of an image, with the same bits.
TEST(Lines, ImagesOfOneRow) {
  if (!avx2::Available()) return;
  const LineCase each{2, 16, 90, 5, 2, 3, 4, 4, {UnaryOp::kRelu}};
  std::vector<Tensor> in = InputsOf(each, With::kBoth);
  const auto want = RunKernel(avx2::MakeConv, each.params(), in, WF_F32, each.out()).out.As<float>();
  const int64_t out = each.out()[2];
  for (const bool is_row : {true, false}) {
    const auto image = [is_row](int64_t n, int64_t c, int64_t t) {
      return is_row ? std::vector<int64_t>{n, c, 1, t} : std::vector<int64_t>{n, c, t, 1};
    };
    const auto pair = [is_row](int64_t other, int64_t line) {
      return is_row ? std::vector<int64_t>{other, line} : std::vector<int64_t>{line, other};
    };
    const Conv conv{pair(1, 2), pair(1, 3), pair(0, 4), 16, each.then};
    in[0].info.dim = image(2, 16, 90);
    in[1].info.dim = image(16, 1, 5);
    in[3].info.dim = image(2, 16, out);
    const auto is = RunKernel(avx2::MakeConv, conv, in, WF_F32, image(2, 16, out));
    ASSERT_TRUE(is.made);
    EXPECT_EQ(is.out.As<float>(), want);
    if (!onednn::Available()) continue;
    in[0] = Formatted(in[0], onednn::Layout{onednn::Order::kBlocked, 8}.Format(in[0].info.dim));
    EXPECT_EQ(RunKernel(avx2::MakeConv, conv, in, WF_F32, image(2, 16, out)).out.As<float>(), want);
    in[0] = InputsOf(each, With::kBoth)[0];
    const Conv beside{pair(3, 2), pair(1, 3), pair(1, 4), 16, each.then};
    in[0].info.dim = image(2, 16, 90);
    EXPECT_FALSE(RunKernel(avx2::MakeConv, beside, in, WF_F32, image(2, 16, out)).made) << "of which padding alone is seen";
  }
  const Conv square{{1, 1}, {1, 1}, {1, 1}, 4, {UnaryOp::kIdentity}};
  EXPECT_FALSE(RunKernel(avx2::MakeConv, square, {Random({1, 4, 1, 9}, 1), Constant(Random({4, 1, 3, 3}, 2))}, WF_F32, {1, 4, 1, 9}).made);
}

TEST(Lines, ASampleDoesNotDependOnOthers) {
  if (!avx2::Available()) return;
  const LineCase all{5, 11, 77, 9, 2, 1, 4, 4}, one{1, 11, 77, 9, 2, 1, 4, 4};
  const auto in = InputsOf(all, With::kBias);
  const auto together = RunKernel(avx2::MakeConv, all.params(), in, WF_F32, all.out()).out.As<float>();
  const auto x = in[0].As<float>();
  for (size_t i = 0; i < 5; ++i) {
    const size_t size = x.size() / 5, of_result = together.size() / 5;
    const auto begin = x.begin() + static_cast<int64_t>(i * size);
    const Tensor alone = Floats({1, 11, 77}, {begin, begin + static_cast<int64_t>(size)});
    const auto is = RunKernel(avx2::MakeConv, one.params(), {alone, in[1], in[2]}, WF_F32, one.out()).out.As<float>();
    EXPECT_TRUE(std::equal(is.begin(), is.end(), together.begin() + static_cast<int64_t>(i * of_result))) << i;
  }
}

TEST(Lines, OthersAreLeftToOtherRows) {
  const auto made = [](const LineCase& each, const std::vector<Tensor>& in) {
    return RunKernel(avx2::MakeConv, each.params(), in, WF_F32, each.out()).made;
  };
  const LineCase plain{1, 4, 20, 3};
  EXPECT_EQ(made(plain, InputsOf(plain, With::kBias)), avx2::Available());
  std::vector<Tensor> in = InputsOf(plain, With::kBias);
  in[1].info.constant = nullptr;
  EXPECT_FALSE(made(plain, in)) << "weights that are computed";
  in = InputsOf(plain, With::kBias);
  reinterpret_cast<float*>(in[1].data.get())[5] = kInf;
  EXPECT_FALSE(made(plain, in)) << "times padding that is NaN";
  const LineCase empty{0, 4, 20, 3}, far{1, 4, 40'000, 3, 1, 10'000}, rare{1, 4, 100, 3, 17};
  for (const LineCase& each : {empty, far, rare}) EXPECT_FALSE(made(each, InputsOf(each, With::kBias))) << each.name();
  Conv groups = plain.params();
  groups.group = 2;
  EXPECT_FALSE(RunKernel(avx2::MakeConv, groups, {Random({1, 4, 20}, 1), Constant(Random({4, 2, 3}, 2))}, WF_F32, {1, 4, 18}).made);
  const auto none = RunKernel(nullptr, empty.params(), InputsOf(empty, With::kBias), WF_F32, empty.out());
  EXPECT_EQ(none.failure, nullptr);
}

}  // namespace
}  // namespace wf::kernels
