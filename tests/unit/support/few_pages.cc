#include "tests/unit/support/few_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace wf::test {

size_t most_mapped = SIZE_MAX;
size_t mapped = 0;

}  // namespace wf::test

// Of anonymous pages.
extern "C" void* __wrap_mmap64(void* at, size_t bytes, int protection, int flags, ...) {
  if (bytes > wf::test::most_mapped) return MAP_FAILED;
  wf::test::mapped += bytes;
  return mmap(at, bytes, protection, flags, -1, 0);
}
