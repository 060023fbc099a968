#include "runtime/bus/arena.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "runtime/base/check.h"

namespace wf::bus {

namespace {
constexpr size_t kKeptBytes = size_t{64} << 10;  // a chunk that an idle bus may hold
}

void Arena::Open(Memory& memory, Budget& budget, size_t first_bytes) {
  WF_CHECK(first_ == nullptr || (memory_ == &memory && budget_ == &budget));
  memory_ = &memory;
  budget_ = &budget;
  next_bytes_ = std::clamp(std::bit_ceil(first_bytes + sizeof(Chunk)), ChunkMemory::kSmallest, ChunkMemory::kLargest);
  if (first_ != nullptr && first_->bytes < next_bytes_) FreeAll();  // kept from a smaller request
}

bool Arena::TakeFromBudget(int64_t bytes, int64_t spare_bytes) noexcept {
  if (budget_->left.fetch_sub(bytes, std::memory_order_relaxed) >= bytes - spare_bytes) return true;
  GiveToBudget(bytes);
  budget_->Refuse(/*for_others=*/false);
  return false;
}

// What the budget has given, and the memory has not.
bool Arena::RefuseForOthers(int64_t bytes) noexcept {
  GiveToBudget(bytes);
  budget_->Refuse(/*for_others=*/true);
  return false;
}

bool Arena::Claim(uint64_t bytes) noexcept {
  if (memory_ == nullptr) return false;
  const auto wanted = static_cast<int64_t>(std::min(bytes, static_cast<uint64_t>(Budget::kBytes) + 1));  // more than there ever is
  return TakeFromBudget(wanted, 0) && (memory_->Claim(wanted) || RefuseForOthers(wanted));
}

void Arena::Unclaim(uint64_t bytes) noexcept {
  memory_->Unclaim(static_cast<int64_t>(bytes));
  GiveToBudget(static_cast<int64_t>(bytes));
}

Arena::Chunk* Arena::TakeChunk(size_t bytes, int64_t spare_bytes) noexcept {
  const auto wanted = static_cast<int64_t>(bytes);
  if (!TakeFromBudget(wanted, spare_bytes)) return nullptr;
  auto* const chunk = static_cast<Chunk*>(memory_->Take(bytes));
  if (chunk == nullptr) {
    RefuseForOthers(wanted);
    return nullptr;
  }
  chunk->next = nullptr;
  chunk->bytes = bytes;
  chunk->is_retained = false;
  held_ += bytes;
  if (last_ == nullptr)
    first_ = chunk;
  else
    last_->next = chunk;
  last_ = chunk;
  return chunk;
}

void* Arena::AllocateSlow(uint64_t bytes, uint64_t align) noexcept {
  if (memory_ == nullptr) return nullptr;
  if (bytes > static_cast<uint64_t>(Budget::kBytes)) {
    budget_->Refuse(/*for_others=*/false);
    return nullptr;
  }
  const uint64_t needed = ((bytes + 63) & ~UINT64_C(63)) + sizeof(Chunk);
  if (needed > ChunkMemory::kLargest || (needed > next_bytes_ && needed > ChunkMemory::kLargest / 4)) {
    const uint64_t whole = needed > ChunkMemory::kLargest ? (needed + 4095) & ~UINT64_C(4095) : std::bit_ceil(needed);
    Chunk* const alone = TakeChunk(whole);  // the chunk that is being bumped stays current
    return alone == nullptr ? nullptr : alone + 1;
  }
  Chunk* const chunk = TakeChunk(std::max(next_bytes_, std::bit_ceil(static_cast<size_t>(needed))));
  if (chunk == nullptr) return nullptr;
  next_bytes_ = std::min(chunk->bytes * 2, ChunkMemory::kLargest);
  bumped_ = {reinterpret_cast<uintptr_t>(chunk + 1), reinterpret_cast<uintptr_t>(chunk) + chunk->bytes};
  return Allocate(bytes, align);
}

void* Arena::AllocateToReport(uint64_t bytes, uint64_t align) noexcept {
  if (void* const memory = Allocate(bytes, align); memory != nullptr) return memory;
  if (memory_ == nullptr || bytes + align > ChunkMemory::kSmallest - sizeof(Chunk)) return nullptr;
  Chunk* const chunk = TakeChunk(ChunkMemory::kSmallest, Budget::kSpareBytes);
  if (chunk == nullptr) return nullptr;
  bumped_ = {reinterpret_cast<uintptr_t>(chunk + 1), reinterpret_cast<uintptr_t>(chunk) + chunk->bytes};
  return Allocate(bytes, align);
}

void* Arena::Grow(const void* block, uint64_t used, uint64_t bytes) noexcept {
  const uintptr_t end = reinterpret_cast<uintptr_t>(block) + used;
  const auto known = std::find_if(growing_.begin(), growing_.end(), [&](const Space& space) { return space.at == end; });
  const bool grows = known != growing_.end();
  std::rotate(growing_.begin(), grows ? known : std::prev(known),
              grows ? std::next(known) : known);  // the last used first; the oldest goes
  Space& space = growing_.front();
  if (grows && bytes - used <= space.end - space.at) {
    space.at += bytes - used;
    return const_cast<void*>(block);
  }
  uint64_t room = grows ? bytes : 0;
  void* copy = Allocate(bytes + room + kBehind, 1);
  if (copy == nullptr && room != 0) {
    room = 0;
    copy = Allocate(bytes + kBehind, 1);
  }
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, block, used);
  space = {reinterpret_cast<uintptr_t>(copy) + bytes, reinterpret_cast<uintptr_t>(copy) + bytes + room};
  return copy;
}

