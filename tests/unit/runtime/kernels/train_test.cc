// Steps of training, against numbers worked out by hand.
#include <gtest/gtest.h>

#include "tests/unit/runtime/kernels/outputs.h"

namespace wf::kernels {
namespace {

using testing::F32;
using testing::Floats;
using testing::Longs;
using testing::RunOutputs;
using testing::Tensor;
using F = std::vector<float>;
using Rule = TrainStep::Rule;

std::vector<F> Stepped(const TrainStep& step, int64_t made, const std::vector<F>& given) {
  std::vector<Tensor> in = {Floats({}, {0.5f}), Longs({}, {made})};
  for (const F& each : given) in.push_back(Floats({static_cast<int64_t>(each.size())}, each));
  const size_t each = static_cast<size_t>(2 + step.kept()), parameters = given.size() / each;
  std::vector<TensorInfo> out;
  for (size_t i = 0; i < parameters * (each - 1); ++i) out.push_back(in[2 + i % parameters].info);
  const auto results = RunOutputs(step, in, out);
  EXPECT_EQ(results.failure, nullptr);
  std::vector<F> values;
  for (const Tensor& result : results.out) values.push_back(result.As<float>());
  return values;
}

TEST(TrainStep, AdagradDecaysTheRateAndAddsTheNorm) {
  const TrainStep step{Rule::kAdagrad, 0, 0, 1, 0, 0.5f, 0};
  const auto results = Stepped(step, 1, {{2}, {2}, {7}});  // gradient 3, squares 16, rate 0.25
  EXPECT_FLOATS(results[0], (F{2 - 0.25f * 3 / 4}), 1e-6);
  EXPECT_FLOATS(results[1], (F{16}), 1e-6);
}

TEST(TrainStep, AdamCorrectsTheRateFromTheSecondStepOn) {
  const TrainStep step{Rule::kAdam, 0.5f, 0.75f, 0, 0, 0, 0.5f};
  const auto first = Stepped(step, 0, {{1}, {4}, {0}, {0}});  // mean 2, squares 4
  EXPECT_FLOATS(first[0], (F{0.5f * (1 - 0.5f * 2 / 2)}), 1e-6);
  EXPECT_FLOATS(first[1], (F{2}), 1e-6);
  EXPECT_FLOATS(first[2], (F{4}), 1e-6);
  EXPECT_FLOATS(Stepped(step, 1, {{1}, {4}, {0}, {0}})[0], (F{0.5f * (1 - 0.5f * 0.5f / 0.5f * 2 / 2)}), 1e-6);
}

TEST(TrainStep, MomentumTakesTheGradientWholeInItsFirstStep) {
  TrainStep step{Rule::kMomentum, 0.5f, 0.25f, 0, 0, 0, 0};
  EXPECT_FLOATS(Stepped(step, 0, {{1}, {4}, {2}})[0], (F{1 - 0.5f * 5}), 1e-6);
  EXPECT_FLOATS(Stepped(step, 1, {{1}, {4}, {2}})[0], (F{1 - 0.5f * 2}), 1e-6);
  step.rule = Rule::kNesterov;
  EXPECT_FLOATS(Stepped(step, 1, {{1}, {4}, {2}})[0], (F{1 - 0.5f * (4 + 0.5f * 2)}), 1e-6);
}

TEST(TrainStep, SeveralParametersOfWhichNotAllIsRead) {
  const TrainStep step{Rule::kMomentum, 1, 1, 0, 0, 0, 0};
  const auto results = Stepped(step, 1, {{1, 2}, {3}, {1, 1}, {2}, {0, 0}, {4}});
  EXPECT_EQ(results[0], (F{0.5f, 1.5f}));
  EXPECT_EQ(results[1], (F{0}));
  EXPECT_EQ(results[3], (F{6}));
  const std::vector<Tensor> in = {Floats({}, {0.5f}), Longs({}, {1}), Floats({1}, {1}), Floats({1}, {2}), Floats({1}, {0})};
  EXPECT_EQ(RunOutputs(step, in, {F32({1}), {}}).out[0].As<float>(), (F{0}));
}

TEST(TrainStep, InDoublesWithARateOfDoubles) {
  const auto doubles = [](double value) { return testing::Of<double>(WF_F64, {1}, {value}); };
  const auto results = RunOutputs(TrainStep{Rule::kMomentum, 1, 1, 0, 0, 0, 0},
                                  {testing::Of<double>(WF_F64, {}, {0.25}), Longs({}, {1}), doubles(1), doubles(2), doubles(2)},
                                  {{WF_F64, {1}, nullptr, nullptr}, {WF_F64, {1}, nullptr, nullptr}});
  EXPECT_EQ(results.out[0].As<double>()[0], 0);
}

}  // namespace
}  // namespace wf::kernels
