#include "compiler/driver/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compiler/driver/serve.h"

namespace wf::driver {
namespace {

class FilesTest : public ::testing::Test {
 protected:
  std::string At(const std::string& name) const { return folder_.path() + name; }
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
}

TEST_F(FilesTest, DoesNotWaitForAPipe) {
  ASSERT_EQ(mkfifo(At("pipe").c_str(), 0600), 0);
  EXPECT_EQ(ReadFile(At("pipe"), 100).status().message(), "it is not a regular file");
}

TEST_F(FilesTest, LeavesNoPartialFileWhenTheDiskIsFull) {
  EXPECT_FALSE(WriteFile("/dev/full", "x").ok());
  struct stat info{};
  ASSERT_EQ(stat("/dev/full", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode)) << "a device is written to, not replaced";
}

TEST_F(FilesTest, ReplacesAFileOnlyWhenTheNewOneIsWhole) {
  ASSERT_TRUE(WriteFile(At("x"), "old").ok());
  ASSERT_TRUE(WriteFile(At("x"), "new").ok());
  EXPECT_EQ(*ReadFile(At("x"), 100), "new");
  EXPECT_EQ(WriteFile(At("no/x"), "new").message(), "no such file");
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

}  // namespace
}  // namespace wf::driver
