#include "compiler/base/program_files.h"

#include <filesystem>

namespace wf::source {

namespace fs = std::filesystem;

ProgramFiles ProgramFilesBelow(const std::string& folder, size_t most_files, size_t most_entries) {
  ProgramFiles found;
  std::error_code error;
  size_t entries = 0;
  for (fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error), end; !error && at != end;
       at.increment(error)) {
    if (++entries > most_entries || found.paths.size() >= most_files) {
      found.is_complete = false;
      break;
    }
    const std::string name = at->path().filename().string();
    std::error_code gone;
    const bool is_folder = at->is_directory(gone);
    if (is_folder && (name.starts_with('.') || name == "node_modules")) at.disable_recursion_pending();
    if (name.ends_with(".wf") && at->is_regular_file(gone)) found.paths.insert(at->path().lexically_normal().string());
  }
  return found;
}

}  // namespace wf::source
