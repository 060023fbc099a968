#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "runtime/abi/values.h"

namespace wf::nodes {

// An array that grows in the job's memory, where each of its sizes stays until the job's bus is freed; readable to the next multiple of 64
// bytes.
// Thread: confined to the call.   Errors: false when the budget is spent (recorded).
template <typename T>
class Scratch {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= WF_ALIGN);

 public:
  explicit Scratch(wf_ctx* ctx) : ctx_(ctx) {}

  bool Reserve(uint64_t count) {
    if (count <= capacity_) return true;
    const uint64_t wanted = std::max(count, capacity_ * 2);
    const uint64_t bytes = (wanted * sizeof(T) / WF_ALIGN + 1) * WF_ALIGN;
    auto* const data = static_cast<T*>(wf_alloc(ctx_, bytes, WF_ALIGN));
    if (data == nullptr) return false;
    if (size_ != 0) std::memcpy(data, data_, size_ * sizeof(T));
    data_ = data;
    capacity_ = bytes / sizeof(T);
    return true;
  }
  bool Push(const T& value) {
    if (size_ == capacity_ && !Reserve(size_ + 1)) return false;
    data_[size_++] = value;
    return true;
  }
  void Resize(uint64_t size) { size_ = size; }  // within what is reserved; what is new is not set

  T* data() { return data_; }
  uint64_t size() const { return size_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  T& operator[](uint64_t i) { return data_[i]; }

 private:
  wf_ctx* ctx_;
  T* data_ = nullptr;
  uint64_t size_ = 0, capacity_ = 0;
};

}  // namespace wf::nodes
