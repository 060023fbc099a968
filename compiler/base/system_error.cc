#include "compiler/base/system_error.h"

#include <cctype>
#include <cerrno>
#include <cstring>

namespace wf::source {

std::string TextOfErrno(int error) {
  if (error == ENOENT || error == ENOTDIR) return "no such file";
  std::string text = std::strerror(error);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

base::Status StatusOfErrno(int error) {
  const bool is_absent = error == ENOENT || error == ENOTDIR, is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const bool is_forbidden = error == EACCES || error == EPERM || error == EISDIR || error == EROFS;
  return {is_absent      ? base::kNotFound
          : is_full      ? base::kResourceExhausted
          : is_forbidden ? base::kPermissionDenied
                         : base::kUnavailable,
          TextOfErrno(error)};
}

base::Status StatusOfCreation(int error) {
  return error == ENOENT || error == ENOTDIR ? base::Status(base::kNotFound, "no such folder") : StatusOfErrno(error);
}

}  // namespace wf::source
