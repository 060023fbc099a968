#include "compiler/base/partial_file.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "compiler/base/ending.h"

namespace wf::source {
namespace {

class PartialFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/wf-partial-XXXXXX";
    folder_ = mkdtemp(name);
    target_ = folder_ + "/server";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_, target_;
};

TEST_F(PartialFileTest, TakesThePlaceOfItsTargetWhenRenamed) {
  {
    PartialFile partial(target_);
    ASSERT_TRUE(partial.Create(0600).ok());
    EXPECT_TRUE(std::filesystem::exists(partial.path()));
    EXPECT_TRUE(partial.file().TakePlace({}).ok());
  }
  EXPECT_TRUE(std::filesystem::exists(target_));
}

TEST_F(PartialFileTest, IsGoneAtTheEndOfTheScope) {
  {
    PartialFile partial(target_);
    ASSERT_TRUE(partial.Create(0600).ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(PartialFileTest, IsGoneWhenASignalEndsTheProcess) {
  for (const int signal : kEndings) {
    const pid_t child = fork();
    if (child == 0) {
      std::signal(signal, SIG_DFL);
      PartialFile partial(target_);
      if (!partial.Create(0600).ok()) _exit(1);
      raise(signal);
      _exit(2);
    }
    int state = 0;
    waitpid(child, &state, 0);
    EXPECT_TRUE(WIFSIGNALED(state) && WTERMSIG(state) == signal) << state;
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
  }
}

TEST_F(PartialFileTest, IsGoneWhenSeveralSignalsComeWhileTheHandlersOfOthersStand) {
  const pid_t child = fork();
  if (child == 0) {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
    PartialFile partial(target_);
    if (!partial.Create(0600).ok()) _exit(1);
    {
      const EndingsHeld held;
      for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, [](int) { _exit(3); });  // as a library's, which removes its own alone
      raise(SIGTERM);
      raise(SIGINT);
    }
    _exit(2);
  }
  int state = 0;
  waitpid(child, &state, 0);
  EXPECT_TRUE(WIFSIGNALED(state)) << state;
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(PartialFileTest, IsGoneWhereTheProcessEndsItself) {
  const pid_t child = fork();
  if (child == 0) {
    PartialFile partial(target_);
    if (!partial.Create(0600).ok()) _exit(1);
    RemoveBeforeEnding();
    _exit(0);
  }
  int state = 0;
  waitpid(child, &state, 0);
  EXPECT_EQ(state, 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(PartialFileTest, LeavesSignalsAsTheyWere) {
  const auto mine = [](int) {};
  const auto before = std::signal(SIGINT, mine);
  {
    PartialFile partial(target_);
    ASSERT_TRUE(partial.Create(0600).ok());
    EXPECT_EQ(std::signal(SIGINT, mine), static_cast<void (*)(int)>(mine)) << "who handles it goes on to";
  }
  EXPECT_EQ(std::signal(SIGINT, before), static_cast<void (*)(int)>(mine));
  {
    PartialFile partial(target_);
    ASSERT_TRUE(partial.Create(0600).ok());
  }
  EXPECT_EQ(std::signal(SIGINT, before), before);
}

TEST_F(PartialFileTest, SaysWhyItCannotBe) {
  PartialFile nowhere(folder_ + "/missing/server");
  EXPECT_EQ(nowhere.Create(0600).message(), "no such folder");
}

TEST_F(PartialFileTest, IsNotMadeForAFolder) {
  PartialFile folder(folder_);
  EXPECT_EQ(folder.Create(0600).message(), "it is a folder");
}

}  // namespace
}  // namespace wf::source
