#include "compiler/load/duration.h"

#include <fmt/format.h>

namespace wf::load {

std::string Duration(double ns) {
  struct Unit {
    double ns;
    const char* name;
  };
  for (const Unit& unit : {Unit{1e9, "s"}, Unit{1e6, "ms"}, Unit{1e3, "us"}}) {
    const double value = ns / unit.ns;
    if (value >= 0.9995) return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, unit.name);
  }
  return fmt::format("{:.0f} ns", ns);
}

}  // namespace wf::load
