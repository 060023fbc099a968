#include "runtime/base/system_error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace wf::base {
namespace {

TEST(TextOfErrno, BeginsSmallAsAllMessagesDo) {
  EXPECT_EQ(TextOfErrno(ENOENT), "no such file");
  EXPECT_EQ(TextOfErrno(ENOTDIR), "no such file");
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

}  // namespace
}  // namespace wf::base
