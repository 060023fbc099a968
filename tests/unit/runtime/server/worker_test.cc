#include "runtime/server/worker.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "runtime/bus/memory.h"
#include "runtime/bus/plan_index.h"
#include "runtime/sched/worker_pool.h"
#include "runtime/server/http1_session.h"
#include "tests/unit/support/fake_clock.h"

extern "C" const wf_plan wf_plan_main;

namespace wf::server {
namespace {

TEST(Worker, AConnectionCountsFromTheMomentItIsHandedOver) {
  const Router router(wf_plan_main);
  const oip::Names names(wf_plan_main);
  const base::SystemClock clock;
  Shared shared{wf_plan_main, router, names, clock};
  shared.loops.push_back(std::make_unique<LoopCounts>(wf_plan_main.n_workflows, router.services()));
  Worker worker(shared, {});
  ASSERT_TRUE(worker.Open().ok());
  int ends[3][2];
  for (uint64_t i = 0; i < 3; ++i) {
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends[i]), 0);
    EXPECT_EQ(worker.load(), i);
    worker.Adopt(ends[i][0]);
  }
  EXPECT_EQ(worker.load(), 3U);
  worker.mailbox().Drain();
  EXPECT_EQ(worker.load(), 3U);
  char byte;
  for (const auto& pair : ends) EXPECT_EQ(recv(pair[1], &byte, 1, 0), -1);
  worker.Close();
  for (const auto& pair : ends) {
    EXPECT_EQ(recv(pair[1], &byte, 1, 0), 0);
    close(pair[1]);
  }
}

TEST(Worker, IsNotIdleWhileAConnectionIsOnItsWayAndReadsItBeforeItCloses) {
  const Router router(wf_plan_main);
  const oip::Names names(wf_plan_main);
  test::FakeClock clock;
  Shared shared{wf_plan_main, router, names, clock};
  shared.loops.push_back(std::make_unique<LoopCounts>(wf_plan_main.n_workflows, router.services()));
  const bus::PlanIndex index(wf_plan_main);
  bus::ChunkMemory memory(1 << 20);
  sched::WorkerPoolOptions threads;
  threads.threads = 1;
  sched::WorkerPool pool(threads, clock);
  Worker worker(shared, {});
  ASSERT_TRUE(worker.Open().ok());
  worker.front().MakeEngine(index, {clock, worker.mailbox(), pool, memory}, {});
  EXPECT_FALSE(worker.idle());
  worker.front().BeginDrain();
  clock.AdvanceNs(kDrainTickNs);
  worker.front().OnTime();
  EXPECT_TRUE(worker.idle());
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  clock.AdvanceNs(kDrainTickNs);
  worker.Adopt(ends[0]);
  EXPECT_FALSE(worker.idle());
  worker.mailbox().Drain();
  EXPECT_FALSE(worker.idle());
  worker.front().OnTime();  // a tick would have been due: too early for this connection
  worker.front().OnFlush();
  char byte;
  EXPECT_EQ(recv(ends[1], &byte, 1, 0), -1);
  for (int tick = 0; tick < Http1Session::kIdleTicks; ++tick) {
    EXPECT_EQ(recv(ends[1], &byte, 1, 0), -1) << tick;
    clock.AdvanceNs(kDrainTickNs);
    worker.front().OnTime();
    worker.front().OnFlush();
  }
  EXPECT_EQ(recv(ends[1], &byte, 1, 0), 0);
  worker.Close();
  worker.front().OnTime();
  close(ends[1]);
}

TEST(Worker, EveryProbeTellsOfALoopThatStandsStill) {
  const Router router(wf_plan_main);
  const oip::Names names(wf_plan_main);
  const base::SystemClock clock;
  Shared shared{wf_plan_main, router, names, clock};
  shared.loops.push_back(std::make_unique<LoopCounts>(wf_plan_main.n_workflows, router.services()));
  std::atomic<bool> all_turn{true};
  shared.all_turn = [&all_turn] { return all_turn.load(); };
  const bus::PlanIndex index(wf_plan_main);
  bus::ChunkMemory memory(1 << 20);
  sched::WorkerPoolOptions threads;
  threads.threads = 1;
  sched::WorkerPool pool(threads, clock);
  const Configuration configuration(1, wf_plan_main, LoadSettings({.plan = &wf_plan_main}).settings, 1);
  Worker worker(shared, {});
  ASSERT_TRUE(worker.Open().ok());
  worker.front().MakeEngine(index, {clock, worker.mailbox(), pool, memory}, {});
  worker.Use(configuration);
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  ASSERT_EQ(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
  worker.Run();
  worker.Adopt(ends[0]);
  const auto status_of = [&ends](const std::string& path) {
    const std::string request = "GET " + path + " HTTP/1.1\r\nhost: t\r\n\r\n";
    EXPECT_EQ(send(ends[1], request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
    char answer[4096];
    const ssize_t size = recv(ends[1], answer, sizeof(answer), 0);
    return std::string(answer, static_cast<size_t>(std::max<ssize_t>(size, 0))).substr(9, 3);
  };
  for (const std::string path : {"/livez", "/v2/health/live"}) {
    all_turn = true;
    EXPECT_EQ(status_of(path), "200") << path;
    all_turn = false;
    EXPECT_EQ(status_of(path), "503") << path;
  }
  worker.Stop();
  worker.Join();
  worker.Close();
  close(ends[1]);
}

}  // namespace
}  // namespace wf::server
