#include "runtime/base/thread.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <string>

namespace wf::base {
namespace {

TEST(Thread, HasItsNameAndAStackForTheHandlerOfCrashes) {
  std::string name;
  stack_t stack{};
  Thread thread("wf-some", [&] {
    char text[16];
    pthread_getname_np(pthread_self(), text, sizeof text);
    name = text;
    sigaltstack(nullptr, &stack);
  });
  thread.Join();
  EXPECT_EQ(name, "wf-some");
  EXPECT_EQ(stack.ss_flags & SS_DISABLE, 0);
  EXPECT_GE(stack.ss_size, size_t{64} * 1024);
}

TEST(Thread, HasAStackAsLargeAsAskedFor) {
  constexpr size_t kBytes = size_t{64} << 20;
  size_t bytes = 0;
  Thread thread;
  ASSERT_TRUE(thread.TryStart(
      "wf-deep",
      [&] {
        pthread_attr_t attributes;
        pthread_getattr_np(pthread_self(), &attributes);
        pthread_attr_getstacksize(&attributes, &bytes);
        pthread_attr_destroy(&attributes);
      },
      kBytes));
  thread.Join();
  EXPECT_EQ(bytes, kBytes);
}

// Stacks larger than the address space: the system gives none.
void AskForTooMuch() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t{1} << 50);
  pthread_setattr_default_np(&attributes);
}

TEST(Thread, OneThatTheSystemDoesNotGiveEndsTheProcessUnlessItCanBeDoneWithout) {
  EXPECT_EXIT(
      {
        AskForTooMuch();
        if (Thread tried; tried.TryStart("wf-tried", [] {})) _exit(2);
        Thread("wf-some", [] {}).Join();
      },
      testing::ExitedWithCode(1), "cannot start the thread wf-some: resource temporarily unavailable");
}

}  // namespace
}  // namespace wf::base
