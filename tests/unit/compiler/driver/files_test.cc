#include "compiler/driver/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <vector>

namespace wf::driver {
namespace {

class FilesTest : public ::testing::Test {
 protected:
  FilesTest() { std::filesystem::create_directory(At("")); }
  std::string At(const std::string& name) const { return folder_.path() + "files/" + name; }
  TemporaryFolder folder_;
};

TEST_F(FilesTest, ReadsBackWhatItWrote) {
  const std::string text("a\0b\n", 4);
  ASSERT_TRUE(WriteFile(At("x"), text).ok());
  EXPECT_EQ(*ReadFile(At("x"), 100), text);
}

TEST_F(FilesTest, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(ReadFile(At("missing"), 100).status().message(), "no such file");
  EXPECT_EQ(ReadFile(folder_.path(), 100).status().message(), "it is a folder");
  ASSERT_TRUE(WriteFile(At("x"), std::string(3 << 20, 'x')).ok());
  EXPECT_EQ(ReadFile(At("x"), 2 << 20).status().message(), "larger than 2 MiB");
  EXPECT_EQ(ReadFile(At("x"), 100'000).status().message(), "larger than 100000 bytes");
}

TEST_F(FilesTest, ReadsToTheEndOfAFileThatSaysItIsEmpty) {
  const auto text = ReadFile("/proc/self/status", 1 << 20);
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("Name:"), std::string::npos);
  EXPECT_EQ(ReadFile("/proc/self/status", 100).status().code(), base::kResourceExhausted);
}

TEST_F(FilesTest, DoesNotWaitForAPipe) {
  ASSERT_EQ(mkfifo(At("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(At("pipe"), 100).status().message(), "it is not a regular file");
}

TEST_F(FilesTest, LeavesNoPartialFileWhenThereIsNoSpace) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto on_limit = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const base::Status status = WriteFile(At("x"), std::string(5000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, on_limit);
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(std::filesystem::is_empty(At("")));
}

TEST_F(FilesTest, WritesToAPipeInsteadOfReplacingIt) {
  ASSERT_EQ(mkfifo(At("pipe").c_str(), 0600), 0);
  const int reader = open(At("pipe").c_str(), O_RDWR | O_NONBLOCK);
  EXPECT_TRUE(WriteFile(At("pipe"), "x").ok());
  char got = 0;
  EXPECT_EQ(read(reader, &got, 1), 1);
  close(reader);
  EXPECT_EQ(got, 'x');
}

TEST_F(FilesTest, WritesThroughALink) {
  ASSERT_TRUE(WriteFile(At("file"), "old").ok());
  ASSERT_EQ(symlink("file", At("link").c_str()), 0);
  ASSERT_TRUE(WriteFile(At("link"), "new").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(At("link")));
  EXPECT_EQ(*ReadFile(At("file"), 100), "new");
}

TEST_F(FilesTest, AFullDiskLeavesWhatALinkLeadsTo) {
  ASSERT_TRUE(WriteFile(At("file"), "old").ok());
  ASSERT_EQ(symlink("file", At("link").c_str()), 0);
  ASSERT_EQ(symlink("new", At("dangling").c_str()), 0);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto on_limit = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 1000, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  for (const char* name : {"link", "dangling"}) EXPECT_FALSE(WriteFile(At(name), std::string(5000, 'x')).ok());
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, on_limit);
  EXPECT_EQ(*ReadFile(At("file"), 100), "old");
  EXPECT_FALSE(std::filesystem::exists(At("new")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(At("")), {}), 3);
}

TEST_F(FilesTest, GivesAProductNoPlaceWhereItWouldDestroySomethingElse) {
  ASSERT_EQ(mkfifo(At("pipe").c_str(), 0600), 0);
  ASSERT_TRUE(WriteFile(At("file"), "old").ok());
  ASSERT_EQ(symlink("file", At("link").c_str()), 0);
  EXPECT_EQ(PlaceForProduct(At("pipe")).status().message(), "it is not a regular file");
  EXPECT_EQ(PlaceForProduct(folder_.path()).status().message(), "it is a folder");
  EXPECT_EQ(*PlaceForProduct(At("link")), At("file"));
  EXPECT_EQ(*PlaceForProduct(At("new")), At("new"));
}

TEST_F(FilesTest, PutsAProductWhereALinkLeadsThatNothingIsBehindYet) {
  std::filesystem::create_directory(At("folder"));
  ASSERT_EQ(symlink("folder/second", At("first").c_str()), 0);
  ASSERT_EQ(symlink(At("new").c_str(), At("folder/second").c_str()), 0);
  EXPECT_EQ(*PlaceForProduct(At("folder/second")), At("new"));
  EXPECT_EQ(*PlaceForProduct(At("first")), At("new"));
  ASSERT_EQ(symlink("circle", At("circle").c_str()), 0);
  EXPECT_EQ(PlaceForProduct(At("circle")).status().message(), "its links lead in a circle");
}

TEST_F(FilesTest, KeepsThePermissionsOfWhatItReplaces) {
  ASSERT_TRUE(WriteFile(At("x"), "old").ok());
  ASSERT_EQ(chmod(At("x").c_str(), 0640), 0);
  ASSERT_TRUE(WriteFile(At("x"), "new").ok());
  struct stat info{};
  ASSERT_EQ(stat(At("x").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);
}

TEST_F(FilesTest, KeepsTheGroupOfWhatItRewrites) {
  std::vector<gid_t> groups(getgroups(0, nullptr));
  ASSERT_EQ(getgroups(static_cast<int>(groups.size()), groups.data()), groups.size());
  if (geteuid() == 0) groups.push_back(getegid() + 1);
  groups.push_back(getegid());  // all there is for who is in one group alone
  const auto other = std::find_if(groups.begin(), groups.end() - 1, [](gid_t group) { return group != getegid(); });
  ASSERT_TRUE(WriteFile(At("x"), "old").ok());
  ASSERT_EQ(chown(At("x").c_str(), geteuid(), *other), 0);
  ASSERT_EQ(chmod(At("x").c_str(), 02640), 0);
  ASSERT_TRUE(RewriteFile(At("x"), "new").ok());
  struct stat info{};
  ASSERT_EQ(stat(At("x").c_str(), &info), 0);
  EXPECT_EQ(info.st_gid, *other);
  EXPECT_EQ(info.st_mode & 07777, 02640U);
  EXPECT_EQ(*ReadFile(At("x"), 100), "new");
}

TEST_F(FilesTest, KnowsOneFileByItsNames) {
  EXPECT_TRUE(IsSameFile(At("x"), At("./x")));
  EXPECT_FALSE(IsSameFile(At("x"), At("y")));
  ASSERT_TRUE(WriteFile(At("x"), "1").ok());
  ASSERT_EQ(link(At("x").c_str(), At("z").c_str()), 0);
  EXPECT_TRUE(IsSameFile(At("x"), At("z")));
  EXPECT_FALSE(IsSameFile(At("x"), At("y")));
}

TEST_F(FilesTest, ReplacesAFileOnlyWhenTheNewOneIsWhole) {
  ASSERT_TRUE(WriteFile(At("x"), "old").ok());
  ASSERT_TRUE(WriteFile(At("x"), "new").ok());
  EXPECT_EQ(*ReadFile(At("x"), 100), "new");
  EXPECT_EQ(WriteFile(At("no/x"), "new").message(), "no such folder");
}

TEST(FolderOf, KeepsTheSlash) {
  EXPECT_EQ(FolderOf("a/b.wf"), "a/");
  EXPECT_EQ(FolderOf("/b.wf"), "/");
  EXPECT_EQ(FolderOf("b.wf"), "");
}

TEST(TemporaryFolder, GoesAwayWithWhatIsInIt) {
  std::string path;
  {
    const TemporaryFolder folder;
    path = folder.path();
    ASSERT_TRUE(WriteFile(path + "x", "1").ok());
  }
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(TemporaryFolder, OneThatNobodyHoldsGoesWithTheNext) {
  const TemporaryFolder parent;
  const char* const named = std::getenv("TMPDIR");
  const std::string before = named == nullptr ? "" : named;
  setenv("TMPDIR", parent.path().c_str(), 1);
  const auto named_so = [&](const char* name, mode_t mode, int seconds_ago) {
    const std::string path = parent.path() + name;
    EXPECT_EQ(mkdir(path.c_str(), mode), 0);
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::seconds(seconds_ago));
    return path;
  };
  const std::string deserted = named_so("wfc-temporary-aaaaaa", 0700, 0),
                    too_soon = named_so("wfc-temporary-bbbbbb", 0700, 120);  // when their makers were killed
  const std::string of_others = named_so("wfc-backup", 0700, 120), of_others_marked_so = named_so("wfc-photos", 0700, 120);
  const std::string being_made = named_so("wfc-temporary-cccccc", 0700, 0);
  ASSERT_TRUE(WriteFile(deserted + "/.wfc", "").ok());
  ASSERT_TRUE(WriteFile(deserted + "/server", "x").ok());
  ASSERT_TRUE(WriteFile(of_others_marked_so + "/.wfc", "").ok());
  {
    const TemporaryFolder held, next;
    EXPECT_FALSE(std::filesystem::exists(deserted));
    EXPECT_FALSE(std::filesystem::exists(too_soon));
    EXPECT_TRUE(std::filesystem::exists(of_others));
    EXPECT_TRUE(std::filesystem::exists(of_others_marked_so));
    EXPECT_TRUE(std::filesystem::exists(being_made));
    EXPECT_TRUE(std::filesystem::exists(held.path()));
  }
  if (before.empty())
    unsetenv("TMPDIR");
  else
    setenv("TMPDIR", before.c_str(), 1);
}

TEST(TemporaryFolder, SaysWhereAndWhyItIsNot) {
  const char* const named = std::getenv("TMPDIR");
  const std::string before = named == nullptr ? "" : named;
  setenv("TMPDIR", "/nonexistent", 1);
  const TemporaryFolder folder;
  if (before.empty())
    unsetenv("TMPDIR");
  else
    setenv("TMPDIR", before.c_str(), 1);
  EXPECT_EQ(folder.path(), "");
  EXPECT_EQ(folder.WhyNone(), "cannot make a temporary folder in `/nonexistent`: no such file; TMPDIR says where");
}

}  // namespace
}  // namespace wf::driver
