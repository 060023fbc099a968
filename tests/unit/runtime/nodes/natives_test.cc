#include <gtest/gtest.h>

#include "runtime/abi/plan.h"
#include "runtime/nodes/nodes.h"

namespace wf::nodes {
namespace {

// Generated code refers to these names: a row without a body would be found only when a user's program is linked.
TEST(Natives, EveryRowOfTheTableHasABody) {
  const void* bodies[] = {
#define NATIVE(name, arguments, cost_ns, cost_ns_per_unit) reinterpret_cast<const void*>(&name),
#define NATIVE_UNITS(name, function) reinterpret_cast<const void*>(&function),
#include "runtime/abi/runtime_symbols.def"
  };
  for (const void* body : bodies) EXPECT_NE(body, nullptr);
}

}  // namespace
}  // namespace wf::nodes
