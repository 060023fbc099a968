#include "compiler/base/program_files.h"
#include "runtime/base/system_error.h"

#include <filesystem>
#include <vector>

namespace wf::source {

namespace fs = std::filesystem;

ProgramFiles ProgramFilesBelow(const std::string& folder, size_t most_files, size_t most_entries) {
  ProgramFiles found;
  size_t entries = 0;
  std::vector<fs::path> folders = {folder};
  while (!folders.empty()) {
    const fs::path here = std::move(folders.back());
    folders.pop_back();
    std::error_code error;
    for (fs::directory_iterator at(here, error), end; !error && at != end; at.increment(error)) {
      if (++entries > most_entries || found.paths.size() >= most_files) {
        found.is_complete = false;
        return found;
      }
      const std::string name = at->path().filename().string();
      std::error_code gone;
      const bool passed_over = name.starts_with('.') || name == "node_modules" || at->is_symlink(gone);
      if (at->is_directory(gone) && !passed_over) folders.push_back(at->path());
      if (name.ends_with(".wf") && at->is_regular_file(gone)) found.paths.insert(at->path().lexically_normal().string());
    }
    if (error) found.unread.emplace(here.lexically_normal().string(), base::StatusOfErrno(error.value()).message());
  }
  return found;
}

}  // namespace wf::source
