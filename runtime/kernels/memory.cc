#include "runtime/kernels/memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "runtime/base/pages.h"

namespace wf::kernels {
namespace {

constexpr int64_t kMapped = int64_t{128} << 10, kPage = 4096, kHuge = int64_t{2} << 20;

constexpr int64_t RoundedUp(int64_t bytes, int64_t unit) { return (bytes + unit - 1) / unit * unit; }

std::shared_ptr<uint8_t> Map(int64_t bytes) {
  const int64_t unit = bytes >= kHuge ? kHuge : kPage;
  const int64_t size = RoundedUp(bytes, unit), spare = unit - kPage;
  auto* const start = static_cast<uint8_t*>(base::MapPages(static_cast<size_t>(size + spare)));
  if (start == nullptr) return nullptr;
  const int64_t before = RoundedUp(reinterpret_cast<int64_t>(start), unit) - reinterpret_cast<int64_t>(start), behind = spare - before;
  if (before > 0) munmap(start, static_cast<size_t>(before));
  if (behind > 0) munmap(start + before + size, static_cast<size_t>(behind));
  if (bytes >= kHuge) (void)madvise(start + before, static_cast<size_t>(size), MADV_HUGEPAGE);  // only a wish
  return {start + before, [size](uint8_t* memory) { munmap(memory, static_cast<size_t>(size)); }};
}

}  // namespace

std::shared_ptr<uint8_t> Allocate(int64_t bytes) {
  if (bytes >= kMapped) return Map(bytes);
  const size_t size = static_cast<size_t>(std::max(Aligned(bytes), kAlign));
  void* const memory = std::aligned_alloc(static_cast<size_t>(kAlign), size);
  if (memory == nullptr) return nullptr;
  std::memset(memory, 0, size);
  return {static_cast<uint8_t*>(memory), std::free};
}

void GiveBackFreed() { (void)malloc_trim(0); }

// What is only read is in the file, too.
void LetGoOfCode() {
  const auto let_go = [](dl_phdr_info* object, size_t, void*) {
    const auto page = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
    for (const ElfW(Phdr) & segment : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
      const ElfW(Addr) begin = object->dlpi_addr + segment.p_vaddr, first = begin & ~(page - 1);
      (void)madvise(reinterpret_cast<void*>(first), begin + segment.p_memsz - first, MADV_DONTNEED);
    }
    return 0;
  };
  (void)dl_iterate_phdr(let_go, nullptr);
}

std::shared_ptr<uint8_t> PackedMemory::Take(int64_t bytes) {
  bytes = std::max(Aligned(bytes), kAlign);
  if (bytes > size_ - used_) {
    const int64_t size = std::max(bytes, next_bytes_);
    auto block = Allocate(size);
    if (block == nullptr) return nullptr;
    block_ = std::move(block);
    size_ = size;
    used_ = 0;
    next_bytes_ = std::min(2 * next_bytes_, kMostBytes);
  }
  used_ += bytes;
  return {block_, block_.get() + used_ - bytes};
}

}  // namespace wf::kernels
