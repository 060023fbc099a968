#include "runtime/model/precision.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/unit/runtime/model/temp_file.h"
#include "tests/unit/runtime/onnx/builder.h"

namespace wf::model {
namespace {

using testing::Builder;
using testing::TempFile;

// Two files stand for the two precisions of one, so that every machine sees the same.
PrecisionFound Found(Builder& f32, Builder& bf16) {
  const base::SystemClock clock;
  std::vector<std::unique_ptr<Version>> versions;
  for (Builder* builder : {&f32, &bf16}) {
    const std::string bytes = builder->Bytes();
    const TempFile file({bytes.begin(), bytes.end()});
    auto version = Version::Load(file.path(), {});
    EXPECT_TRUE(version.ok()) << version.status().message();
    if (!version.ok()) return {};
    versions.push_back(*std::move(version));
  }
  return FindPrecision(*versions[0], *versions[1], 0, clock);
}

// y = x * factor, by way of so many products with the identity.
Builder Scaled(float factor, int times) {
  Builder builder;
  builder.Input("x", {"N", 256}).Output("y", {"N", 256});
  Builder::SetFloats(builder.Floats("factor", {1}, 1), {factor});
  std::vector<float> weights(256 * 256);
  for (size_t i = 0; i < 256; ++i) weights[i * 257] = 1;
  if (times > 0) Builder::SetFloats(builder.Floats("identity", {256, 256}, weights.size()), weights);
  builder.Node("Mul", {"x", "factor"}, {"h0"});
  for (int i = 0; i < times; ++i) builder.Node("MatMul", {"h" + std::to_string(i), "identity"}, {"h" + std::to_string(i + 1)});
  builder.Node("Identity", {"h" + std::to_string(times)}, {"y"});
  return builder;
}

TEST(FindPrecision, WhatIsNearAndFasterIsTaken) {
  Builder slow = Scaled(1, 40), fast = Scaled(1.01F, 0);
  const PrecisionFound found = Found(slow, fast);
  EXPECT_TRUE(found.bf16) << found.reason;
  EXPECT_NEAR(found.error, 0.01, 1e-4);
}

TEST(FindPrecision, WhatIsNearAndNoFasterIsNot) {
  Builder fast = Scaled(1, 0), slow = Scaled(1.01F, 40);
  const PrecisionFound found = Found(fast, slow);
  EXPECT_FALSE(found.bf16);
  EXPECT_NE(found.reason.find("times as fast, and its results are off by 0.01 of them"), std::string::npos) << found.reason;
}

TEST(FindPrecision, WhatIsFarIsNotHoweverFast) {
  Builder slow = Scaled(1, 40), fast = Scaled(1.03F, 0);
  const PrecisionFound found = Found(slow, fast);
  EXPECT_FALSE(found.bf16);
  EXPECT_EQ(found.reason, "output `y` differs by 0.03 of it, more than 0.02");
}

TEST(FindPrecision, WhatDependsOnDataIsNotRun) {
  Builder builder;
  builder.Input("x", {3, 4}).Output("y", {2, "found"}, onnx::pb::INT64);
  builder.Node("NonZero", {"x"}, {"y"});
  EXPECT_EQ(Found(builder, builder).reason, "what it does, and whether it ends, depends on its inputs");
}

TEST(FindPrecision, IntegersHaveToBeTheSame) {
  const auto place_of = [](const char* which) {
    Builder builder;
    builder.Input("x", {"N", 4}).Output("y", {"N", 1}, onnx::pb::INT64);
    Builder::Int(builder.Node(which, {"x"}, {"y"}), "axis", 1);
    return builder;
  };
  Builder largest = place_of("ArgMax"), smallest = place_of("ArgMin");
  EXPECT_EQ(Found(largest, smallest).reason, "output `y`, of integers, is another one");
  EXPECT_EQ(Found(largest, largest).error, 0);
}

}  // namespace
}  // namespace wf::model
