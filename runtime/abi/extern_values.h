// Values of .wf programs in C++: views with the layouts of values.h. They live as long as the call; arguments are read, not written to;
// what a result holds comes from the Context (extern.h), from an argument, or is constant. Thread: that of the call.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/abi/values.h"

namespace wf {

// Elements that are only stored.
struct Half {
  uint16_t bits = 0;
};
struct BFloat16 {
  uint16_t bits = 0;
};

template <typename T>
inline constexpr uint8_t kDType = 0;
template <>
inline constexpr uint8_t kDType<bool> = WF_BOOL;
template <>
inline constexpr uint8_t kDType<int8_t> = WF_I8;
template <>
inline constexpr uint8_t kDType<int16_t> = WF_I16;
template <>
inline constexpr uint8_t kDType<int32_t> = WF_I32;
template <>
inline constexpr uint8_t kDType<int64_t> = WF_I64;
template <>
inline constexpr uint8_t kDType<uint8_t> = WF_U8;
template <>
inline constexpr uint8_t kDType<uint16_t> = WF_U16;
template <>
inline constexpr uint8_t kDType<uint32_t> = WF_U32;
template <>
inline constexpr uint8_t kDType<uint64_t> = WF_U64;
template <>
inline constexpr uint8_t kDType<Half> = WF_F16;
template <>
inline constexpr uint8_t kDType<BFloat16> = WF_BF16;
template <>
inline constexpr uint8_t kDType<float> = WF_F32;
template <>
inline constexpr uint8_t kDType<double> = WF_F64;

// string: a view of UTF-8. Made of a literal, or by Context::Copy.
class String {
 public:
  constexpr String() = default;
  consteval String(const char* literal) : data_(literal), size_(std::char_traits<char>::length(literal)) {}  // NOLINT
  constexpr operator std::string_view() const { return {data_, size_}; }                                     // NOLINT
  constexpr std::string_view view() const { return {data_, size_}; }
  constexpr uint64_t size() const { return size_; }
  friend constexpr bool operator==(const String& a, std::string_view b) { return a.view() == b; }

 private:
  friend class Context;
  const char* data_ = "";
  uint64_t size_ = 0;
};

// bytes: a view. Made by Context::CopyBytes.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr operator std::span<const uint8_t>() const { return {data_, size_}; }  // NOLINT
  constexpr std::span<const uint8_t> view() const { return {data_, size_}; }
  constexpr const uint8_t* data() const { return data_; }
  constexpr uint64_t size() const { return size_; }

 private:
  friend class Context;
  const uint8_t* data_ = nullptr;
  uint64_t size_ = 0;
};

alignas(WF_ALIGN) inline constinit uint8_t no_elements[WF_ALIGN] = {};

// f32[h, w] is Tensor<float, 2>. Made by Context::NewTensor.
template <typename T, int kRank>
class Tensor {
  static_assert(kDType<T> != 0 && kRank >= 1 && kRank <= WF_MAX_RANK);

 public:
  Tensor() {
    raw_.data = no_elements;
    raw_.dtype = kDType<T>;
    raw_.rank = kRank;
    raw_.stride[kRank - 1] = 1;
  }
  int64_t dim(int axis) const { return raw_.dim[axis]; }
  int64_t stride(int axis) const { return raw_.stride[axis]; }  // in elements; the last is 1
  int64_t size() const {
    int64_t elements = 1;
    for (int axis = 0; axis < kRank; ++axis) elements *= raw_.dim[axis];
    return elements;
  }
  // Do the elements stand side by side? Rows of an argument may have a gap behind them.
  bool is_dense() const {
    int64_t stride = 1;
    for (int axis = kRank - 1; axis >= 0; --axis) {
      if (raw_.dim[axis] > 1 && raw_.stride[axis] != stride) return false;
      stride *= raw_.dim[axis];
    }
    return true;
  }
  const T* data() const { return static_cast<const T*>(raw_.data); }
  T* data() { return static_cast<T*>(raw_.data); }

  template <typename... Index>
  const T& operator()(Index... index) const {
    return data()[OffsetOf(index...)];
  }
  template <typename... Index>
  T& operator()(Index... index) {
    return data()[OffsetOf(index...)];
  }

 private:
  friend class Context;
  template <typename... Index>
  int64_t OffsetOf(Index... index) const {
    static_assert(sizeof...(Index) == kRank, "an index for each axis");
    const int64_t at[] = {static_cast<int64_t>(index)...};
    int64_t offset = 0;
    for (int axis = 0; axis < kRank; ++axis) offset += at[axis] * raw_.stride[axis];
    return offset;
  }
  wf_tensor raw_ = {};
};

// list<T>. Made by Context::NewList.
template <typename T>
class List {
 public:
  uint64_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](uint64_t i) const { return data_[i]; }
  T& operator[](uint64_t i) { return data_[i]; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }

 private:
  friend class Context;
  T* data_ = nullptr;
  uint64_t size_ = 0;
};

// map<T>: entries sorted by key, each key once; those of a result are sorted behind the call.
template <typename T>
struct Entry {
  String key;
  T value{};
};
template <typename T>
class Map : public List<Entry<T>> {
 public:
  const T* Find(std::string_view key) const {
    const auto* const at =
        std::lower_bound(this->begin(), this->end(), key, [](const Entry<T>& e, std::string_view k) { return e.key.view() < k; });
    return at != this->end() && at->key == key ? &at->value : nullptr;
  }
};

// T?
template <typename T>
struct Optional {
  T value{};
  bool has = false;
  Optional() = default;
  Optional(T some) : value(std::move(some)), has(true) {}  // NOLINT
  explicit operator bool() const { return has; }
};

}  // namespace wf
