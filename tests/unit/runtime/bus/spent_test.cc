#include "runtime/bus/spent.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace wf::bus
