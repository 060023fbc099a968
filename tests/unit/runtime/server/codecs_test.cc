#include "runtime/server/codecs.h"

#include <gtest/gtest.h>

namespace wf::server {
namespace {

struct NoWaker final : base::Waker {
  void Wake() noexcept override {}
};

struct Note final : CodecQueue::Work {
  void Run() noexcept override { ran_on = pthread_self(); }
  void Deliver() noexcept override { delivered = true; }
  pthread_t ran_on = 0;
  bool delivered = false;
};

// Threads cannot be had while their stacks are to be larger than the address space.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, size_t{1} << 60);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_;
};

TEST(Codecs, WorkIsDoneAtOnceWhereTheSystemGivesNoThread) {
  NoWaker waker;
  base::Mailbox mailbox(waker);
  Note here, elsewhere;
  here.home = elsewhere.home = &mailbox;
  {
    Codecs codecs(1);
    {
      const NoThreads none;
      codecs.Push(here);
    }
    EXPECT_TRUE(pthread_equal(here.ran_on, pthread_self()));
    codecs.Push(elsewhere);
  }
  EXPECT_NE(elsewhere.ran_on, pthread_t{});
  EXPECT_FALSE(pthread_equal(elsewhere.ran_on, pthread_self()));
  mailbox.Drain();
  EXPECT_TRUE(here.delivered && elsewhere.delivered);
}

}  // namespace
}  // namespace wf::server
