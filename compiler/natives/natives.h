#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "compiler/ir/interpret.h"

namespace wf::natives {

// Calls of natives whose arguments are constants, by the code that servers hold: those of std.json and `time.parse`. Others
// fail with 9000. `type`: of ir::Hooks.   Thread: any.   Bounds: max_bytes of memory, beside the value that is given back.
ir::Outcome Call(const ir::TypeTable& types, const std::string& symbol, std::span<const ir::Value> args, ir::TypeId type,
                 uint64_t max_bytes);

}  // namespace wf::natives
