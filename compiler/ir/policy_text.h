#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"

namespace wf::ir {

using Settings = std::vector<std::pair<std::string, std::string>>;  // word and value, as programs write them

// The settings in force for a node. `batched`: whether the model that it calls has a batch axis; nothing when it calls none, and then only
// a timeout and attempts say something. `limit`: of its elements; 0: it has none.
Settings SettingsOf(const Policy& policy, std::optional<bool> batched, uint32_t limit = 0);
void Merge(Settings& into, const Settings& from);  // of several tasks of a node, in the order of one; what is there stays
std::string Joined(const Settings& settings);      // "batch 8 within 1ms · queue 64"

}  // namespace wf::ir
