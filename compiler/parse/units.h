#pragma once

#include <string>
#include <string_view>

#include "compiler/ast/expr.h"
#include "compiler/diag/foreign_number.h"
#include "runtime/base/units.h"

namespace wf::parse {

// The measure that is meant by a number and a word apart, of the kind that the word before them takes; empty: the word is no unit.
inline std::string MeasureBehind(std::string_view before, std::string_view number, std::string_view word) {
  const bool takes_size = before == "body", takes_time = before == "timeout" || before == "within";
  const std::string text = std::string(number) + " " + std::string(word);
  std::string time = takes_size ? "" : base::MeasureMeant(text, base::kTimeUnits);
  return time.empty() && !takes_time ? base::MeasureMeant(text, base::kSizeUnits) : time;
}

// Whether `word` is a unit of time or size, or what is often written instead.
inline bool IsUnit(std::string_view word) {
  return !base::UnitMeantBy(word, base::kTimeUnits).empty() || !base::UnitMeantBy(word, base::kSizeUnits).empty();
}

// `0x` reads as a number with a unit.
inline bool LacksDigits(ast::NumberKind kind, std::string_view number) {
  return kind == ast::NumberKind::kMeasure && number.starts_with("0x") && !diag::ReadForeignNumber(number);
}
inline constexpr const char* kHexDigits = "hexadecimal digits behind `0x`";

}  // namespace wf::parse
