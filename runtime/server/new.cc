#include <sys/mman.h>

#include <cerrno>
#include <cstdlib>
#include <new>

#include "runtime/base/reserve.h"

// `new` of a server insists, as Reserve does: it throws for externs alone. What may fail asks with std::nothrow, and is not kept waiting
// for memory: the library's would call the same handler for both. Not part of builds with sanitizers, whose own `new` looks for mistakes.
namespace {

template <typename Allocate>
void* MustHave(const Allocate& allocate) {
  void* const memory = wf::base::Reserve::Insist(allocate);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* Plain(size_t bytes) noexcept { return std::malloc(bytes == 0 ? 1 : bytes); }
// Multiples of the alignment, as aligned_alloc asks for.
void* Aligned(size_t bytes, std::align_val_t align) noexcept {
  const auto unit = static_cast<size_t>(align);
  if (bytes > SIZE_MAX - unit) return nullptr;
  return std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit + (bytes == 0 ? unit : 0));
}

}  // namespace

void* operator new(size_t bytes) {
  return MustHave([bytes] { return Plain(bytes); });
}
void* operator new[](size_t bytes) {
  return MustHave([bytes] { return Plain(bytes); });
}
void* operator new(size_t bytes, std::align_val_t align) {
  return MustHave([bytes, align] { return Aligned(bytes, align); });
}
void* operator new[](size_t bytes, std::align_val_t align) {
  return MustHave([bytes, align] { return Aligned(bytes, align); });
}
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return Plain(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return Plain(bytes); }
void* operator new(size_t bytes, std::align_val_t align, const std::nothrow_t&) noexcept { return Aligned(bytes, align); }
void* operator new[](size_t bytes, std::align_val_t align, const std::nothrow_t&) noexcept { return Aligned(bytes, align); }

// oneDNN 2.6 takes all of its memory from here, and looks at what it got only where that is large: its objects are built in a null as well.
// So the small insists, and the large fails, which oneDNN tells of as of memory that is not there.
extern "C" int posix_memalign(void** out, size_t align, size_t bytes) noexcept {
  constexpr size_t kMostObject = size_t{64} << 10;
  if (align % sizeof(void*) != 0 || (align & (align - 1)) != 0 || align == 0) return EINVAL;
  const auto allocate = [=] { return Aligned(bytes, std::align_val_t{align}); };
  void* const memory = bytes <= kMostObject ? wf::base::Reserve::Insist(allocate) : allocate();
  if (memory == nullptr) return ENOMEM;
  *out = memory;
  return 0;
}

// Nor does it look whether there was room for machine code, of which it asks for less than kMostCode at a time. So all but externs
// insist who map as little, anywhere; what may fail asks base::MapPages. Failures for other reasons than memory are the caller's.
extern "C" void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t from) noexcept {
  constexpr size_t kMostCode = size_t{1} << 20;
  const auto map = [=] {
    void* const pages = mmap64(at, bytes, protection, flags, fd, from);
    return pages == MAP_FAILED && errno == ENOMEM ? nullptr : pages;
  };
  const bool insists = at == nullptr && (flags & (MAP_ANONYMOUS | MAP_HUGETLB)) == MAP_ANONYMOUS && bytes <= kMostCode;
  void* const pages = insists ? wf::base::Reserve::Insist(map) : map();
  return pages == nullptr ? MAP_FAILED : pages;
}
