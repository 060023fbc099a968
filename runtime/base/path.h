#pragma once

#include <string>

namespace wf::base {

// "" for a bare name, else with its slash.
inline std::string FolderOf(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

}  // namespace wf::base
