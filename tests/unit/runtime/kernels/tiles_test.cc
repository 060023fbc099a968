#include "runtime/kernels/tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "runtime/base/mutex.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/ref.h"
#include "runtime/kernels/team.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels {
namespace {

using testing::Constant;
using testing::Random;
using testing::RunKernel;
using testing::Tensor;

TEST(Team, EachPartIsDoneOnce) {
  Team team(3);
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> done[17] = {};
    team.Run(17, [](void* data, int i) { ++static_cast<std::atomic<int>*>(data)[i]; }, done);
    for (const auto& each : done) EXPECT_EQ(each, 1);
  }
}

TEST(Team, OthersThanTheLeaderHelp) {
  struct Seen {
    base::Mutex mutex;
    std::set<std::thread::id> who;
    std::atomic<int> here{0};
  } seen;
  Team team(1);
  const auto meet = [](void* data, int) {  // ends when both are there
    auto& at = *static_cast<Seen*>(data);
    {
      const base::MutexLock lock(at.mutex);
      at.who.insert(std::this_thread::get_id());
    }
    ++at.here;
    while (at.here < 2) std::this_thread::yield();
  };
  team.Run(2, meet, &seen);
  EXPECT_EQ(seen.who.size(), 2U);
}

TEST(Team, OfNobodyTheLeaderDoesAll) {
  Team team(0);
  int done = 0;
  team.Run(5, [](void* data, int) { ++*static_cast<int*>(data); }, &done);
  EXPECT_EQ(done, 5);
}

// How many of so many kernels, which put 0 in the place of what is less, leave something below it.
int CountWithoutRelu(int kernels) {
  UseOneThread();
  const Tensor weights = Constant(Random({128, 256}, 2));
  int wrong = 0;
  for (int i = 0; i < kernels; ++i) {
    const int64_t rows = 1 + i % 32;
    const auto products =
        RunKernel(nullptr, MatMul{false, false, 1, 1, {UnaryOp::kRelu}}, {Random({rows, 128}, 1), weights}, WF_F32, {rows, 256})
            .out.As<float>();
    wrong += std::any_of(products.begin(), products.end(), [](float x) { return x < 0; }) ? 1 : 0;
  }
  return wrong;
}

TEST(Library, KernelsKeepWhatRunsBehindThemWhileItsCodeIsFreed) {
  std::atomic<int> working{3}, wrong{0};
  std::vector<std::thread> makers;
  for (int i = 0; i < 3; ++i) {
    makers.emplace_back([&] {
      wrong += CountWithoutRelu(400);
      --working;
    });
  }
  while (working > 0) {
    FreeUnheld();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (std::thread& maker : makers) maker.join();
  EXPECT_EQ(wrong, 0);
}

struct Case {
  std::string name;
  Params params;
  std::vector<Tensor> in;
  std::vector<int64_t> out;
  MakeFn ref;
};

std::vector<Case> Cases() {
  const Conv image{{1, 1}, {1, 1}, {1, 1}, 1, {UnaryOp::kRelu}}, strided{{2, 2}, {1, 1}, {0, 1}, 1, {}},
      each{{1, 1}, {1, 1}, {1, 1}, 64, {}};
  std::vector<Case> cases = {
      {"rows of an image",
       image,
       {Random({1, 64, 33, 31}, 1), Constant(Random({64, 64, 3, 3}, 2)), Constant(Random({64}, 3))},
       {1, 64, 33, 31},
       ref::MakeConv},
      {"every second row", strided, {Random({1, 32, 65, 64}, 1), Constant(Random({64, 32, 3, 3}, 2))}, {1, 64, 32, 32}, ref::MakeConv},
      {"each channel", each, {Random({1, 64, 96, 96}, 1), Constant(Random({64, 1, 3, 3}, 2))}, {1, 64, 96, 96}, ref::MakeConv},
      {"images", image, {Random({5, 16, 24, 24}, 1), Constant(Random({48, 16, 3, 3}, 2))}, {5, 48, 24, 24}, ref::MakeConv},
      {"product",
       MatMul{false, true, 1, 1, {UnaryOp::kGelu}},
       {Random({2, 33, 128}, 1), Constant(Random({512, 128}, 2)), Constant(Random({512}, 3))},
       {2, 33, 512},
       ref::MakeMatMul},
      {"function", Unary{UnaryOp::kSigmoid}, {Random({3, 257, 201}, 1)}, {3, 257, 201}, ref::MakeUnary},
      {"rows that are normalised",
       LayerNorm{.axis = 2},
       {Random({2, 300, 256}, 1), Constant(Random({256}, 2)), Constant(Random({256}, 3)), Random({2, 300, 256}, 4)},
       {2, 300, 256},
       ref::MakeLayerNorm},
  };
  Attention attention;
  attention.heads = attention.kv_heads = 4;
  attention.size = attention.v_size = 32;
  attention.scale = 0.2F;
  attention.total = 140;
  cases.push_back({"rows of q",
                   attention,
                   {Random({1, 150, 128}, 1), Random({1, 140, 128}, 2), Random({1, 140, 128}, 3)},
                   {1, 150, 128},
                   ref::MakeAttention});
  Case joined = cases[0];
  joined.name = "with an addend";
  joined.in.push_back(Random(joined.out, 4));
  cases.push_back(joined);
  return cases;
}

bool in_bf16 = false;  // makers capture nothing
base::Result<std::unique_ptr<Kernel>> MakeTiled(const Operation& operation) {
  Operation asked = operation;
  asked.bf16 = asked.bf16_out = in_bf16;
  return MakeTiles(asked, 3, MakeKernel);
}

void ExpectNear(const Tensor& is, const Tensor& wanted, float tolerance, const std::string& name) {
  const std::vector<float> a = is.As<float>(), b = wanted.As<float>();
  ASSERT_EQ(a.size(), b.size()) << name;
  double apart = 0, whole = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    apart += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    whole += std::pow(static_cast<double>(b[i]), 2);
  }
  EXPECT_LT(std::sqrt(apart / whole), static_cast<double>(tolerance)) << name;
}

