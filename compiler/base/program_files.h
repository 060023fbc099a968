#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>

namespace wf::source {

// The .wf files below a folder. Hidden folders and node_modules are passed over, links to folders are not followed.
struct ProgramFiles {
  std::set<std::string> paths;
  std::map<std::string, std::string> unread;  // folders that could not be looked into, or not to the end, and why
  bool is_complete = true;                    // false: there are more, and more are not looked at
};
ProgramFiles ProgramFilesBelow(const std::string& folder, size_t most_files, size_t most_entries);

}  // namespace wf::source
