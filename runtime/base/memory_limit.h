#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace wf::base {

// Bytes that owners of memory share.
// Thread: thread-safe.
class MemoryLimit {
 public:
  virtual ~MemoryLimit() = default;
  virtual bool Claim(int64_t bytes) noexcept = 0;  // false: there are not that many left
  virtual void Unclaim(int64_t bytes) noexcept = 0;
  virtual int64_t most_bytes() const noexcept { return INT64_MAX; }  // that are there when nobody has claimed any
};

// Bytes of a limit, which go back with this.
// Thread: confined.   Borrows: the limit.
class MemoryClaim {
 public:
  MemoryClaim() = default;
  MemoryClaim(MemoryClaim&& other) noexcept : limit_(std::exchange(other.limit_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryClaim& operator=(MemoryClaim&& other) noexcept {
    std::swap(limit_, other.limit_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryClaim() { Drop(); }

  // Instead of what it holds. False: nothing is held now. A null limit has room for everything.
  bool Take(MemoryLimit* limit, int64_t bytes) noexcept {
    Drop();
    if (limit != nullptr && !limit->Claim(bytes)) return false;
    limit_ = limit;
    bytes_ = bytes;
    return true;
  }
  void Drop() noexcept {
    if (limit_ != nullptr) limit_->Unclaim(bytes_);
    limit_ = nullptr;
    bytes_ = 0;
  }
  // Beside what it holds. False: it holds as much as before.
  bool Grow(MemoryLimit& limit, int64_t bytes) noexcept {
    if (!limit.Claim(bytes)) return false;
    limit_ = &limit;
    bytes_ += bytes;
    return true;
  }
  void Shrink(int64_t bytes) noexcept {
    bytes = std::min(bytes, bytes_);
    if (limit_ != nullptr) limit_->Unclaim(bytes);
    bytes_ -= bytes;
  }
  // How much it held, which is somebody else's from now on.
  int64_t Leave() noexcept {
    limit_ = nullptr;
    return std::exchange(bytes_, 0);
  }
  int64_t bytes() const { return bytes_; }

 private:
  MemoryLimit* limit_ = nullptr;
  int64_t bytes_ = 0;
};

// What somebody who runs again and again may take for memory whose size requests decide, and how much of it to keep from one run to the
// next.
struct MemoryShare {
  MemoryLimit* limit = nullptr;  // null: none
  int64_t kept_bytes = INT64_MAX;
};

}  // namespace wf::base
