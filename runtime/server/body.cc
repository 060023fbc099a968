#include "runtime/server/body.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace wf::server {

Body::~Body() { std::free(data_); }

// Large blocks are mapped by the allocator and touched only as bytes arrive, so a length that is claimed and never sent costs no memory.
bool Body::Reserve(size_t bytes) noexcept {
  if (bytes <= capacity_ && data_ != nullptr) return true;
  void* grown = std::realloc(data_, bytes + kPadBytes);
  if (grown == nullptr) return false;
  data_ = static_cast<uint8_t*>(grown);
  capacity_ = bytes;
  return true;
}

bool Body::Append(std::span<const uint8_t> bytes) noexcept {
  if (bytes.empty()) return true;
  if (bytes.size() > capacity_ - size_ && !Reserve(std::max({size_ + bytes.size(), capacity_ * 2, size_t{1024}}))) return false;
  std::memcpy(data_ + size_, bytes.data(), bytes.size());
  size_ += bytes.size();
  return true;
}

void Body::Clear() noexcept {
  size_ = 0;
  if (capacity_ <= kKeptBytes) return;
  std::free(data_);
  data_ = nullptr;
  capacity_ = 0;
}

wf_bytes Body::Seal() noexcept {
  if (data_ == nullptr && !Reserve(0)) return {nullptr, 0};
  std::memset(data_ + size_, 0, kPadBytes);
  return {data_, size_};
}

}  // namespace wf::server
