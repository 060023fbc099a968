#include "runtime/base/per_thread.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <type_traits>

namespace wf::base {
namespace {

std::string* told = nullptr;

template <char name>
struct Teller {
  Teller() { *told += name; }
  ~Teller() { *told += static_cast<char>(name - 'a' + 'A'); }
  int uses = 0;
};

constinit thread_local PerThread<Teller<'a'>> first;
constinit thread_local PerThread<Teller<'b'>> second;

// Uses another as it ends.
struct Late {
  ~Late() { ++second->uses; }
  int uses = 0;
};
constinit thread_local PerThread<Late> late;

class PerThreadTest : public testing::Test {
 protected:
  PerThreadTest() { told = &text_; }
  ~PerThreadTest() override { told = nullptr; }
  std::string text_;
};

// Else the C library would have to remember one, for which it allocates.
static_assert(std::is_trivially_destructible_v<PerThread<Teller<'a'>>>);

TEST_F(PerThreadTest, IsMadeWhenAThreadFirstAsksAndDestroyedWithItTheLastFirst) {
  std::thread([] {
    ++first->uses;
    ++second->uses;
    ++first->uses;
    *told += std::to_string(first->uses);
  }).join();
  EXPECT_EQ(text_, "ab2BA");
}

TEST_F(PerThreadTest, EachThreadHasItsOwn) {
  for (int i = 0; i < 2; ++i) std::thread([] { *told += std::to_string(++first->uses); }).join();
  EXPECT_EQ(text_, "a1Aa1A");
}

TEST_F(PerThreadTest, AThreadThatNeverAsksHasNone) {
  std::thread([] {}).join();
  EXPECT_EQ(text_, "");
}

TEST_F(PerThreadTest, WhatIsUsedAsTheThreadEndsIsMadeAgainAndDestroyed) {
  std::thread([] {
    ++late->uses;
    ++second->uses;
  }).join();
  EXPECT_EQ(text_, "bBbB");
}

}  // namespace
}  // namespace wf::base
