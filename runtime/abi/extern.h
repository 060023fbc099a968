// Functions in C++ for programs in .wf: what their arguments and results are. C++20 and the standard library, nothing else. `wfc build
// --emit=header` writes this text into the header that declares a program's externs; docs/language.md has examples.
#pragma once

#include <cstring>
#include <exception>
#include <new>

#include "runtime/abi/extern_values.h"
#include "runtime/base/error_codes.h"

namespace wf {

// Thrown by an extern to fail: the program sees it as `err`. Codes: 50-999 and from 100000 are the program's own (externs::errors), 5000 is
// the caller's mistake, 8000-9999 is what `retry` tries again. Any other exception is 9000 with what() as its text; std::bad_alloc is 3012.
class Failure : public std::exception {
 public:
  Failure(int32_t code, std::string text) : code_(code), text_(std::move(text)) {}
  int32_t code() const noexcept { return code_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  int32_t code_;
  std::string text_;
};

// One call. Memory from here belongs to the request and is freed with it.
// Thread: the call's.   Borrows: the job.   Errors: std::bad_alloc for more than a request may have.
class Context {
 public:
  explicit Context(wf_ctx* ctx) : ctx_(ctx) {}

  // True when nobody waits for the result any more (a timeout, a client that left): a long call looks at it now and then, and returns
  // anything.
  bool stopped() const { return __atomic_load_n(ctx_->stop, __ATOMIC_RELAXED) != 0; }

  void* Allocate(uint64_t bytes, uint64_t align = WF_ALIGN) {
    void* const memory = wf_alloc(ctx_, bytes == 0 ? 1 : bytes, align);
    if (memory == nullptr) throw std::bad_alloc();  // more than a request may have
    return memory;
  }
  // Its elements are 0.
  template <typename T, typename... Extent>
  Tensor<T, static_cast<int>(sizeof...(Extent))> NewTensor(Extent... extents) {
    constexpr int kRank = static_cast<int>(sizeof...(Extent));
    Tensor<T, kRank> made;
    const int64_t dims[] = {static_cast<int64_t>(extents)...};
    uint64_t bytes = sizeof(T), most = bytes;  // most: an axis without elements counted as one of 1
    for (int axis = kRank - 1; axis >= 0; --axis) {
      made.raw_.dim[axis] = dims[axis];
      made.raw_.stride[axis] = static_cast<int64_t>(bytes / sizeof(T));
      if (dims[axis] < 0) throw Failure(code::kDimension, "a tensor with an extent below 0");
      const auto extent = static_cast<uint64_t>(dims[axis]);
      if (__builtin_mul_overflow(most, extent == 0 ? 1 : extent, &most) || most >> 40 > 0)
        throw std::bad_alloc();  // as of abi::kMostExtent
      bytes *= extent;
    }
    made.raw_.data = Zeros((bytes + WF_ALIGN - 1) / WF_ALIGN * WF_ALIGN);
    return made;
  }
  template <typename T>
  List<T> NewList(uint64_t size) {
    List<T> made;
    Fill(made, size);
    return made;
  }
  template <typename T>
  Map<T> NewMap(uint64_t size) {
    Map<T> made;
    Fill(made, size);
    return made;
  }
  String Copy(std::string_view text) {
    String copy;
    copy.data_ = static_cast<const char*>(CopyOf(text.data(), text.size()));
    copy.size_ = text.size();
    return copy;
  }
  Bytes CopyBytes(std::span<const uint8_t> bytes) {
    Bytes copy;
    copy.data_ = static_cast<const uint8_t*>(CopyOf(bytes.data(), bytes.size()));
    copy.size_ = bytes.size();
    return copy;
  }

 private:
  void* Zeros(uint64_t bytes) {
    void* const memory = Allocate(std::max<uint64_t>(bytes, WF_ALIGN));
    std::memset(memory, 0, bytes);
    return memory;
  }
  const void* CopyOf(const void* data, uint64_t size) {
    void* const memory = Allocate(size, 1);
    if (size != 0) std::memcpy(memory, data, size);
    return memory;
  }
  template <typename T>
  void Fill(List<T>& list, uint64_t size) {
    if (size > (uint64_t{1} << 62) / sizeof(T)) throw std::bad_alloc();
    list.data_ = static_cast<T*>(Allocate(size * sizeof(T)));
    list.size_ = size;
    for (T& item : list) new (&item) T();
  }

  wf_ctx* ctx_;
};

}  // namespace wf
