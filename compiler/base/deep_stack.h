#pragma once

#include <algorithm>
#include <cstddef>

namespace wf::source {

// The stack of whoever takes a program through the phases. Nesting in a program is bounded, but phases recurse over it with frames of their
// own, and LLVM's passes over chains of instructions; memory is touched only as deep as they go.
inline constexpr size_t kDeepStackBytes = size_t{256} << 20;

// Where there are so many bytes of addresses: a share of those beyond what any work takes, so that more of them never leave less for the
// work.
constexpr size_t DeepStackBytesOf(size_t addresses) {
  constexpr size_t kOfWork = size_t{384} << 20, kLeast = size_t{8} << 20, kPart = 4;
  const size_t share = (std::max(addresses, kOfWork) - kOfWork) / kPart;
  return std::clamp(share, kLeast, kDeepStackBytes);
}

}  // namespace wf::source
