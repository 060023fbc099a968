#include "runtime/base/pages.h"

#include <sys/mman.h>

namespace wf::base {

void* MapPages(size_t bytes) noexcept {
  void* const pages = mmap64(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : pages;
}

}  // namespace wf::base
