#include "runtime/protocol/http2/blocks.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/base/poison.h"

namespace wf::http2 {
namespace {

constexpr size_t kLeastBytes = 64;

}  // namespace

// Before each block. `size`: its list, or kSizes.
struct alignas(16) Blocks::Head {
  Head* previous;  // of those that are held
  Head* next;
  uint32_t size;
  uint32_t bytes;  // behind the head; of a block without a list
};

Blocks::~Blocks() { DropKept(); }

void Blocks::DropKept() noexcept {
  for (Head*& list : free_) {
    while (list != nullptr) std::free(std::exchange(list, list->next));
  }
  kept_bytes_ = 0;
}

void* Blocks::Take(size_t bytes) noexcept {
  const bool listed = bytes <= kMaxBlockBytes;
  const auto size = listed ? static_cast<uint32_t>(std::bit_width(std::max(bytes, kLeastBytes) - 1)) - 6 : uint32_t{kSizes};
  const size_t room = listed ? kLeastBytes << size : bytes;
  Head* head = listed ? free_[size] : nullptr;
  if (head != nullptr) {
    free_[size] = head->next;
    kept_bytes_ -= room;
    base::Unpoison(head + 1, room);
    return head + 1;
  }
  if (room > UINT32_MAX) return nullptr;
  head = static_cast<Head*>(std::malloc(sizeof(Head) + room));
  if (head == nullptr) return nullptr;
  head->size = size;
  head->bytes = static_cast<uint32_t>(room);
  return head + 1;
}

void Blocks::Give(void* block) noexcept {
  if (block == nullptr) return;
  Head* const head = static_cast<Head*>(block) - 1;
  if (head->size == kSizes || kept_bytes_ + head->bytes > kMaxKeptBytes) return std::free(head);
  base::Poison(block, head->bytes);
  head->next = free_[head->size];
  free_[head->size] = head;
  kept_bytes_ += head->bytes;
}

void* Held::Take(size_t bytes) noexcept {
  void* const block = blocks_.Take(bytes);
  if (block == nullptr) return nullptr;
  Blocks::Head* const head = static_cast<Blocks::Head*>(block) - 1;
  head->previous = nullptr;
  head->next = first_;
  if (first_ != nullptr) first_->previous = head;
  first_ = head;
  return block;
}

void Held::Give(void* block) noexcept {
  if (block == nullptr) return;
  Blocks::Head* const head = static_cast<Blocks::Head*>(block) - 1;
  (head->previous == nullptr ? first_ : head->previous->next) = head->next;
  if (head->next != nullptr) head->next->previous = head->previous;
  blocks_.Give(block);
}

void* Held::Resize(void* block, size_t bytes) noexcept {
  if (block == nullptr) return Take(bytes);
  const size_t has = (static_cast<Blocks::Head*>(block) - 1)->bytes;
  if (bytes <= has) return block;
  void* const larger = Take(bytes);
  if (larger == nullptr) return nullptr;
  std::memcpy(larger, block, has);
  Give(block);
  return larger;
}

void Held::GiveAll() noexcept {
  while (first_ != nullptr) Give(first_ + 1);
}

}  // namespace wf::http2
