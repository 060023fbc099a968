#include <cstdlib>
#include <filesystem>

#include "compiler/link/link.h"

namespace wf::link {

std::string FindRuntime() {
  if (const char* dir = std::getenv("WFC_RUNTIME_DIR"); dir != nullptr && *dir != 0) return dir;
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return (self.parent_path().parent_path() / "lib").string();
}

}  // namespace wf::link
