#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace wf::base {

inline constexpr int64_t kNsPerMs = 1'000'000, kNsPerSecond = 1000 * kNsPerMs;

// Units as programs and configuration files write them.
struct Unit {
  std::string_view name;
  int64_t factor;
};
// Largest first; a name that ends another comes after it.
inline constexpr Unit kTimeUnits[] = {{"h", 3600 * kNsPerSecond}, {"ms", kNsPerMs},   {"us", 1000}, {"ns", 1},
                                      {"m", 60 * kNsPerSecond},   {"s", kNsPerSecond}};
inline constexpr Unit kSizeUnits[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}};

// What is often written instead of a unit, and what is meant; empty: nothing known.
constexpr std::string_view UnitMeantBy(std::string_view word) {
  constexpr std::string_view kOthers[][2] = {{"min", "m"},   {"mins", "m"}, {"sec", "s"},  {"secs", "s"}, {"msec", "ms"},
                                             {"usec", "us"}, {"hr", "h"},   {"KB", "KiB"}, {"MB", "MiB"}, {"GB", "GiB"},
                                             {"K", "KiB"},   {"M", "MiB"},  {"G", "GiB"}};
  for (const auto& [other, meant] : kOthers) {
    if (word == other) return meant;
  }
  return {};
}

}  // namespace wf::base
