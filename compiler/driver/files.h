#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace wf::driver {

// The whole of a regular file. The message of a failure says why, without the name: "no such file", "larger than 16 MiB".
base::Result<std::string> ReadFile(const std::string& path, size_t max_bytes);

// Writes the file whole or not at all: through a neighbour that takes its place when complete.
base::Status WriteFile(const std::string& path, std::string_view text);

std::string FolderOf(const std::string& path);  // "" for a bare name, else with its slash

}  // namespace wf::driver
