#include "runtime/base/system_error.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "runtime/base/ascii.h"

namespace wf::base {

std::string TextOfErrno(int error) {
  if (error == ENOENT || error == ENOTDIR) return "no such file";
  if (error == EISDIR) return "it is a folder";
  if (error == ELOOP) return "its links lead in a circle";
  std::string text = std::strerror(error);
  if (!text.empty()) text[0] = Lower(text[0]);
  return text;
}

StatusCode CodeOfErrno(int error) {
  const bool is_absent = error == ENOENT || error == ENOTDIR, is_full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const bool is_forbidden = error == EACCES || error == EPERM || error == EISDIR || error == EROFS || error == ELOOP;
  return is_absent ? kNotFound : is_full ? kResourceExhausted : is_forbidden ? kPermissionDenied : kUnavailable;
}

Status StatusOfErrno(int error) { return {CodeOfErrno(error), TextOfErrno(error)}; }

Status StatusOfCreation(int error, const std::string& path) {
  if (error != ENOENT && error != ENOTDIR) return StatusOfErrno(error);
  struct stat info{};
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (stat(folder.c_str(), &info) == 0 && !S_ISDIR(info.st_mode)) return {kPermissionDenied, "`" + folder + "` is no folder"};
  }
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  if (stat(folder.c_str(), &info) == 0) return {kPermissionDenied, "its folder takes no files"};
  return {kNotFound, "no such folder"};
}

}  // namespace wf::base
