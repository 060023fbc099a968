#pragma once

#include <algorithm>
#include <string_view>

#include "runtime/base/units.h"

namespace wf::parse {

// Whether `word` is a unit of time or size; what a setting makes of it is for sema.
constexpr bool IsUnit(std::string_view word) {
  const auto is_it = [word](const base::Unit& unit) { return unit.name == word; };
  return std::any_of(std::begin(base::kTimeUnits), std::end(base::kTimeUnits), is_it) ||
         std::any_of(std::begin(base::kSizeUnits), std::end(base::kSizeUnits), is_it) || !base::UnitMeantBy(word).empty();
}

}  // namespace wf::parse
