#include "runtime/base/new_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace wf::base {
namespace {

namespace fs = std::filesystem;

class NewFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "wf-new-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    target_ = folder_ / "target";
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::ptrdiff_t Files() const { return std::distance(fs::directory_iterator(folder_), {}); }
  std::string Read() const {
    std::ifstream stream(target_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  mode_t Mode() const {
    struct stat there{};
    return stat(target_.c_str(), &there) == 0 ? there.st_mode & 07777 : 0;
  }

  fs::path folder_, target_;
};

TEST_F(NewFileTest, TakesThePlaceOfItsTargetWhole) {
  std::ofstream(target_) << "before";
  {
    Result<NewFile> file = NewFile::Beside(target_, 0600);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->Write("after").ok());
    EXPECT_EQ(Read(), "before");
    ASSERT_TRUE(file->TakePlace(0640).ok());
  }
  EXPECT_EQ(Read(), "after");
  EXPECT_EQ(Mode(), 0640U);
  EXPECT_EQ(Files(), 1);
}

TEST_F(NewFileTest, IsGoneUnlessItTookThePlace) {
  {
    const Result<NewFile> file = NewFile::Beside(target_, 0600);
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(NewFileTest, HasANameThatNobodyKnowsBefore) {
  const Result<NewFile> one = NewFile::Beside(target_, 0600), other = NewFile::Beside(target_, 0600);
  ASSERT_TRUE(one.ok() && other.ok());
  EXPECT_NE(one->path(), other->path());
  for (const NewFile* file : {&*one, &*other}) EXPECT_EQ(file->path().find(std::to_string(getpid())), std::string::npos) << file->path();
}

TEST_F(NewFileTest, IsMadeBesideATargetOfTheLongestName) {
  const std::string longest = folder_ / std::string(255, 'x');
  Result<NewFile> file = NewFile::Beside(longest, 0600);
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_TRUE(file->TakePlace({}).ok());
  EXPECT_TRUE(fs::exists(longest));
}

TEST_F(NewFileTest, SaysWhyItCannotBe) {
  EXPECT_EQ(NewFile::Beside(folder_ / "missing" / "target", 0600).status().message(), "no such folder");
  EXPECT_EQ(NewFile::Beside(folder_, 0600).status().message(), "it is a folder");
  EXPECT_EQ(NewFile::Beside("/proc/x", 0600).status().message(), "its folder takes no files");
}

}  // namespace
}  // namespace wf::base
