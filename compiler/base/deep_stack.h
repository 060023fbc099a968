#pragma once

#include <cstddef>

namespace wf::source {

// The stack of whoever takes a program through the phases. Nesting in a program is bounded, but phases recurse over it with frames of their
// own, and LLVM's passes over chains of instructions; memory is touched only as deep as they go.
inline constexpr size_t kDeepStackBytes = size_t{256} << 20;

}  // namespace wf::source
