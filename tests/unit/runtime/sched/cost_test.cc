// What a request costs: a program of its own, because it counts every allocation of the process.

#include <gtest/gtest.h>

#include <cstdio>

#include "runtime/base/clock.h"
#include "runtime/bus/memory.h"
#include "runtime/sched/catalogue.h"
#include "runtime/sched/engine.h"
#include "tests/unit/support/count_new.h"
#include "tests/unit/support/plan_builder.h"
#include "tests/unit/support/rig.h"

namespace wf::sched {
namespace {

struct Answering final : bus::Client {
  void OnAnswered(bus::Bus& bus) noexcept override {
    failures += bus.failure() != nullptr;
    engine->Release(bus);
  }
  void OnDrained(bus::Bus&) noexcept override { ++drained; }
  Engine* engine = nullptr;
  int64_t drained = 0, failures = 0;
};

// A pipeline of `nodes` trivial nodes; ns per request, and the allocations of all after the first thousand.
struct Measured {
  double ns;
  int64_t allocations;
};

Measured RunPipeline(int nodes, int requests) {
  test::PlanBuilder builder;
  const int root = builder.Region(), in = builder.Slot(root, test::Kind::kInt), out = builder.Slot(root, test::Kind::kInt);
  int value = in;
  for (int i = 0; i < nodes; ++i) {
    const int next = builder.Slot(root, test::Kind::kInt);
    builder.Run(root, {value}, next);
    value = next;
  }
  builder.Return(root, {value});
  builder.Workflow(root, {in}, {out});
  const wf_plan& plan = builder.Finish(true);
  const bus::PlanIndex index(plan);
  const base::SystemClock clock;
  test::CountingWaker waker;
  base::Mailbox mailbox(waker);
  test::ListQueue queue;
  bus::ChunkMemory memory;
  Answering client;
  Engine engine(plan, index, {clock, mailbox, queue, memory}, {.schedule = Schedule::kInline});
  client.engine = &engine;
  const Catalogue catalogue(1, plan.n_tasks);
  engine.SetCatalogue(catalogue);
  const auto run = [&](int count) {
    for (int i = 0; i < count; ++i) {
      engine.OnPoll();
      bus::Bus* const bus = engine.Create({.workflow = plan.workflows, .client = &client});
      bus->deadline_ = INT64_MAX;
      test::WriteInt(plan, plan.workflows->in[0].slot, bus->frame(), i);
      engine.Start(*bus);
    }
  };
  run(2000);
  const int64_t before = test::Allocations();
  const base::TimePoint started = clock.Now();
  run(requests);
  const double ns = static_cast<double>(clock.Now() - started) / requests;
  EXPECT_EQ(client.failures, 0);
  EXPECT_TRUE(queue.jobs.empty());
  return {ns, test::Allocations() - before};
}

TEST(CostTest, ARequestAllocatesNothingInSteadyState) {
  for (const int nodes : {1, 10, 100}) EXPECT_EQ(RunPipeline(nodes, 1000).allocations, 0) << nodes;
}

// Printed, and held only against gross mistakes: machines and sanitizers differ. scripts/bench has the figures that count.
TEST(CostTest, ATrivialRequestStaysFarBelowAMicrosecondsWorkPerNode) {
  const Measured one = RunPipeline(1, 20'000), hundred = RunPipeline(100, 2'000);
  RecordProperty("request_ns", static_cast<int>(one.ns));
  RecordProperty("node_ns", static_cast<int>((hundred.ns - one.ns) / 99));
  std::printf("request %.0f ns, each further node %.0f ns\n", one.ns, (hundred.ns - one.ns) / 99);
  EXPECT_LT(one.ns, 100'000);
}

}  // namespace
}  // namespace wf::sched
