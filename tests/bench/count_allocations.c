// Preloaded into a server: counts calls of the allocator in a file that the benchmark maps (WF_ALLOCATION_COUNT: its path, 8 bytes).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t* count;

__attribute__((constructor)) static void Open(void) {
  const char* path = getenv("WF_ALLOCATION_COUNT");
  const int file = path == NULL ? -1 : open(path, O_RDWR);
  if (file < 0) return;
  void* page = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (page != MAP_FAILED) count = page;
}

static void Count(void) {
  if (count != NULL) __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

// glibc's own entry points: dlsym would allocate while we stand in for malloc.
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) {
  Count();
  return __libc_malloc(bytes);
}

void* calloc(size_t items, size_t bytes) {
  Count();
  return __libc_calloc(items, bytes);
}

void* realloc(void* old, size_t bytes) {
  Count();
  return __libc_realloc(old, bytes);
}

void* aligned_alloc(size_t align, size_t bytes) {
  Count();
  return __libc_memalign(align, bytes);
}

void* memalign(size_t align, size_t bytes) {
  Count();
  return __libc_memalign(align, bytes);
}

int posix_memalign(void** out, size_t align, size_t bytes) {
  Count();
  *out = __libc_memalign(align, bytes);
  return *out == NULL ? ENOMEM : 0;
}
