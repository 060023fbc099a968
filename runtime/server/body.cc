#include "runtime/server/body.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/base/reserve.h"

namespace wf::server {

Body::~Body() { std::free(memory_); }

// Large blocks are mapped by the allocator, which grows them without a copy: they stay aligned as they were. Smaller ones may not.
bool Body::Reserve(size_t bytes) noexcept {
  if (bytes > capacity_ || memory_ == nullptr) {
    void* grown = std::realloc(memory_, kPadBytes + bytes + kPadBytes);
    if (grown == nullptr) {
      base::Reserve::NoteFailed(bytes);
      return false;
    }
    memory_ = static_cast<uint8_t*>(grown);
    capacity_ = bytes;
  }
  const size_t lead = (kPadBytes - (reinterpret_cast<uintptr_t>(memory_) + align_at_) % kPadBytes) % kPadBytes;
  if (lead != lead_ && size_ != 0) std::memmove(memory_ + lead, memory_ + lead_, size_);
  lead_ = lead;
  return true;
}

size_t Body::GrownFor(size_t bytes) const noexcept {
  const size_t doubled = std::max(capacity_ * 2, size_t{1024});
  if (announced_ <= bytes) return std::max(bytes, doubled);
  return std::max(bytes, std::min(announced_, std::max(doubled, std::min(bytes * kTimesArrived, kMostReserved))));
}

bool Body::Append(std::span<const uint8_t> bytes) noexcept {
  if (bytes.empty()) return true;
  if (bytes.size() > capacity_ - size_ && !Reserve(GrownFor(size_ + bytes.size()))) return false;
  std::memcpy(data() + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
  return true;
}

void Body::DropFirst(size_t count) noexcept {
  size_ -= count;
  std::memmove(data(), data() + count, size_);
}

void Body::Clear() noexcept {
  size_ = align_at_ = announced_ = 0;
  if (capacity_ > kKeptBytes) Free();
}

void Body::Free() noexcept {
  size_ = align_at_ = announced_ = 0;
  std::free(memory_);
  memory_ = nullptr;
  lead_ = capacity_ = 0;
}

void Body::Swap(Body& other) noexcept {
  std::swap(memory_, other.memory_);
  std::swap(lead_, other.lead_);
  std::swap(align_at_, other.align_at_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  std::swap(announced_, other.announced_);
}

wf_bytes Body::Seal() noexcept {
  if (memory_ == nullptr && !Reserve(0)) return {nullptr, 0};
  std::memset(data() + size_, 0, kPadBytes);
  return {data(), size_};
}

}  // namespace wf::server