// The room behind a block that grew has at least a byte of the block before it.
void Arena::ForgetGrowing(uintptr_t begin, uintptr_t end) noexcept {
  for (Space& space : growing_)
    if (space.at > begin && space.at <= end) space = {};
}

size_t Arena::CountSince(const Mark& mark) const {
  size_t count = 1;
  for (const Chunk* chunk = mark.last == nullptr ? first_ : mark.last->next; chunk != nullptr; chunk = chunk->next) ++count;
  return count;
}

void Arena::ListSince(const Mark& mark, Stretch* stretches) const {
  *stretches++ = {mark.at, mark.end, nullptr};
  for (Chunk* chunk = mark.last == nullptr ? first_ : mark.last->next; chunk != nullptr; chunk = chunk->next)
    *stretches++ = {reinterpret_cast<uintptr_t>(chunk + 1), reinterpret_cast<uintptr_t>(chunk) + chunk->bytes, chunk};
}

void Arena::GiveBackSince(const Mark& mark) noexcept {
  Chunk* chunk = mark.last == nullptr ? std::exchange(first_, nullptr) : std::exchange(mark.last->next, nullptr);
  last_ = mark.last;
  while (chunk != nullptr) {
    Chunk* const following = chunk->next;
    if (chunk->is_retained) {
      chunk->is_retained = false;
      chunk->next = nullptr;
      (last_ == nullptr ? first_ : last_->next) = chunk;
      last_ = chunk;
    } else {
      const size_t bytes = chunk->bytes;
      ForgetGrowing(reinterpret_cast<uintptr_t>(chunk), reinterpret_cast<uintptr_t>(chunk) + bytes);
      memory_->Give(chunk, bytes);
      GiveToBudget(static_cast<int64_t>(bytes));
      held_ -= bytes;
    }
    chunk = following;
  }
  ForgetGrowing(mark.at, mark.end);
  bumped_ = {mark.at, mark.end};
  next_bytes_ = mark.last == nullptr ? 4 * ChunkMemory::kSmallest : std::min(mark.last->bytes * 2, ChunkMemory::kLargest);
  const uintptr_t readable = std::min((mark.at + 63) & ~uintptr_t{63}, mark.end);  // behind the last block that stays
  base::Poison(reinterpret_cast<void*>(readable), mark.end - readable);
}

void Arena::Splice(Arena& other) noexcept {
  if (other.first_ == nullptr) return;
  if (last_ == nullptr)
    first_ = other.first_;
  else
    last_->next = other.first_;
  last_ = other.last_;
  held_ += other.held_;
  if (other.bumped_.end - other.bumped_.at > bumped_.end - bumped_.at) bumped_ = other.bumped_;
  other.first_ = other.last_ = nullptr;
  other.bumped_ = {};
  other.growing_ = {};
  other.held_ = 0;
}

void Arena::Reset(bool keep) noexcept {
  Chunk* chunk = first_;
  Chunk* const kept = keep && chunk != nullptr && chunk->bytes <= kKeptBytes ? chunk : nullptr;
  if (kept != nullptr) chunk = kept->next;
  while (chunk != nullptr) {
    Chunk* const following = chunk->next;
    const size_t bytes = chunk->bytes;
    memory_->Give(chunk, bytes);
    GiveToBudget(static_cast<int64_t>(bytes));
    chunk = following;
  }
  first_ = last_ = kept;
  bumped_ = {};
  growing_ = {};
  held_ = 0;
  if (kept == nullptr) return;
  kept->next = nullptr;
  held_ = kept->bytes;
  bumped_ = {reinterpret_cast<uintptr_t>(kept + 1), reinterpret_cast<uintptr_t>(kept) + kept->bytes};
  next_bytes_ = std::min(kept->bytes * 2, ChunkMemory::kLargest);
  base::Poison(kept + 1, kept->bytes - sizeof(Chunk));
}

}  // namespace wf::bus
