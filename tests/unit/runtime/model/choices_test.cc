// Versions that share choices among ways of kernels.
#include "runtime/kernels/choices.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <thread>

#include "runtime/kernels/choices_file.h"
#include "runtime/kernels/memory.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/model/version.h"
#include "tests/unit/runtime/model/temp_file.h"
#include "tests/unit/runtime/onnx/builder.h"

namespace wf::model {
namespace {

using testing::TempFile;

constexpr int64_t kChannels = 32, kSide = 20;
constexpr int64_t kRow = kChannels * kSide * kSide;

// f32[N, 32, 20, 20] -> the same: two convolutions that are large enough to be measured.
TempFile Filters() {
  testing::Builder builder;
  const int channels = kChannels, side = kSide;
  builder.Input("x", {"N", channels, side, side}).Output("y", {"N", channels, side, side});
  std::vector<float> k(static_cast<size_t>(kChannels * kChannels * 9));
  for (size_t i = 0; i < k.size(); ++i) k[i] = static_cast<float>(i * 7 % 23) / 64 - 0.17F;
  testing::Builder::SetFloats(builder.Floats("k", {kChannels, kChannels, 3, 3}, k.size()), k);
  testing::Builder::Ints(builder.Node("Conv", {"x", "k"}, {"h"}, "first"), "pads", {1, 1, 1, 1});
  builder.Node("Relu", {"h"}, {"r"}, "relu");
  testing::Builder::Ints(builder.Node("Conv", {"r", "k"}, {"y"}, "second"), "pads", {1, 1, 1, 1});
  const std::string bytes = builder.Bytes();
  return TempFile({bytes.begin(), bytes.end()});
}

class VersionChoicesTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(kernels::onednn::Available()) << "without oneDNN there is one way of each"; }

  std::unique_ptr<Version> Load(std::shared_ptr<kernels::Choices> choices, int instances = 1) const {
    LoadOptions options;
    options.max_rows = 4;
    options.instances = instances;
    options.choices = std::move(choices);
    auto version = Version::Load(file_.path(), options);
    WF_CHECK(version.ok(), version.status().message());
    return *std::move(version);
  }

  static std::vector<float> Answer(Version& version, int64_t rows, int instance = 0) {
    const auto memory = kernels::Allocate(rows * kRow * int64_t{sizeof(float)});
    auto* const x = reinterpret_cast<float*>(memory.get());
    for (int64_t i = 0; i < rows * kRow; ++i) x[i] = static_cast<float>(i * 13 % 101) / 50 - 1;
    const std::vector<wf_tensor> in = {TensorOf(memory.get(), rows)};
    std::vector<wf_tensor> out(1);
    const base::Status ran = version.Run(instance, rows, in, out);
    WF_CHECK(ran.ok(), ran.message());
    const auto* const y = static_cast<const float*>(out[0].data);
    return {y, y + rows * kRow};
  }

  static wf_tensor TensorOf(void* data, int64_t rows) {
    wf_tensor tensor{data, WF_F32, 4, 0, 0, 0, {}, {}};
    const int64_t dim[] = {rows, kChannels, kSide, kSide}, stride[] = {kRow, kSide * kSide, kSide, 1};
    std::copy(std::begin(dim), std::end(dim), tensor.dim);
    std::copy(std::begin(stride), std::end(stride), tensor.stride);
    return tensor;
  }

  static bool Same(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
  }

  const TempFile file_ = Filters();
};

TEST_F(VersionChoicesTest, AnswersAreTheSameBitsHoweverOftenAVersionIsLoaded) {
  const auto choices = std::make_shared<kernels::Choices>();
  const auto first = Load(choices);
  const std::vector<float> one = Answer(*first, 1), three = Answer(*first, 3);
  for (int i = 0; i < 3; ++i) {
    const auto next = Load(choices);
    EXPECT_TRUE(next->Prepare(0, 3, std::vector{TensorOf(nullptr, 3)}).ok());  // which would measure what the run of the first did not
    EXPECT_TRUE(Same(Answer(*next, 1), one));
    EXPECT_TRUE(Same(Answer(*next, 3), three));
  }
}

TEST_F(VersionChoicesTest, AnotherProcessWithTheSameFileGivesTheSameBits) {
  const TempFile kept({});
  std::vector<float> answer;
  {
    const auto choices = std::make_shared<kernels::Choices>(kept.path());
    answer = Answer(*Load(choices), 1);
    ASSERT_TRUE(choices->Save().ok());
  }
  const auto again = std::make_shared<kernels::Choices>(kept.path());
  EXPECT_EQ(again->odd(), "");
  EXPECT_TRUE(Same(Answer(*Load(again), 1), answer));
}

TEST_F(VersionChoicesTest, EveryInstanceGoesTheSameWay) {
  const auto version = Load(std::make_shared<kernels::Choices>(), 4);
  const std::vector<float> wanted = Answer(*version, 2);
  std::vector<std::vector<float>> found(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&, i] { found[static_cast<size_t>(i)] = Answer(*version, 2, i); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& each : found) EXPECT_TRUE(Same(each, wanted));
}

TEST_F(VersionChoicesTest, WhatAFileSaysIsWhatRuns) {
  const TempFile kept({});
  const auto learned = std::make_shared<kernels::Choices>(kept.path());
  Load(learned);
  ASSERT_TRUE(learned->Save().ok());
  auto read = kernels::ReadChoices(kept.path(), kernels::MachineText());
  ASSERT_FALSE(read.way.empty());
  const std::string first = read.way.begin()->first;
  for (auto& [key, way] : read.way) way = "alike jit:avx512_core";
  ASSERT_TRUE(kernels::WriteChoices(kept.path(), kernels::MachineText(), read.way).ok());
  const auto version = Load(std::make_shared<kernels::Choices>(kept.path()));
  std::vector<onnx::Port> shapes = version->signature().inputs;
  shapes[0].dim[0] = onnx::Dim(1);
  const auto plan = Plan::Make(version->program(), shapes, int64_t{1} << 30);
  ASSERT_TRUE(plan.ok());
  const std::string text = (*plan)->ToString();
  const bool is_there = __builtin_cpu_supports("avx512f") != 0;
  EXPECT_EQ(text.find("onednn alike jit:avx512_core") != std::string::npos, is_there) << text << first;
}

}  // namespace
}  // namespace wf::model
