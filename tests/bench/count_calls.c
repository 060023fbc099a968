// Preloaded into a server: counts calls in a file that the benchmark maps (WF_CALLS_COUNT: its path, 24 bytes): those of the allocator but
// for the next, those out of the shared library that WF_CALLS_APART names a part of, and those that lock a mutex.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kFrames = 8, kLocks = 2, kCounts };
static uint64_t* count;
static const char* apart;
static uintptr_t apart_begin, apart_end;
static __thread int walks;

static int FindApart(struct dl_phdr_info* info, size_t size, void* unused) {
  (void)size, (void)unused;
  if (strstr(info->dlpi_name, apart) == NULL) return 0;
  uintptr_t end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const uintptr_t segment_end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    if (info->dlpi_phdr[i].p_type == PT_LOAD && segment_end > end) end = segment_end;
  }
  apart_begin = info->dlpi_addr;
  __atomic_store_n(&apart_end, end, __ATOMIC_RELEASE);
  return 1;
}

// Does the call come out of that library? Between it and us stands at most operator new.
static int IsApart(void) {
  if (apart == NULL || walks) return 0;
  walks = 1;
  if (__atomic_load_n(&apart_end, __ATOMIC_ACQUIRE) == 0) dl_iterate_phdr(FindApart, NULL);
  void* frames[kFrames];
  const int found = apart_end == 0 ? 0 : backtrace(frames, kFrames);
  int is_apart = 0;
  for (int i = 0; i < found; ++i) is_apart |= (uintptr_t)frames[i] >= apart_begin && (uintptr_t)frames[i] < apart_end;
  walks = 0;
  return is_apart;
}

__attribute__((constructor)) static void Open(void) {
  const char* path = getenv("WF_CALLS_COUNT");
  const int file = path == NULL ? -1 : open(path, O_RDWR);
  if (file < 0) return;
  void* page = mmap(NULL, kCounts * sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  void* frame;
  backtrace(&frame, 1);  // loads what it needs
  apart = getenv("WF_CALLS_APART");
  if (page != MAP_FAILED) count = page;
}

static void Count(void) {
  if (count != NULL) __atomic_fetch_add(&count[IsApart()], 1, __ATOMIC_RELAXED);
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

typedef int Lock(pthread_mutex_t*);

// What the next library has of that name, found once. Whoever comes first may come before our own constructor.
static int CallNext(Lock** next, const char* name, pthread_mutex_t* mutex) {
  if (count != NULL) __atomic_fetch_add(&count[kLocks], 1, __ATOMIC_RELAXED);
  if (__atomic_load_n(next, __ATOMIC_RELAXED) == NULL) __atomic_store_n(next, (Lock*)dlsym(RTLD_NEXT, name), __ATOMIC_RELAXED);
  return __atomic_load_n(next, __ATOMIC_RELAXED)(mutex);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static Lock* next;
  return CallNext(&next, "pthread_mutex_lock", mutex);
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  static Lock* next;
  return CallNext(&next, "pthread_mutex_trylock", mutex);
}
