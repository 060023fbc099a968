#include "runtime/server/codecs.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "runtime/base/sink.h"

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

// Ends when all of them run at once, or when that will not happen.
struct Together final : CodecQueue::Work {
  Together(std::atomic<int>& count, int wanted) : running(count), all(wanted) {}
  void Run() noexcept override {
    ++running;
    for (int i = 0; i < 2000 && running < all; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    met = running >= all;
  }
  void Deliver() noexcept override {}
  std::atomic<int>& running;
  const int all;
  bool met = false;
};

// Does the thread of that name wait for work?
bool Rests(const std::string& name) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string found, stat;
    std::getline(std::ifstream(task.path() / "comm"), found);
    std::getline(std::ifstream(task.path() / "stat"), stat);
    if (found == name) return stat.find(") S ") != std::string::npos;
  }
  return false;
}

TEST(Codecs, WhatNobodyWantsAnyMoreIsDeliveredUndone) {
  NoWaker waker;
  base::Mailbox mailbox(waker);
  std::atomic<int> running{0};
  Together busy(running, 2);  // holds the one thread while the others are pushed
  Note wanted, unwanted;
  busy.home = wanted.home = unwanted.home = &mailbox;
  {
    Codecs codecs(1);
    codecs.Push(busy);
    while (running == 0) std::this_thread::yield();
    codecs.Push(unwanted);
    codecs.Push(wanted);
    unwanted.Abandon();
    ++running;
  }
  mailbox.Drain();
  EXPECT_TRUE(wanted.delivered && unwanted.delivered);
  EXPECT_NE(wanted.ran_on, pthread_t{});
  EXPECT_EQ(unwanted.ran_on, pthread_t{});
}

TEST(Codecs, WorkOfOneTurnRunsSideBySide) {
  NoWaker waker;
  base::Mailbox mailbox(waker);
  std::atomic<int> running{0};
  Together first(running, 1), a(running, 3), b(running, 3);
  first.home = a.home = b.home = &mailbox;
  {
    Codecs codecs(4);
    codecs.Push(first);
    while (running == 0 || !Rests("wf-codec")) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    codecs.Push(a);
    codecs.Push(b);
  }
  EXPECT_TRUE(a.met && b.met);
  mailbox.Drain();
}

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

// Fills a text that one mapped block holds, which its thread keeps.
struct Long final : CodecQueue::Work {
  void Run() noexcept override {
    wf_sink text;
    const std::string part(wf_sink::kMaxReserve, 'x');
    while (text.size() < 2 * wf_sink::kSmallBytes) text.Put(part);
    at = text.Pieces().back().data;
  }
  void Deliver() noexcept override {}
  const uint8_t* at = nullptr;
};

bool IsMapped(const uint8_t* at) {
  constexpr uintptr_t kPage = 4096;
  unsigned char there = 0;
  return mincore(reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(at) / kPage * kPage), 1, &there) == 0;
}

TEST(Codecs, ThreadsThatRestDropWhatTheyKeep) {
  NoWaker waker;
  base::Mailbox mailbox(waker);
  Long work;
  work.home = &mailbox;
  Codecs codecs(1);
  codecs.Push(work);
  while (!mailbox.Drain()) std::this_thread::yield();
  ASSERT_TRUE(IsMapped(work.at)) << "it is kept for the next text";
  codecs.DropKept();
  for (int i = 0; i < 5000 && IsMapped(work.at); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(IsMapped(work.at));
}

}  // namespace
}  // namespace wf::server
