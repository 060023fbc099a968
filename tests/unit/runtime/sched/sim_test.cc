#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "runtime/observe/log.h"
#include "tests/unit/support/sim_world.h"
#include "tests/unit/support/wire_world.h"

namespace wf::test {
namespace {

// WF_SIM_SEED=n runs that seed alone; WF_SIM_SEEDS=n that many.
uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}
uint64_t only() { return FromEnvironment("WF_SIM_SEED", 0); }

// 10,000 worlds in all, fewer where each costs five times as much.
#if defined(WF_ADDRESS_SANITIZER) || defined(WF_THREAD_SANITIZER)
constexpr uint64_t kWorlds = 1'600, kWorldsWithFaults = 400, kWires = 1'400, kWiresWithFaults = 600;
#else
constexpr uint64_t kWorlds = 4'500, kWorldsWithFaults = 1'500, kWires = 2'500, kWiresWithFaults = 1'500;
#endif

struct Sums {
  uint64_t seeds = 0, answered = 0, succeeded = 0, inferred = 0, batches_of_several = 0;
};

template <typename World>
void RunSeeds(uint64_t first, uint64_t count, bool with_faults, Sums* sums) {
  observe::SetLogLevel(observe::Level::kError);  // requests fail by the thousand
  sums->seeds = only() != 0 ? 1 : FromEnvironment("WF_SIM_SEEDS", count);
  if (only() != 0) first = only();
  for (uint64_t seed = first; seed < first + sums->seeds; ++seed) {
    std::string broken;
    // On a thread of its own: what threads keep for the next time would make allocations, and what fails, depend on the seeds before.
    std::thread([&] {
      World world({.seed = seed, .with_faults = with_faults});
      broken = world.Run();
      sums->answered += world.answered();
      sums->succeeded += world.succeeded();
      sums->inferred += world.inferred();
      sums->batches_of_several += world.batches_of_several();
    }).join();
    ASSERT_EQ(broken, "") << "repeat with WF_SIM_SEED=" << seed;
  }
}

template <typename World>
void ExpectTheSameSteps(bool with_faults) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    uint64_t hashes[2];
    for (uint64_t& hash : hashes) {
      std::string broken;
      std::thread([&] {
        World world({.seed = seed, .with_faults = with_faults});
        broken = world.Run();
        hash = world.trace_hash();
      }).join();
      ASSERT_EQ(broken, "") << seed;
    }
    EXPECT_EQ(hashes[0], hashes[1]) << seed;
  }
}

TEST(Simulation, EveryScheduleAnswersAsTheInterpreterDoes) {
  Sums sums;
  RunSeeds<SimWorld>(1, kWorlds, false, &sums);
  if (only() != 0 || HasFatalFailure()) return;
  EXPECT_GT(sums.answered, sums.seeds * 16);            // the worlds are not idle
  EXPECT_GT(sums.succeeded, sums.answered / 5);         // nor all failures
  EXPECT_GT(sums.batches_of_several, sums.seeds / 10);  // and requests do share batches
}

TEST(Simulation, HoldsItsInvariantsWhenMemoryIsRefused) {
  Sums sums;
  RunSeeds<SimWorld>(1'000'000, kWorldsWithFaults, true, &sums);
  if (only() != 0 || HasFatalFailure()) return;
  EXPECT_GT(sums.answered, sums.seeds * 5);
  EXPECT_GT(sums.succeeded, sums.answered / 10);
}

TEST(Simulation, TheSameSeedTakesTheSameSteps) {
  ExpectTheSameSteps<SimWorld>(false);
  ExpectTheSameSteps<SimWorld>(true);
}

TEST(Wires, EveryRequestIsAnsweredInItsTurnWhateverBytesDo) {
  Sums sums;
  RunSeeds<WireWorld>(1, kWires, false, &sums);
  if (only() != 0 || HasFatalFailure()) return;
  EXPECT_GT(sums.answered, sums.seeds * 10);
  EXPECT_GT(sums.succeeded, sums.answered / 5);
  EXPECT_GT(sums.inferred, sums.succeeded / 4);
  EXPECT_GT(sums.batches_of_several, sums.seeds / 20);
}

TEST(Wires, HoldTheirInvariantsWhenMemoryIsRefused) {
  Sums sums;
  RunSeeds<WireWorld>(1'000'000, kWiresWithFaults, true, &sums);
  if (only() != 0 || HasFatalFailure()) return;
  EXPECT_GT(sums.answered, sums.seeds * 5);
}

TEST(Wires, TheSameSeedTakesTheSameSteps) {
  ExpectTheSameSteps<WireWorld>(false);
  ExpectTheSameSteps<WireWorld>(true);
}

}  // namespace
}  // namespace wf::test
