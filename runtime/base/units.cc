#include "runtime/base/units.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/ascii.h"

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

std::string TextOf(int64_t value, std::span<const Unit> units) {
  std::string shortest;
  for (const auto& [name, factor] : units) {
    const int64_t whole = value / factor, rest = value % factor, tenth = factor % 10 == 0 ? factor / 10 : factor;
    if (rest % tenth != 0 || (whole == 0 && rest != 0)) continue;
    std::string text = std::to_string(whole) + (rest == 0 ? "" : "." + std::to_string(rest / tenth)) + std::string(name);
    if (shortest.empty() || text.size() < shortest.size()) shortest = std::move(text);
  }
  return shortest;
}

}  // namespace

std::string_view UnitMeantBy(std::string_view word, std::span<const Unit> units) {
  constexpr std::string_view kOthers[][2] = {
      {"min", "m"},        {"mins", "m"},  {"minute", "m"}, {"minutes", "m"}, {"sec", "s"},   {"secs", "s"},   {"second", "s"},
      {"seconds", "s"},    {"msec", "ms"}, {"msecs", "ms"}, {"millis", "ms"}, {"usec", "us"}, {"usecs", "us"}, {"micros", "us"},
      {"\xc2\xb5s", "us"}, {"nsec", "ns"}, {"nanos", "ns"}, {"hr", "h"},      {"hrs", "h"},   {"hour", "h"},   {"hours", "h"},
      {"k", "KiB"},        {"kb", "KiB"},  {"ki", "KiB"},   {"m", "MiB"},     {"mb", "MiB"},  {"mi", "MiB"},   {"g", "GiB"},
      {"gb", "GiB"},       {"gi", "GiB"},  {"byte", "B"},   {"bytes", "B"}};
  const auto find = [units](std::string_view name) -> std::string_view {
    for (const Unit& unit : units)
      if (EqualIgnoringCase(name, unit.name)) return unit.name;
    return {};
  };
  std::string_view meant = find(word);
  for (const auto& [other, unit] : kOthers)
    if (meant.empty() && EqualIgnoringCase(word, other)) meant = find(unit);
  return meant;
}

Measure SplitMeasure(std::string_view text) {
  if (text.empty() || !IsDigit(text.front())) return {{}, text};
  size_t end = 0;
  while (end < text.size() && (IsDigit(text[end]) || text[end] == '_')) ++end;
  while (text[end - 1] == '_') --end;
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

std::string MeasureMeant(std::string_view text, std::span<const Unit> units, std::string_view likely) {
  const Measure measure = SplitMeasure(Trim(text));
  const std::string_view word = Trim(measure.unit, " \t_"), unit = word.empty() ? likely : UnitMeantBy(word, units);
  return measure.number.empty() || unit.empty() ? std::string() : std::string(measure.number) + std::string(unit);
}

std::string DurationText(int64_t ns) { return ns == 0 ? "0s" : TextOf(ns, kTimeUnits); }
std::string SizeText(int64_t bytes) { return TextOf(bytes, kSizeUnits); }

}  // namespace wf::base
