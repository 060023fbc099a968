#include "runtime/base/system_error.h"

#include <cerrno>
#include <cstring>

#include "runtime/base/ascii.h"

namespace wf::base {

std::string TextOfErrno(int error) {
  if (error == ENOENT || error == ENOTDIR) return "no such file";
  std::string text = std::strerror(error);
  if (!text.empty()) text[0] = Lower(text[0]);
  return text;
}

StatusCode CodeOfErrno(int error) {
  const bool is_absent = error == ENOENT || error == ENOTDIR, is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const bool is_forbidden = error == EACCES || error == EPERM || error == EISDIR || error == EROFS;
  return is_absent ? kNotFound : is_full ? kResourceExhausted : is_forbidden ? kPermissionDenied : kUnavailable;
}

}  // namespace wf::base
