#include "compiler/base/system_error.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

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

base::Status StatusOfCreation(int error, const std::string& path) {
  if (error != ENOENT && error != ENOTDIR) return StatusOfErrno(error);
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const bool is_link = std::filesystem::is_symlink(path, ignored);  // then the folder is that of its target
  if (!is_link && std::filesystem::is_directory(folder.empty() ? "." : folder, ignored))
    return {base::kPermissionDenied, "its folder takes no files"};
  return {base::kNotFound, "no such folder"};
}

}  // namespace wf::source
