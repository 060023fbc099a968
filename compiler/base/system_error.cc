#include "compiler/base/system_error.h"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "runtime/base/system_error.h"

namespace wf::source {

base::Status StatusOfErrno(int error) { return {base::CodeOfErrno(error), base::TextOfErrno(error)}; }

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
