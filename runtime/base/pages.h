#pragma once

#include <cstddef>

namespace wf::base {

// Pages of zeros, for munmap; null: the system has none. Asked for here, so that it is no call of the `mmap` that a server gives oneDNN,
// which insists.   Thread: thread-safe.
void* MapPages(size_t bytes) noexcept;

}  // namespace wf::base
