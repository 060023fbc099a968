#pragma once

#include <cstdint>
#include <string>

namespace wf::lower {

// In instructions, roughly. LLVM's time and memory grow faster than a function's length.
inline constexpr uint64_t kPartWeight = 4'000;

// Loops of the digits example, 868 turns in all, took 1.0 to 1.25 times as long with 512 bits as with 256, and a quarter of the
// instructions of its build went into the second copies.
inline constexpr uint64_t kFewTurns = 1'024;

struct Options {
  std::string target_cpu =
      "generic";               // generic: x86-64-v3, with copies of long loops for x86-64-v4 chosen at start; native; or a name LLVM knows
  std::string interface_json;  // what clients rely on, as JSON; empty: none
  std::string graph_json;      // the graph for `wfc inspect`, as JSON; empty: none
  std::string compiler_version;        // for the note
  uint64_t part_weight = kPartWeight;  // bodies of more than two parts become several functions
  uint64_t few_turns = kFewTurns;      // bodies whose loops run no more often, as the program itself says, have no copy for x86-64-v4
};

}  // namespace wf::lower
