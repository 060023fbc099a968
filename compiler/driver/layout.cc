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

// The first that is there: of the tree that wfc was built in, wherever that was copied to, of an installation, of the tree that CMake saw.
std::string FirstFolder(const std::string& executable, const std::string& in_tree, const std::string& in_share, const std::string& built) {
  const std::string beside = FolderOf(executable);
  for (const std::string& folder : {beside + "../../../" + in_tree, beside + "../share/wf/" + in_share, built}) {
    if (IsFolder(folder)) return std::filesystem::path(folder).lexically_normal().string();
  }
  return "";
}

}  // namespace

std::string StdlibFolder(const std::string& executable) {
  const std::string found = FirstFolder(executable, "stdlib/", "stdlib/", WF_SOURCE_STDLIB);
  return found.empty() ? WF_SOURCE_STDLIB : found;
}

std::string ErrorPagesFolder(const std::string& executable) { return FirstFolder(executable, "docs/errors/", "errors/", WF_SOURCE_ERRORS); }

}  // namespace wf::driver
