#include "compiler/base/system_error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace wf::source {
namespace {

TEST(SystemError, KnowsWhatToDoAboutIt) {
  EXPECT_EQ(StatusOfErrno(ENOENT).code(), base::kNotFound);
  EXPECT_EQ(StatusOfErrno(EACCES).code(), base::kPermissionDenied);
  EXPECT_EQ(StatusOfErrno(EFBIG).code(), base::kResourceExhausted);
  EXPECT_EQ(StatusOfErrno(EIO).code(), base::kUnavailable);
}

}  // namespace
}  // namespace wf::source
