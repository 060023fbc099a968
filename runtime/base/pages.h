#pragma once

#include <cstddef>
#include <cstdint>

namespace wf::base {

// Pages of zeros, for munmap; null: the system has none. Asked for here, so that it is no call of the `mmap` that a server gives oneDNN,
// which insists.   Thread: thread-safe.
void* MapPages(size_t bytes) noexcept;

// Bytes of addresses that the process may have (RLIMIT_AS); SIZE_MAX: they are not limited.   Thread: thread-safe.
size_t MostAddresses() noexcept;

}  // namespace wf::base
