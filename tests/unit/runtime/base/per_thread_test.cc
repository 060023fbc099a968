#include "runtime/base/per_thread.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <type_traits>

namespace wf::base {
namespace {

std::string* teller_text = nullptr;

template <char name>
struct Teller {
  Teller() { *teller_text += name; }
  ~Teller() { *teller_text += static_cast<char>(name - 'a' + 'A'); }
  int uses = 0;
};

constinit thread_local PerThread<Teller<'a'>> teller_a;
constinit thread_local PerThread<Teller<'b'>> teller_b;

// Uses another as it ends.
struct Late {
  ~Late() { ++teller_b->uses; }
  int uses = 0;
};
constinit thread_local PerThread<Late> late_teller;

class PerThreadTest : public testing::Test {
 protected:
  PerThreadTest() { teller_text = &text_; }
  ~PerThreadTest() override { teller_text = nullptr; }
  std::string text_;
};

// Else the C library would have to remember one, for which it allocates.
static_assert(std::is_trivially_destructible_v<PerThread<Teller<'a'>>>);

TEST_F(PerThreadTest, IsMadeWhenAThreadFirstAsksAndDestroyedWithItTheLastFirst) {
  std::thread([] {
    ++teller_a->uses;
    ++teller_b->uses;
    ++teller_a->uses;
    *teller_text += std::to_string(teller_a->uses);
  }).join();
  EXPECT_EQ(text_, "ab2BA");
}

TEST_F(PerThreadTest, EachThreadHasItsOwn) {
  for (int i = 0; i < 2; ++i) std::thread([] { *teller_text += std::to_string(++teller_a->uses); }).join();
  EXPECT_EQ(text_, "a1Aa1A");
}

TEST_F(PerThreadTest, AThreadThatNeverAsksHasNone) {
  std::thread([] {}).join();
  EXPECT_EQ(text_, "");
}

TEST_F(PerThreadTest, WhatIsUsedAsTheThreadEndsIsMadeAgainAndDestroyed) {
  std::thread([] {
    ++late_teller->uses;
    ++teller_b->uses;
  }).join();
  EXPECT_EQ(text_, "bBbB");
}

}  // namespace
}  // namespace wf::base
