#include "compiler/ir/costs.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace wf::ir {
namespace {

constexpr float kExternNsPerUnit = 10;  // nobody knows what an extern fn does with what it is given, but it looks at it

}  // namespace

NativeCost CostOfNative(std::string_view symbol) {
  struct Row {
    std::string_view name;
    NativeCost cost;
  };
  static constexpr Row kRows[] = {
#define NATIVE(name, arguments, cost_ns, cost_ns_per_unit) {#name, {cost_ns, cost_ns_per_unit}},
#include "runtime/abi/runtime_symbols.def"
  };
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows), [symbol](const Row& at) { return at.name == symbol; });
  return row == std::end(kRows) ? NativeCost{kComputeNs, kExternNsPerUnit} : row->cost;
}

std::string_view TurnsOfNative(std::string_view symbol) {
  static constexpr std::pair<std::string_view, std::string_view> kRows[] = {
#define NATIVE_TURNS(name, turns) {#name, turns},
#include "runtime/abi/runtime_symbols.def"
  };
  for (const auto& [name, turns] : kRows) {
    if (name == symbol) return turns;
  }
  return {};
}

}  // namespace wf::ir
