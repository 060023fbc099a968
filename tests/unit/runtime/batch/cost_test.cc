#include "runtime/batch/cost.h"

#include <gtest/gtest.h>

namespace wf::batch {
namespace {

// t(B) = fixed + B * per_row, learned for every size up to 16.
struct Curve : CostCurve {
  Curve(int64_t fixed, int64_t per_row) : CostCurve(16) {
    for (int64_t size = 1; size <= 16; size *= 2) Learn(size, fixed + size * per_row);
  }
};

TEST(CostCurveTest, RunsPowersOfTwoAndItsLimit) {
  const CostCurve curve(12);
  EXPECT_EQ(curve.SizeFor(1), 1);
  EXPECT_EQ(curve.SizeFor(3), 4);
  EXPECT_EQ(curve.SizeFor(9), 12);
  EXPECT_EQ(curve.max_rows(), 12);
}

TEST(CostCurveTest, TakesAllThatItMayWhileNothingIsMeasured) {
  const CostCurve curve(32);
  EXPECT_EQ(curve.BestRows(), 32);
  EXPECT_EQ(curve.RowsToRun(5), 5);
  EXPECT_FALSE(curve.InlinePays());
}

TEST(CostCurveTest, WhereNoTwoRowsShareARunTheBestSizeIsOne) {
  CostCurve curve(32);
  curve.set_alone(true);
  EXPECT_EQ(curve.BestRows(), 1);
  for (int64_t size = 1; size <= 32; size *= 2) curve.Learn(size, 90'000);  // a row of 32 for a thirtieth
  EXPECT_EQ(curve.BestRows(), 1);
  EXPECT_TRUE(curve.InlinePays()) << "a batch saves nothing";
  curve.set_alone(false);
  EXPECT_EQ(curve.BestRows(), 32);
  EXPECT_FALSE(curve.InlinePays());
}

TEST(CostCurveTest, NoRunHasASizeThatIsNotReady) {
  Curve curve(1'000'000, 10'000);
  for (const int64_t size : {2, 4, 8, 16}) curve.set_ready(size, false);
  EXPECT_EQ(curve.unready(), 4);
  EXPECT_EQ(curve.BestRows(), 1);
  EXPECT_EQ(curve.RowsToRun(40), 1);
  EXPECT_EQ(curve.RunSizeFor(1), 1);
  curve.set_ready(8, true);
  EXPECT_EQ(curve.BestRows(), 8);
  EXPECT_EQ(curve.RowsToRun(40), 8);
  EXPECT_EQ(curve.RowsToRun(3), 3) << "padded up, which costs less than three runs";
  EXPECT_EQ(curve.RunSizeFor(3), 8);
  EXPECT_EQ(curve.SizeFor(3), 4) << "as it will be";
  for (const int64_t size : {2, 4, 16}) curve.set_ready(size, true);
  EXPECT_EQ(curve.RunSizeFor(3), 4);
  EXPECT_EQ(curve.RowsToRun(40), 16);
}

TEST(CostCurveTest, WhereLargeRunsDoNotPayRowsRunAloneUntilSmallSizesAreReady) {
  Curve curve(1'000, 1'000'000);
  for (const int64_t size : {2, 4, 8}) curve.set_ready(size, false);
  EXPECT_EQ(curve.RowsToRun(3), 1) << "three runs of one row are cheaper than one of sixteen";
}

TEST(CostCurveTest, UntilTheFirstSizeIsReadyRowsOfAModelThatNobodyMeasuredRunAlone) {
  CostCurve curve(4);
  for (const int64_t size : {2, 4}) curve.set_ready(size, false);
  EXPECT_EQ(curve.BestRows(), 1);
  EXPECT_EQ(curve.RowsToRun(4), 1);
}

TEST(CostCurveTest, TheBestSizeIsTheSmallestNearTheMinimum) {
  EXPECT_EQ(Curve(1'000'000, 10'000).BestRows(), 16);  // overhead-bound: the more the better
  EXPECT_EQ(Curve(0, 100'000).BestRows(), 1);          // batching gains nothing
  EXPECT_EQ(Curve(100'000, 500'000).BestRows(), 4);    // 525k a row; 506k at best
}

TEST(CostCurveTest, ASizeBetweenMeasuredOnesIsNotHopedToBeBetterThanBoth) {
  CostCurve curve(32);  // attention over long inputs: what fits into the caches is as cheap as alone
  curve.Learn(1, 15'856'000);
  curve.Learn(8, 117'555'000);
  curve.Learn(32, 1'156'754'000);
  EXPECT_EQ(curve.BestRows(), 8);
  EXPECT_NEAR(static_cast<double>(curve.RunNs(16)), 464'000'000, 100'000);
  curve.Learn(16, 200'000'000);
  EXPECT_EQ(curve.BestRows(), 16) << "once it is measured so";
}

TEST(CostCurveTest, WhileTheLargestSizeAloneIsMeasuredItIsTheBest) {
  CostCurve curve(32);
  curve.Learn(32, 1'000'000);
  EXPECT_EQ(curve.BestRows(), 32);
}

TEST(CostCurveTest, ALargerSizeThanTheMeasuredOnesIsHopedToBeBetterAndSoTried) {
  CostCurve curve(32);
  curve.Learn(1, 1'000);
  EXPECT_EQ(curve.BestRows(), 8);
}

TEST(CostCurveTest, ByStepsALargerSizeIsTriedOnceTheOneBelowIsMeasured) {
  CostCurve curve(32, /*by_steps=*/true);
  EXPECT_EQ(curve.BestRows(), 1);
  curve.Learn(1, 1'000);
  EXPECT_EQ(curve.BestRows(), 2);
  curve.Learn(2, 1'100);
  EXPECT_EQ(curve.BestRows(), 4);
  curve.Learn(4, 9'000);  // not worth it, and nor is 8 then
  EXPECT_EQ(curve.BestRows(), 2);
}

TEST(CostCurveTest, PadsUpOrSplitsWhicheverIsCheaper) {
  EXPECT_EQ(Curve(1'000'000, 1'000).RowsToRun(5), 5);  // one run of 8
  EXPECT_EQ(Curve(1'000, 1'000'000).RowsToRun(5), 4);  // 4, then 1
  EXPECT_EQ(Curve(1'000, 1'000'000).RowsToRun(8), 8);
}

TEST(CostCurveTest, FollowsTheMachine) {
  CostCurve curve(4);
  curve.Learn(1, 100);
  EXPECT_EQ(curve.RunNs(1), 100);
  for (int i = 0; i < 100; ++i) curve.Learn(1, 1000);
  EXPECT_NEAR(static_cast<double>(curve.RunNs(1)), 1000, 20);
}

TEST(CostCurveTest, InlinePaysOnlyForSmallModelsThatGainNothingByBatches) {
  EXPECT_TRUE(Curve(5'000, 20'000).InlinePays());
  EXPECT_FALSE(Curve(60'000, 5'000).InlinePays());  // a batch saves 51 of 65 us
  EXPECT_FALSE(Curve(0, 200'000).InlinePays());     // too long for a loop
}

TEST(CostCurve, LearnsFromAnotherOneWhatBothRun) {
  CostCurve known(8), fresh(6);
  known.Learn(1, 10);
  known.Learn(4, 30);
  known.Learn(8, 50);
  fresh.Learn(1, 12);
  fresh.LearnFrom(known);
  EXPECT_EQ(fresh.RunNs(1), 12);
  EXPECT_FALSE(fresh.known(2));
  EXPECT_EQ(fresh.RunNs(4), 30);
  EXPECT_FALSE(fresh.known(6));
}

}  // namespace
}  // namespace wf::batch
