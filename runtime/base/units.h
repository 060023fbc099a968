#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace wf::base {

inline constexpr int64_t kNsPerMs = 1'000'000, kNsPerSecond = 1000 * kNsPerMs;

// Units as programs, configuration and flags write them: right behind the number, which may have a fraction, and `_` between digits.
struct Unit {
  std::string_view name;
  int64_t factor;
};
inline constexpr Unit kTimeUnits[] = {
    {"h", 3600 * kNsPerSecond}, {"m", 60 * kNsPerSecond}, {"s", kNsPerSecond}, {"ms", kNsPerMs}, {"us", 1000}, {"ns", 1}};
inline constexpr Unit kSizeUnits[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}};

// Which of the `units` is meant by a word: it, or what is often written instead: `k`, `5S`, `minutes`. Empty: nothing known.
std::string_view UnitMeantBy(std::string_view word, std::span<const Unit> units);

// A number and what follows it at once: "1_000.5ms". No number: `number` is empty.
struct Measure {
  std::string_view number, unit;
};
Measure SplitMeasure(std::string_view text);

// The value in what has the factor 1, rounded, at most INT64_MAX. `bare`: the unit of a number that has none; empty: it needs one. Nothing:
// the text is no number, or its unit none of `units`.
std::optional<int64_t> ReadMeasure(std::string_view text, std::span<const Unit> units, std::string_view bare = {});

// The measure that is meant by what is none: `2m` for `2min`, `64KiB` for `64_k`, `2ms` for `2 ms`, with the unit `likely` where none
// stands. Empty: who knows.
std::string MeasureMeant(std::string_view text, std::span<const Unit> units, std::string_view likely = {});

// The shortest that ReadMeasure reads as the same, with a digit of fraction at most: "1.5ms", "90s", "64MiB".
std::string DurationText(int64_t ns);
std::string SizeText(int64_t bytes);

// The nearest to it, so that its fewest digits are those of the duration: 500 is 5e-07.
constexpr double Seconds(int64_t ns) { return static_cast<double>(ns) / static_cast<double>(kNsPerSecond); }

}  // namespace wf::base
