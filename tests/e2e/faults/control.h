// What the two libraries of this folder share: a file that a test maps as they do, one record per class of calls. A record with neither
// `every` nor `at` leaves its calls alone.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kMemory, kMap, kReceive, kSend, kAccept, kThread, kOpen, kFile, kClock, kClasses };

struct Fault {
  uint64_t every;   // 1 in so many fails, by lot
  uint64_t first;   // fails the calls from this one on, counted from 1
  uint64_t times;   // so many of them; 0: all
  uint64_t error;   // errno; of kClock the seconds to add to the time of day
  uint64_t calls;   // since the test has set it to 0
  uint64_t failed;  // of them
};

static struct Fault* faults;

__attribute__((constructor)) static void MapFaults(void) {
  const char* path = getenv("FAULTS_FILE");
  const int file = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* page = mmap(NULL, kClasses * sizeof *faults, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (page != MAP_FAILED) faults = page;
}

// Is this call to fail? Sets errno then.
static inline int Fails(int class) {
  if (faults == NULL) return 0;
  struct Fault* fault = &faults[class];
  if (fault->every == 0 && fault->first == 0) return 0;
  const uint64_t call = __atomic_add_fetch(&fault->calls, 1, __ATOMIC_RELAXED);
  uint64_t lot = call * 0x9e3779b97f4a7c15u;
  lot ^= lot >> 29;
  lot *= 0xbf58476d1ce4e5b9u;
  lot ^= lot >> 32;
  const int chosen =
      fault->every != 0 ? lot % fault->every == 0 : call >= fault->first && (fault->times == 0 || call < fault->first + fault->times);
  if (!chosen) return 0;
  __atomic_fetch_add(&fault->failed, 1, __ATOMIC_RELAXED);
  errno = (int)fault->error;
  return 1;
}

static inline int Holds(struct dl_phdr_info* info, size_t size, void* caller) {
  (void)size;
  if (strstr(info->dlpi_name, "libgomp") == NULL) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
    if (info->dlpi_phdr[i].p_type == PT_LOAD && (uintptr_t)caller - begin < info->dlpi_phdr[i].p_memsz) return 1;
  }
  return 0;
}

// Of memory: but for what the OpenMP runtime of oneDNN asks malloc for, which dies of a null.
static inline int FailsOf(int class, void* caller) { return Fails(class) && !dl_iterate_phdr(Holds, caller); }
