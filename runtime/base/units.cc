#include "runtime/base/units.h"

#include <cmath>

namespace wf::base {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Exact but for the fraction.
int64_t Scaled(std::string_view number, int64_t factor) {
  const size_t dot = std::min(number.find('.'), number.size());
  int64_t value = 0;
  for (const char c : number.substr(0, dot)) {
    const bool is_too_large = c != '_' && (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, c - '0', &value));
    if (is_too_large) return INT64_MAX;
  }
  double part = 0, digit = 1;
  for (const char c : number.substr(std::min(dot + 1, number.size()))) part += (c - '0') * (digit /= 10);
  const auto rest = static_cast<int64_t>(std::llround(part * static_cast<double>(factor)));
  return __builtin_mul_overflow(value, factor, &value) || __builtin_add_overflow(value, rest, &value) ? INT64_MAX : value;
}

}  // namespace

Measure SplitMeasure(std::string_view text) {
  if (text.empty() || !IsDigit(text.front())) return {{}, text};
  size_t end = 0;
  while (end < text.size() && (IsDigit(text[end]) || text[end] == '_')) ++end;
  if (end + 1 < text.size() && text[end] == '.' && IsDigit(text[end + 1])) {
    ++end;
    while (end < text.size() && IsDigit(text[end])) ++end;
  }
  return {text.substr(0, end), text.substr(end)};
}

std::optional<int64_t> ReadMeasure(std::string_view text, std::span<const Unit> units, std::string_view bare) {
  const Measure measure = SplitMeasure(text);
  const std::string_view name = measure.unit.empty() ? bare : measure.unit;
  const auto unit = std::find_if(units.begin(), units.end(), [name](const Unit& known) { return known.name == name; });
  if (measure.number.empty() || unit == units.end()) return std::nullopt;
  return Scaled(measure.number, unit->factor);
}

}  // namespace wf::base
