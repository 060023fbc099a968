#include "compiler/base/system_error.h"

#include <cerrno>

#include "runtime/base/system_error.h"

namespace wf::source {

base::Status StatusOfErrno(int error) {
  const bool is_absent = error == ENOENT || error == ENOTDIR, is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const bool is_forbidden = error == EACCES || error == EPERM || error == EISDIR || error == EROFS;
  return {is_absent      ? base::kNotFound
          : is_full      ? base::kResourceExhausted
          : is_forbidden ? base::kPermissionDenied
                         : base::kUnavailable,
          base::TextOfErrno(error)};
}

base::Status StatusOfCreation(int error) {
  return error == ENOENT || error == ENOTDIR ? base::Status(base::kNotFound, "no such folder") : StatusOfErrno(error);
}

}  // namespace wf::source
