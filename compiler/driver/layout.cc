#include "compiler/driver/layout.h"

#include <sys/stat.h>

#include <filesystem>

#include "compiler/driver/files.h"

namespace wf::driver {
namespace {

bool IsFolder(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

}  // namespace

std::string StdlibFolder(const std::string& executable) {
  std::string installed = FolderOf(executable) + "../share/wf/stdlib/";
  if (IsFolder(installed)) return installed;
  return WF_SOURCE_STDLIB;  // the build tree's; set by CMake
}

std::string ErrorPagesFolder(const std::string& executable) {
  for (const std::string& folder : {FolderOf(executable) + "../share/wf/errors/", std::string(WF_SOURCE_ERRORS)}) {
    if (IsFolder(folder)) return std::filesystem::path(folder).lexically_normal().string();
  }
  return "";
}

}  // namespace wf::driver