// Without AVX-512 oneDNN may want tiles in layouts of their own, which cannot be joined.
bool MayStayWhole() { return __builtin_cpu_supports("avx512f") == 0; }

TEST(Tiles, TogetherTheyAreTheWhole) {
  ASSERT_TRUE(onednn::Available());
  for (in_bf16 = false;; in_bf16 = true) {
    for (const Case& each : Cases()) {
      const Tensor wanted = RunKernel(each.ref, each.params, each.in, WF_F32, each.out).out;
      const auto outcome = RunKernel(MakeTiled, each.params, each.in, WF_F32, each.out);
      if (!outcome.made && MayStayWhole()) continue;
      ASSERT_TRUE(outcome.made) << each.name;
      ExpectNear(outcome.out, wanted, in_bf16 && MultipliesBf16() ? 2e-2F : 1e-5F, each.name);
    }
    if (in_bf16) break;
  }
}

TEST(Tiles, WhoHelpsDoesNotChangeTheBits) {
  Team team(2);
  for (in_bf16 = false;; in_bf16 = true) {
    for (const Case& each : Cases()) {
      const auto outcome = RunKernel(MakeTiled, each.params, each.in, WF_F32, each.out);
      if (!outcome.made && MayStayWhole()) continue;
      ASSERT_TRUE(outcome.made) << each.name;
      const std::vector<float> alone = outcome.out.As<float>();
      const TeamScope helped(&team);
      for (int round = 0; round < 3; ++round)
        EXPECT_EQ(RunKernel(MakeTiled, each.params, each.in, WF_F32, each.out).out.As<float>(), alone) << each.name;
    }
    if (in_bf16) break;
  }
}

TEST(Tiles, WhatIsSmallOrNotCutStaysWhole) {
  in_bf16 = false;
  const Conv image{{1, 1}, {1, 1}, {1, 1}, 1, {}};
  EXPECT_FALSE(RunKernel(MakeTiled, image, {Random({1, 8, 9, 9}, 1), Constant(Random({8, 8, 3, 3}, 2))}, WF_F32, {1, 8, 9, 9}).made);
  EXPECT_FALSE(RunKernel(MakeTiled, MatMul{}, {Random({256, 256}, 1), Random({256, 256}, 2)}, WF_F32, {256, 256}).made);
  EXPECT_FALSE(RunKernel(MakeTiled, Softmax{1, 2}, {Random({512, 512}, 1)}, WF_F32, {512, 512}).made);
}

}  // namespace
}  // namespace wf::kernels
