#include "runtime/base/replace_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

namespace wf::base {
namespace {

Status Replace(const std::string& path, std::string_view text) {
  return ReplaceFile(path, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

class ReplaceFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "wf-replace-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    file_ = folder_ / "file";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Read() const {
    std::ifstream stream(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::ptrdiff_t Files() const { return std::distance(std::filesystem::directory_iterator(folder_), {}); }

  std::filesystem::path folder_, file_;
};

TEST_F(ReplaceFileTest, PutsTheBytesThere) {
  for (const std::string_view text : {"long before", "short", ""}) {
    ASSERT_TRUE(Replace(file_, text).ok());
    EXPECT_EQ(Read(), text);
    EXPECT_EQ(Files(), 1);
  }
}

TEST_F(ReplaceFileTest, AFullDiskLeavesWhatWasThereAndNothingBesideIt) {
  ASSERT_TRUE(Replace(file_, "before").ok());
  const pid_t child = fork();  // whose files may not grow, as on a full disk
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit little{.rlim_cur = 1000, .rlim_max = 1000};
    setrlimit(RLIMIT_FSIZE, &little);
    const Status status = Replace(file_, std::string(5000, 'x'));
    _exit(status.code() == kResourceExhausted ? 0 : 1);
  }
  int state = 0;
  waitpid(child, &state, 0);
  EXPECT_EQ(state, 0);
  EXPECT_EQ(Read(), "before");
  EXPECT_EQ(Files(), 1);
}

TEST_F(ReplaceFileTest, ALinkStaysOneAndPermissionsStay) {
  ASSERT_TRUE(Replace(file_, "before").ok());
  ASSERT_EQ(chmod(file_.c_str(), 0640), 0);
  std::filesystem::create_symlink("file", folder_ / "link");
  ASSERT_TRUE(Replace(folder_ / "link", "after").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(Read(), "after");
  EXPECT_EQ(std::filesystem::status(file_).permissions(), std::filesystem::perms{0640});
}

TEST_F(ReplaceFileTest, WhatIsNoRegularFileIsWrittenStraight) {
  EXPECT_TRUE(Replace("/dev/null", "gone").ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(Replace("/dev/full", "gone").code(), kResourceExhausted);
  EXPECT_FALSE(Replace(folder_, "gone").ok());
  EXPECT_EQ(Replace(folder_ / "none" / "file", "gone").code(), kNotFound);
}

}  // namespace
}  // namespace wf::base
