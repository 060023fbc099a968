#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace wf::server {

// What cgroups leave to this process: the least that its own and those around it set, of version 2 or 1.
struct Allowance {
  double cpus = std::numeric_limits<double>::infinity();
  int64_t memory_bytes = std::numeric_limits<int64_t>::max();
};

// `root`: the folder in which proc and sys are; a file that is missing or says nothing sets no limit.
Allowance ReadAllowance(const std::string& root = "");

}  // namespace wf::server
