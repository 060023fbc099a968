#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace wf::parse {

// Whether `word` is a unit of time or size; what a setting makes of it is for sema.
constexpr bool IsUnit(std::string_view word) {
  constexpr std::array<std::string_view, 13> kUnits = {"ns", "us", "ms", "s", "m", "h", "B", "KB", "MB", "GB", "KiB", "MiB", "GiB"};
  return std::find(kUnits.begin(), kUnits.end(), word) != kUnits.end();
}

}  // namespace wf::parse
