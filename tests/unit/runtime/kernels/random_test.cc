// RandomNumbers numbers that are the same in each run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "runtime/kernels/ref.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels::drawn {
namespace {

using testing::Floats;
using testing::Of;
using testing::RunKernel;
using testing::Tensor;
using F = std::vector<float>;

std::vector<double> Drawn(RandomNumbers random, int64_t n) { return RunKernel(nullptr, random, {}, WF_F64, {n}).out.As<double>(); }

// Expected: numpy.random.RandomState(0).rand(4) and .randn(4).
TEST(RandomNumbers, AreThoseOfOnnxsReference) {
  const double uniform[] = {0.5488135039273248, 0.7151893663724195, 0.6027633760716439, 0.5448831829968969};
  const double normal[] = {1.764052345967664, 0.4001572083672233, 0.9787379841057392, 2.240893199201458};
  const auto flat = Drawn({RandomNumbers::Kind::kUniform, 0, 0, 1}, 4), bell = Drawn({RandomNumbers::Kind::kNormal, 0, 0, 1}, 4);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_DOUBLE_EQ(flat[i], uniform[i]);
    EXPECT_DOUBLE_EQ(bell[i], normal[i]);
  }
  EXPECT_DOUBLE_EQ(Drawn({RandomNumbers::Kind::kUniform, 0, 2, 6}, 1)[0], 2 + 4 * uniform[0]);
  EXPECT_DOUBLE_EQ(Drawn({RandomNumbers::Kind::kNormal, 0, 1, 3}, 1)[0], 1 + 3 * normal[0]);
}

TEST(RandomNumbers, AreTheSameInEachRun) {
  const RandomNumbers random{RandomNumbers::Kind::kNormal, 7, 0, 1};
  EXPECT_EQ(Drawn(random, 100), Drawn(random, 100));
  EXPECT_NE(Drawn(random, 100), Drawn({RandomNumbers::Kind::kNormal, 8, 0, 1}, 100));
  EXPECT_EQ(RunKernel(nullptr, random, {}, WF_F16, {8}).out.As<uint16_t>().size(), 8u);
}

TEST(RandomNumbers, BernoulliDrawsAsOftenAsItIsTold) {
  F odds(3000, 0);
  std::fill(odds.begin() + 1000, odds.begin() + 2000, 1.0f);
  std::fill(odds.begin() + 2000, odds.end(), 0.25f);
  const auto drawn =
      RunKernel(nullptr, RandomNumbers{RandomNumbers::Kind::kBernoulli, 3}, {Floats({3000}, odds)}, WF_BOOL, {3000}).out.As<uint8_t>();
  EXPECT_EQ(std::count(drawn.begin(), drawn.begin() + 1000, 0), 1000);
  EXPECT_EQ(std::count(drawn.begin() + 1000, drawn.begin() + 2000, 1), 1000);
  EXPECT_NEAR(static_cast<double>(std::count(drawn.begin() + 2000, drawn.end(), 1)), 250, 50);
}

TEST(RandomNumbers, MultinomialDrawsClassesThatHaveAWeight) {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  const Tensor x = Floats({2, 3}, {kNever, 0, kNever, 0, kNever, std::log(3.0f)});
  const auto drawn = RunKernel(nullptr, RandomNumbers{RandomNumbers::Kind::kMultinomial, 5}, {x}, WF_I32, {2, 1000}).out.As<int32_t>();
  EXPECT_EQ(std::count(drawn.begin(), drawn.begin() + 1000, 1), 1000);
  EXPECT_EQ(std::count(drawn.begin() + 1000, drawn.end(), 1), 0);
  EXPECT_NEAR(static_cast<double>(std::count(drawn.begin() + 1000, drawn.end(), 2)), 750, 60);
  const auto none = RunKernel(nullptr, RandomNumbers{RandomNumbers::Kind::kMultinomial, 5}, {Floats({1, 1}, {kNever})}, WF_I32, {1, 1});
  EXPECT_STREQ(none.failure, "a row of classes without a weight that can be drawn");
}

struct Dropped {
  F y;
  std::vector<uint8_t> mask;
  const char* failure;
};

Dropped Drop(const F& values, float ratio, uint8_t training) {
  const auto n = static_cast<int64_t>(values.size());
  const Tensor x = Floats({n}, values), r = Floats({}, {ratio}), t = Of<uint8_t>(WF_BOOL, {}, {training});
  const Operation operation{RandomNumbers{RandomNumbers::Kind::kDropout, 0},
                            {x.info, r.info, t.info},
                            {{WF_F32, {n}, nullptr, nullptr}, {WF_BOOL, {n}, nullptr, nullptr}}};
  auto kernel = MakeKernel(operation);
  WF_CHECK(kernel.ok());
  Dropped dropped{F(values.size()), std::vector<uint8_t>(values.size()), nullptr};
  auto call = (*kernel)->Bind({{x.data.get(), r.data.get(), t.data.get()}, {dropped.y.data(), dropped.mask.data()}, nullptr});
  dropped.failure = (*call)->Run();
  return dropped;
}

// Expected: numpy.random.RandomState(0).uniform(0, 1, 4) >= ratio.
TEST(RandomNumbers, DropoutLeavesOutAndScalesUp) {
  const F x = {1, 2, 3, 4};
  const Dropped half = Drop(x, 0.6f, 1);
  EXPECT_EQ(half.mask, (std::vector<uint8_t>{0, 1, 1, 0}));
  EXPECT_FLOAT_EQ(half.y[1], 5);
  EXPECT_EQ(half.y[0], 0);
  for (const Dropped& all : {Drop(x, 0, 1), Drop(x, 0.6f, 0)}) {
    EXPECT_EQ(all.y, x);
    EXPECT_EQ(all.mask, (std::vector<uint8_t>{1, 1, 1, 1}));
  }
  EXPECT_EQ(Drop(x, 1, 1).y, (F{0, 0, 0, 0}));
  EXPECT_STREQ(Drop(x, std::nanf(""), 1).failure, "a ratio that is not from 0 to 1");
  EXPECT_STREQ(Drop(x, -1, 1).failure, "a ratio that is not from 0 to 1");
}

}  // namespace
}  // namespace wf::kernels::drawn
