#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "runtime/base/reserve.h"

namespace wf::base {

// An array of what clients send. It grows only where there is memory: what they make larger is never worth the end of the process.
// Thread: confined.   Owns: its elements.   Errors: what grows it answers false where memory is out, and has changed nothing.
template <typename T>
class Growing {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= alignof(std::max_align_t));

 public:
  Growing() = default;
  ~Growing() { Free(); }
  Growing(Growing&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), capacity_(std::exchange(other.capacity_, 0)) {}
  Growing& operator=(Growing&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }

  [[nodiscard]] bool Reserve(size_t count) noexcept {
    if (count <= capacity_) return true;
    const size_t wanted = std::max(count, 2 * capacity_);
    void* const grown = ::operator new(wanted * sizeof(T), std::nothrow);
    if (grown == nullptr) {
      base::Reserve::NoteFailed(wanted * sizeof(T));
      return false;
    }
    if (size_ != 0) std::memcpy(grown, data_, size_ * sizeof(T));
    ::operator delete(static_cast<void*>(data_));
    data_ = static_cast<T*>(grown);
    capacity_ = wanted;
    return true;
  }
  [[nodiscard]] bool Append(std::span<const T> more) noexcept {
    if (!Reserve(size_ + more.size())) return false;
    if (!more.empty()) std::memcpy(static_cast<void*>(data_ + size_), more.data(), more.size_bytes());
    size_ += more.size();
    return true;
  }
  [[nodiscard]] bool Push(const T& one) noexcept { return Append({&one, 1}); }
  void DropFirst(size_t count) noexcept {
    size_ -= count;
    if (size_ != 0) std::memmove(static_cast<void*>(data_), data_ + count, size_ * sizeof(T));
  }
  void DropFrom(const T* at) noexcept { size_ = static_cast<size_t>(at - data_); }  // and what is behind it
  void Clear() noexcept { size_ = 0; }
  void Free() noexcept {
    ::operator delete(static_cast<void*>(data_));
    data_ = nullptr;
    size_ = capacity_ = 0;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  T& back() { return data_[size_ - 1]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

}  // namespace wf::base
