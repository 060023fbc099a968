#pragma once

#include <string>
#include <string_view>

namespace wf::driver {

// What turns `before` into `after`, as `diff -u` and patch(1) write it; empty for equal texts.
// Bounds: texts that differ in more than kMaxCells pairs of lines are shown as one change.
std::string UnifiedDiff(std::string_view name, std::string_view before, std::string_view after);

}  // namespace wf::driver
