#include "runtime/base/system_error.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace wf::base {
namespace {

TEST(TextOfErrno, BeginsSmallAsAllMessagesDo) {
  EXPECT_EQ(TextOfErrno(ENOENT), "no such file");
  EXPECT_EQ(TextOfErrno(ENOTDIR), "no such file");
  EXPECT_EQ(TextOfErrno(EISDIR), "it is a folder");
  EXPECT_EQ(TextOfErrno(ELOOP), "its links lead in a circle");
  EXPECT_EQ(TextOfErrno(EMFILE), "too many open files");
  EXPECT_EQ(TextOfErrno(EACCES), "permission denied");
  for (int error = 1; error < 134; ++error) {
    const std::string text = TextOfErrno(error);
    ASSERT_FALSE(text.empty()) << error;
    EXPECT_FALSE(text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a') << text;
  }
}

TEST(CodeOfErrno, TellsWhatIsAbsentForbiddenOrFull) {
  EXPECT_EQ(CodeOfErrno(ENOENT), kNotFound);
  EXPECT_EQ(CodeOfErrno(ENOTDIR), kNotFound);
  EXPECT_EQ(CodeOfErrno(EACCES), kPermissionDenied);
  EXPECT_EQ(CodeOfErrno(EISDIR), kPermissionDenied);
  EXPECT_EQ(CodeOfErrno(ENOSPC), kResourceExhausted);
  EXPECT_EQ(CodeOfErrno(EFBIG), kResourceExhausted);
  EXPECT_EQ(CodeOfErrno(EIO), kUnavailable);
}

TEST(StatusOfErrno, KnowsWhatToDoAboutIt) {
  EXPECT_EQ(StatusOfErrno(ENOENT).code(), kNotFound);
  EXPECT_EQ(StatusOfErrno(EACCES).message(), "permission denied");
}

TEST(StatusOfCreation, SaysWhatStandsInTheWayOfANewFile) {
  const auto why = [](const std::string& path) {
    const int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    return file < 0 ? StatusOfCreation(errno, path).message() : "nothing";
  };
  EXPECT_EQ(why("/proc/x"), "its folder takes no files");
  EXPECT_EQ(why("/proc/missing/x"), "no such folder");
  EXPECT_EQ(why("missing/x"), "no such folder");
  EXPECT_EQ(why("/dev/null/x"), "`/dev/null` is no folder");
  EXPECT_EQ(why("/dev/null/deep/x"), "`/dev/null` is no folder");
  EXPECT_EQ(why("/dev/full"), "file exists");
}

}  // namespace
}  // namespace wf::base
