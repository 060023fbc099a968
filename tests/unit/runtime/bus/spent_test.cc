#include "runtime/bus/spent.h"

#include <gtest/gtest.h>

#include <vector>

namespace wf::bus {
namespace {

TEST(Spent, CountsWhatFollowsInOrderWhole) {
  Spent spent(100);
  spent.Wait(110, 130);
  spent.Run(130, 145);
  spent.Run(150, 155);
  EXPECT_EQ(spent.queue_ns(), 20);
  EXPECT_EQ(spent.compute_ns(), 20);
}

TEST(Spent, BeginsWithTheBodyAndEndsWithTheAnswer) {
  Spent spent(100);
  spent.Read(130);
  spent.Run(120, 150);
  spent.Write(140, 155);
  EXPECT_EQ(spent.input_ns(), 30);
  EXPECT_EQ(spent.compute_ns(), 20);
  EXPECT_EQ(spent.output_ns(), 5);
}

TEST(Spent, CountsAMomentOnceForWhatWasToldFirst) {
  Spent spent(100);
  spent.Wait(100, 110);
  spent.Run(110, 120);
  spent.Wait(100, 120);  // of a row beside it
  spent.Run(115, 130);
  spent.Run(90, 100);
  EXPECT_EQ(spent.queue_ns(), 10);
  EXPECT_EQ(spent.compute_ns(), 20);
}

TEST(Spent, CountsNothingOfBeforeTheRequest) {
  Spent spent(100);
  spent.Wait(0, 110);
  EXPECT_EQ(spent.queue_ns(), 10);
}

TEST(Spent, RowsHaveEqualPartsInTheirRuns) {
  Spent spent(0);
  for (int row = 0; row < 3; ++row) spent.TakePart(4, 100);
  spent.TakePart(1, 30);
  std::vector<Spent::Runs> seen;
  spent.ForRuns([&](const Spent::Runs& runs) { seen.push_back(runs); });
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].batch_rows, 4u);
  EXPECT_EQ(seen[0].rows, 3u);
  EXPECT_EQ(seen[0].count, 0.75);
  EXPECT_EQ(seen[0].ns, 75);
  EXPECT_EQ(seen[1].batch_rows, 1u);
  EXPECT_EQ(seen[1].count, 1);
}

TEST(Spent, BeyondSomeSizesRunsAreCountedTogether) {
  Spent spent(0);
  double expected = 0;
  for (const uint32_t size : {1, 2, 4, 8, 16, 32, 8, 1}) {
    spent.TakePart(size, 64);
    expected += 1.0 / size;
  }
  double count = 0;
  uint32_t rows = 0, last = 1;
  spent.ForRuns([&](const Spent::Runs& runs) {
    count += runs.count;
    rows += runs.rows;
    last = runs.batch_rows;
  });
  EXPECT_DOUBLE_EQ(count, expected);
  EXPECT_EQ(rows, 8u);
  EXPECT_EQ(last, 0u);
}

}  // namespace
}  // namespace wf::bus
