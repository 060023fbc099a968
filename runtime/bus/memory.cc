#include "runtime/bus/memory.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>
#include <utility>
#include <vector>

#include "runtime/base/mutex.h"
#include "runtime/base/pages.h"
#include "runtime/base/per_thread.h"
#include "runtime/base/poison.h"
#include "runtime/base/reserve.h"

namespace wf::bus {
namespace {

constexpr int kClasses = std::bit_width(ChunkMemory::kLargest / ChunkMemory::kSmallest);
constexpr size_t kMappedBytes = size_t{128} << 10;
constexpr size_t kHeaderBytes = 64;  // before every chunk: keeps the chunk 64-aligned

int ClassOf(size_t bytes) {
  return bytes <= ChunkMemory::kSmallest ? 0 : std::bit_width(bytes - 1) - std::bit_width(ChunkMemory::kSmallest - 1);
}
size_t BytesOf(int size_class) { return ChunkMemory::kSmallest << size_class; }

std::atomic<uint64_t> next_serial{1};

}  // namespace

struct ChunkMemory::Cache {
  struct Header {
    Cache* owner;
    Header* next;
    int size_class;
  };
  static_assert(sizeof(Header) <= kHeaderBytes);

  base::Mutex mutex;  // the owner's, but for DropKept of others
  Header* free[kClasses] WF_GUARDED_BY(mutex) = {};
  size_t kept_bytes WF_GUARDED_BY(mutex) = 0;
  std::atomic<Header*> returned{nullptr};  // by other threads
  std::atomic<size_t> returned_bytes{0};
  Cache* next = nullptr;

  static Header* HeaderOf(void* chunk) { return reinterpret_cast<Header*>(static_cast<char*>(chunk) - kHeaderBytes); }
  static void* ChunkOf(Header* header) { return reinterpret_cast<char*>(header) + kHeaderBytes; }

  // Large ones are mapped, for what `free` takes back it may keep for good.
  static bool IsMapped(int size_class) { return BytesOf(size_class) >= kMappedBytes; }
  static Header* Make(int size_class) {
    const size_t bytes = BytesOf(size_class) + kHeaderBytes;
    if (!IsMapped(size_class)) return static_cast<Header*>(std::aligned_alloc(64, bytes));
    return static_cast<Header*>(base::MapPages(bytes));
  }
  static void Free(Header* header) {
    if (!IsMapped(header->size_class)) return std::free(header);
    base::Unpoison(ChunkOf(header), BytesOf(header->size_class));
    munmap(header, BytesOf(header->size_class) + kHeaderBytes);
  }

  void Keep(Header* header) WF_REQUIRES(mutex) {
    if (kept_bytes + BytesOf(header->size_class) > kKeptBytes) return Free(header);
    kept_bytes += BytesOf(header->size_class);
    header->next = free[header->size_class];
    free[header->size_class] = header;
  }

  void CollectReturned() WF_REQUIRES(mutex) {
    Header* header = returned.load(std::memory_order_relaxed) == nullptr ? nullptr : returned.exchange(nullptr, std::memory_order_acquire);
    while (header != nullptr) {
      Header* const following = header->next;
      returned_bytes.fetch_sub(BytesOf(header->size_class), std::memory_order_relaxed);
      Keep(header);
      header = following;
    }
  }

