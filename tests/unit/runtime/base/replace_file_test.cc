#include "runtime/base/replace_file.h"

#include <fcntl.h>
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

#include "runtime/base/descriptor.h"

namespace wf::base {
namespace {

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
    ASSERT_TRUE(ReplaceFile(file_, text).ok());
    EXPECT_EQ(Read(), text);
    EXPECT_EQ(Files(), 1);
  }
}

TEST_F(ReplaceFileTest, AFullDiskLeavesWhatWasThereAndNothingBesideIt) {
  ASSERT_TRUE(ReplaceFile(file_, "before").ok());
  const pid_t child = fork();  // whose files may not grow, as on a full disk
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit little{.rlim_cur = 1000, .rlim_max = 1000};
    setrlimit(RLIMIT_FSIZE, &little);
    const Status status = ReplaceFile(file_, std::string(5000, 'x'));
    _exit(status.code() == kResourceExhausted ? 0 : 1);
  }
  int state = 0;
  waitpid(child, &state, 0);
  EXPECT_EQ(state, 0);
  EXPECT_EQ(Read(), "before");
  EXPECT_EQ(Files(), 1);
}

TEST_F(ReplaceFileTest, ALinkStaysOneAndPermissionsStay) {
  ASSERT_TRUE(ReplaceFile(file_, "before").ok());
  ASSERT_EQ(chmod(file_.c_str(), 0640), 0);
  std::filesystem::create_symlink("file", folder_ / "link");
  ASSERT_TRUE(ReplaceFile(folder_ / "link", "after").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(Read(), "after");
  EXPECT_EQ(std::filesystem::status(file_).permissions(), std::filesystem::perms{0640});
}

TEST_F(ReplaceFileTest, ALinkThatLeadsToNothingYetLeadsToTheNewFile) {
  std::filesystem::create_symlink("file", folder_ / "link");
  ASSERT_TRUE(MayReplace(folder_ / "link").ok());
  ASSERT_TRUE(ReplaceFile(folder_ / "link", "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(Read(), "new");
  std::filesystem::create_symlink("circle", folder_ / "circle");
  EXPECT_EQ(ReplaceFile(folder_ / "circle", "new").message(), "its links lead in a circle");
  EXPECT_EQ(MayReplace(folder_ / "circle").code(), kPermissionDenied);
}

TEST_F(ReplaceFileTest, ABareNameIsInTheFolderThatOneIsIn) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  EXPECT_TRUE(MayReplace("file").ok());
  EXPECT_EQ(Files(), 0);
  EXPECT_TRUE(ReplaceFile("file", "new").ok());
  std::filesystem::current_path(before);
  EXPECT_EQ(Read(), "new");
}

TEST_F(ReplaceFileTest, WhatIsOpenIsWrittenToWhateverItsName) {
  std::ofstream(file_) << "before";
  const Descriptor open_file(open(file_.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat before{}, after{};
  ASSERT_EQ(stat(file_.c_str(), &before), 0);
  ASSERT_TRUE(ReplaceFile("/proc/self/fd/" + std::to_string(open_file.get()), "after").ok());
  ASSERT_EQ(stat(file_.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
  EXPECT_EQ(Read(), "after");
}

TEST_F(ReplaceFileTest, WhatIsProtectedAgainstWritingStaysAsItIs) {
  ASSERT_TRUE(ReplaceFile(file_, "before").ok());
  ASSERT_EQ(chmod(file_.c_str(), 0444), 0);
  ASSERT_EQ(chmod(folder_.c_str(), 0777), 0);
  const pid_t child = fork();  // root may write everything
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && setuid(kNobody) != 0) _exit(2);
    const bool refused = ReplaceFile(file_, "after").code() == kPermissionDenied && MayReplace(file_).code() == kPermissionDenied;
    _exit(refused ? 0 : 1);
  }
  int state = 0;
  waitpid(child, &state, 0);
  EXPECT_EQ(state, 0);
  EXPECT_EQ(Read(), "before");
  EXPECT_EQ(Files(), 1);
}

TEST_F(ReplaceFileTest, WhatIsNoRegularFileIsWrittenStraight) {
  EXPECT_TRUE(ReplaceFile("/dev/null", "gone").ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_EQ(ReplaceFile("/dev/full", "gone").code(), kResourceExhausted);
  EXPECT_FALSE(ReplaceFile(folder_, "gone").ok());
  EXPECT_EQ(ReplaceFile(folder_ / "none" / "file", "gone").code(), kNotFound);
}

}  // namespace
}  // namespace wf::base
