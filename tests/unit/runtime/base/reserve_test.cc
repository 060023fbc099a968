#include "runtime/base/reserve.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <new>
#include <thread>

namespace wf::base {
namespace {

TEST(Reserve, IsGivenUpOnceAndPutByAgain) {
  ASSERT_TRUE(Reserve::Keep());
  EXPECT_FALSE(Reserve::memory_is_short());
  EXPECT_FALSE(Reserve::Refill());
  for (int i = 0; i < 3; ++i) {
    std::get_new_handler()();
    EXPECT_TRUE(Reserve::memory_is_short());
    std::thread([] { std::get_new_handler()(); }).join();  // failed before it was given up, and may try again
    EXPECT_TRUE(Reserve::Refill());
    EXPECT_FALSE(Reserve::memory_is_short());
  }
  std::set_new_handler(nullptr);
}

TEST(Reserve, IsTheLastThatThereIs) {
  EXPECT_EXIT(
      {
        Reserve::Keep();
        std::get_new_handler()();
        std::get_new_handler()();
      },
      testing::KilledBySignal(SIGABRT), "the process is out of memory, and its reserve is spent");
}

}  // namespace
}  // namespace wf::base
