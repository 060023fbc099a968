#include "runtime/base/pages.h"

#include <sys/mman.h>
#include <sys/resource.h>

namespace wf::base {

void* MapPages(size_t bytes) noexcept {
  void* const pages = mmap64(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

size_t MostAddresses() noexcept {
  rlimit addresses{};
  const bool is_limited = getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY;
  return is_limited ? addresses.rlim_cur : SIZE_MAX;
}

}  // namespace wf::base
