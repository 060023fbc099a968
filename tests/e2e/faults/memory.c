// Preloaded into a server: allocations of malloc's family fail as the file that FAULTS_FILE names says.
#include "control.h"

#include <stddef.h>

#define FAILS FailsOf(kMemory, __builtin_return_address(0))

// glibc's own entry points: dlsym would allocate while we stand in for malloc.
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) { return FAILS ? NULL : __libc_malloc(bytes); }
void* calloc(size_t items, size_t bytes) { return FAILS ? NULL : __libc_calloc(items, bytes); }
void* realloc(void* old, size_t bytes) { return bytes != 0 && FAILS ? NULL : __libc_realloc(old, bytes); }
void* aligned_alloc(size_t align, size_t bytes) { return FAILS ? NULL : __libc_memalign(align, bytes); }
void* memalign(size_t align, size_t bytes) { return FAILS ? NULL : __libc_memalign(align, bytes); }
int posix_memalign(void** out, size_t align, size_t bytes) {
  void* memory = FAILS ? NULL : __libc_memalign(align, bytes);
  if (memory == NULL) return ENOMEM;
  *out = memory;
  return 0;
}