  // From another thread. What the owner may not come to fetch for long is bounded as what it keeps.
  void Return(Header* header) {
    const size_t bytes = BytesOf(header->size_class);
    if (returned_bytes.fetch_add(bytes, std::memory_order_relaxed) + bytes > kKeptBytes || base::Reserve::memory_is_short()) {
      returned_bytes.fetch_sub(bytes, std::memory_order_relaxed);
      return Free(header);
    }
    header->next = returned.load(std::memory_order_relaxed);
    while (!returned.compare_exchange_weak(header->next, header, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }

  Header* Take(int size_class) {
    const base::MutexLock lock(mutex);
    CollectReturned();
    Header* header = free[size_class];
    if (header != nullptr) {
      free[size_class] = header->next;
      kept_bytes -= BytesOf(size_class);
      base::Unpoison(ChunkOf(header), BytesOf(size_class));
      return header;
    }
    header = Make(size_class);
    if (header == nullptr) return nullptr;
    header->owner = this;
    header->size_class = size_class;
    return header;
  }

  void Give(Header* header) {
    const base::MutexLock lock(mutex);
    Keep(header);
  }

  void FreeAll() {
    const base::MutexLock lock(mutex);
    CollectReturned();
    for (Header*& list : free) {
      while (list != nullptr) Free(std::exchange(list, list->next));
    }
    kept_bytes = 0;
  }
};

ChunkMemory::ChunkMemory(int64_t limit_bytes, int64_t request_bytes)
    : limit_bytes_(limit_bytes), request_bytes_(request_bytes), serial_(next_serial.fetch_add(1)) {}

ChunkMemory::~ChunkMemory() {
  std::erase_if(KnownHere(), [this](const Known& entry) { return entry.serial == serial_; });  // wfc makes one for each call
  for (Cache* cache = caches_.load(); cache != nullptr;) {
    Cache* const following = cache->next;
    cache->FreeAll();
    delete cache;
    cache = following;
  }
}

std::vector<ChunkMemory::Known>& ChunkMemory::KnownHere() noexcept {
  constinit static thread_local base::PerThread<std::vector<Known>> known;
  return *known;
}

ChunkMemory::Cache* ChunkMemory::CacheOfThisThread() noexcept {
  std::vector<Known>& known = KnownHere();
  for (const Known& entry : known)
    if (entry.serial == serial_) return entry.cache;
  const base::Reserve::OwnWork here;  // an extern may have called
  auto* const cache = new Cache;
  cache->next = caches_.load(std::memory_order_relaxed);
  while (!caches_.compare_exchange_weak(cache->next, cache, std::memory_order_release, std::memory_order_relaxed)) {
  }
  known.push_back({serial_, cache});
  return cache;
}

bool ChunkMemory::Claim(int64_t bytes) noexcept { return Add(bytes, most_bytes()); }

bool ChunkMemory::ClaimLast(int64_t bytes) noexcept { return Add(bytes, limit_bytes_ - limit_bytes_ / 16); }

bool ChunkMemory::HasRoom(int64_t bytes) const noexcept {
  return !base::Reserve::memory_is_short() && in_use_bytes() <= most_bytes() - bytes;
}

bool ChunkMemory::Add(int64_t bytes, int64_t most) noexcept {
  if (base::Reserve::memory_is_short()) return false;
  if (in_use_.fetch_add(bytes, std::memory_order_relaxed) <= most - bytes) return true;
  Unclaim(bytes);
  return false;
}

void* ChunkMemory::Take(size_t bytes) noexcept {
  const bool alone = bytes > kLargest;
  const int64_t counted = static_cast<int64_t>(alone ? bytes : BytesOf(ClassOf(bytes)));
  if (!Add(counted, limit_bytes_)) return nullptr;
  void* chunk = nullptr;
  if (alone) {
    chunk = base::MapPages(bytes);
  } else if (Cache::Header* const header = CacheOfThisThread()->Take(ClassOf(bytes)); header != nullptr) {
    chunk = Cache::ChunkOf(header);
  }
  if (chunk == nullptr) {
    Unclaim(counted);
    base::Reserve::NoteFailed(static_cast<size_t>(counted));
  }
  return chunk;
}

void ChunkMemory::Give(void* chunk, size_t bytes) noexcept {
  const bool alone = bytes > kLargest;
  Unclaim(static_cast<int64_t>(alone ? bytes : BytesOf(ClassOf(bytes))));
  if (alone) {
    munmap(chunk, bytes);
    return;
  }
  Cache::Header* const header = Cache::HeaderOf(chunk);
  Cache* const owner = header->owner;
  base::Poison(chunk, BytesOf(header->size_class));
  if (owner != CacheOfThisThread()) return owner->Return(header);
  owner->Give(header);
  if (base::Reserve::memory_is_short()) owner->FreeAll();
}

void ChunkMemory::DropKept() noexcept {
  for (Cache* cache = caches_.load(std::memory_order_acquire); cache != nullptr; cache = cache->next) cache->FreeAll();
}

}  // namespace wf::bus
