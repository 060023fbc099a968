#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wf::driver {

// A rule of make: the target needs these files, each once; then an empty rule for each but the first, so that make goes on when one is
// gone.
std::string DependencyRule(const std::string& target, const std::vector<std::string>& files);

// The files that the first rule of such a text names.
std::vector<std::string> FilesOfRule(std::string_view text);

}  // namespace wf::driver
