#pragma once

#include <cstdint>
#include <string>

namespace wf::lower {

// In instructions, roughly. LLVM's time and memory grow faster than a function's length.
inline constexpr uint64_t kPartWeight = 4'000;

struct Options {
  std::string target_cpu =
      "generic";               // generic: x86-64-v3, with copies of loops for x86-64-v4 chosen at start; native; or a name that LLVM knows
  std::string interface_json;  // what clients rely on, as JSON; empty: none
  std::string graph_json;      // the graph for `wfc inspect`, as JSON; empty: none
  std::string compiler_version;        // for the note
  uint64_t part_weight = kPartWeight;  // bodies of more than two parts become several functions
};

}  // namespace wf::lower
