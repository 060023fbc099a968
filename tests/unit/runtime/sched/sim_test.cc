#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/unit/support/sim_world.h"

namespace wf::test {
namespace {

// WF_SIM_SEED=n runs that seed alone; WF_SIM_SEEDS=n that many.
uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

struct Sums {
  uint64_t answered = 0, succeeded = 0, batches_of_several = 0;
};

void RunSeeds(uint64_t first, uint64_t count, bool with_faults, Sums* sums) {
  for (uint64_t seed = first; seed < first + count; ++seed) {
    SimWorld world({.seed = seed, .with_faults = with_faults});
    ASSERT_EQ(world.Run(), "") << "repeat with WF_SIM_SEED=" << seed;
    sums->answered += world.answered();
    sums->succeeded += world.succeeded();
    sums->batches_of_several += world.batches_of_several();
  }
}

TEST(Simulation, EveryScheduleAnswersAsTheInterpreterDoes) {
  const uint64_t only = FromEnvironment("WF_SIM_SEED", 0);
  const uint64_t seeds = only != 0 ? 1 : FromEnvironment("WF_SIM_SEEDS", 1800);
  Sums sums;
  RunSeeds(only != 0 ? only : 1, seeds, false, &sums);
  if (only != 0 || HasFatalFailure()) return;
  EXPECT_GT(sums.answered, seeds * 16);            // the worlds are not idle
  EXPECT_GT(sums.succeeded, sums.answered / 5);    // nor all failures
  EXPECT_GT(sums.batches_of_several, seeds / 10);  // and requests do share batches
}

TEST(Simulation, HoldsItsInvariantsWhenMemoryIsRefused) {
  const uint64_t only = FromEnvironment("WF_SIM_SEED", 0);
  Sums sums;
  RunSeeds(only != 0 ? only : 1'000'000, only != 0 ? 1 : FromEnvironment("WF_SIM_SEEDS", 400), true, &sums);
}

TEST(Simulation, TheSameSeedTakesTheSameSteps) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    uint64_t hashes[2];
    for (uint64_t& hash : hashes) {
      SimWorld world({.seed = seed});
      ASSERT_EQ(world.Run(), "");
      hash = world.trace_hash();
    }
    EXPECT_EQ(hashes[0], hashes[1]) << seed;
  }
}

}  // namespace
}  // namespace wf::test
