#include "runtime/server/worker.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

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
  EXPECT_EQ(worker.front().connections(), 3U);
  worker.Close();
  EXPECT_EQ(worker.front().connections(), 0U);
  for (const auto& pair : ends) close(pair[1]);
}

}  // namespace
}  // namespace wf::server
