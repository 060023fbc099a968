#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace wf::base {

inline constexpr int64_t kNsPerMs = 1'000'000, kNsPerSecond = 1000 * kNsPerMs;

// Units as programs, configuration and flags write them: right behind the number, which may have a fraction, and `_` between digits.
struct Unit {
  std::string_view name;
  int64_t factor;
};
inline constexpr Unit kTimeUnits[] = {{"h", 3600 * kNsPerSecond}, {"ms", kNsPerMs},   {"us", 1000}, {"ns", 1},
                                      {"m", 60 * kNsPerSecond},   {"s", kNsPerSecond}};
inline constexpr Unit kSizeUnits[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}};

// What is often written instead of one of the `units`, or of any of time and size, and what is meant; empty: nothing known.
constexpr std::string_view UnitMeantBy(std::string_view word, std::span<const Unit> units = {}) {
  constexpr std::string_view kOthers[][2] = {
      {"min", "m"},   {"mins", "m"},  {"minute", "m"}, {"minutes", "m"}, {"sec", "s"},   {"secs", "s"}, {"second", "s"}, {"seconds", "s"},
      {"msec", "ms"}, {"usec", "us"}, {"hr", "h"},     {"hour", "h"},    {"hours", "h"}, {"KB", "KiB"}, {"MB", "MiB"},   {"GB", "GiB"},
      {"kb", "KiB"},  {"mb", "MiB"},  {"gb", "GiB"},   {"K", "KiB"},     {"M", "MiB"},   {"G", "GiB"},  {"bytes", "B"}};
  for (const auto& [other, meant] : kOthers) {
    const auto is_meant = [&meant = meant](const Unit& unit) { return unit.name == meant; };
    if (word == other && (units.empty() || std::any_of(units.begin(), units.end(), is_meant))) return meant;
  }
  return {};
}

// A number and what follows it at once: "1_000.5ms". No number: `number` is empty.
struct Measure {
  std::string_view number, unit;
};
Measure SplitMeasure(std::string_view text);

// The value in what has the factor 1, rounded, at most INT64_MAX. `bare`: the unit of a number that has none; empty: it needs one. Nothing:
// the text is no number, or its unit none of `units`.
std::optional<int64_t> ReadMeasure(std::string_view text, std::span<const Unit> units, std::string_view bare = {});

}  // namespace wf::base
