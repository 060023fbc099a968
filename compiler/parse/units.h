#pragma once

#include <algorithm>
#include <string_view>

#include "compiler/ast/expr.h"
#include "runtime/base/units.h"

namespace wf::parse {

// Whether `word` is a unit of time or size; what a setting makes of it is for sema.
constexpr bool IsUnit(std::string_view word) {
  const auto is_it = [word](const base::Unit& unit) { return unit.name == word; };
  return std::any_of(std::begin(base::kTimeUnits), std::end(base::kTimeUnits), is_it) ||
         std::any_of(std::begin(base::kSizeUnits), std::end(base::kSizeUnits), is_it) || !base::UnitMeantBy(word).empty();
}

// `0x` reads as a number with a unit.
constexpr bool LacksDigits(ast::NumberKind kind, std::string_view number) {
  return kind == ast::NumberKind::kMeasure && number.starts_with("0x");
}
inline constexpr const char* kHexDigits = "hexadecimal digits behind `0x`";

}  // namespace wf::parse
