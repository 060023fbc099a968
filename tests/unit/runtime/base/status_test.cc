#include "runtime/base/status.h"

#include <gtest/gtest.h>

#include <memory>

#include "runtime/base/clock.h"

namespace wf::base {
namespace {

Status FailsWhen(bool fail) { return fail ? Status(kNotFound, "no such file `x`") : Status::Ok(); }

Result<int> Doubled(bool fail) {
  WF_RETURN_IF_ERROR(FailsWhen(fail));
  return 2;
}

TEST(Status, OkUnlessToldOtherwise) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(FailsWhen(true).code(), kNotFound);
  EXPECT_EQ(FailsWhen(true).message(), "no such file `x`");
}

TEST(Status, CodesHaveHttpNumbers) {
  EXPECT_EQ(HttpStatus(kResourceExhausted), 429);
  EXPECT_EQ(HttpStatus(kInvalidArgument), 400);
  EXPECT_EQ(HttpStatus(kOk), 200);
}

TEST(Result, HoldsAValueOrAStatus) {
  EXPECT_EQ(*Doubled(false), 2);
  const Result<int> failed = Doubled(true);
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().code(), kNotFound);
}

TEST(Result, MovesItsValueOut) {
  Result<std::unique_ptr<int>> result(std::make_unique<int>(7));
  const std::unique_ptr<int> value = *std::move(result);
  EXPECT_EQ(*value, 7);
}

TEST(ResultDeathTest, ReadingAMissingValueAborts) {
  const Result<int> failed = Doubled(true);
  EXPECT_DEATH((void)*failed, "check failed.*no such file");
}

TEST(CheckDeathTest, PrintsConditionValuesAndContext) {
  const int rows = 3;
  EXPECT_DEATH(
      {
        const CheckContext context("pass fold");
        WF_CHECK(rows < 2, rows);
      },
      "rows < 2 with 3; while in:\n  pass fold");
}

TEST(SystemClock, DoesNotRunBackwards) {
  const SystemClock clock;
  const TimePoint first = clock.Now();
  EXPECT_LE(first, clock.Now());
}

}  // namespace
}  // namespace wf::base
