// Between generated code and externs in C++: what they throw becomes a failure, and what they return is compared with what the program
// declares. wfc writes it into the file that it compiles an extern's source with.
#pragma once

#include "runtime/abi/extern.h"

// From now on `new` on this thread throws where there is no memory (1: code of users), or waits for it and ends the process (0: the
// server's own). The runtime has it.
extern "C" void wf_let_new_fail(int32_t may_fail) noexcept;

namespace wf::shim {

static_assert(sizeof(String) == sizeof(wf_bytes) && sizeof(Bytes) == sizeof(wf_bytes) && sizeof(List<float>) == sizeof(wf_list) &&
              sizeof(Map<float>) == sizeof(wf_list) && sizeof(Tensor<float, 1>) == sizeof(wf_tensor) && sizeof(bool) == 1);

inline bool IsUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto byte = [&](size_t i) { return at + i < text.size() ? static_cast<uint8_t>(text[at + i]) : 0; };
    const uint8_t first = static_cast<uint8_t>(text[at]);
    const size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (length == 0) return false;
    for (size_t i = 1; i < length; ++i)
      if ((byte(i) & 0xc0) != 0x80) return false;
    const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
    const bool beyond = (first == 0xed && byte(1) > 0x9f) || (first == 0xf4 && byte(1) > 0x8f);
    if (overlong || beyond) return false;
    at += length;
  }
  return true;
}

inline wf_code Fail(wf_ctx* ctx, int32_t code, const char* text) noexcept {
  if (!IsUtf8(text)) text = "a message that is not UTF-8";
  if (*text == '\0') text = "an exception without a text";
  const bool is_code = code >= code::kProduct;
  return wf_fail(ctx, is_code ? code : code::kInference, 0, {reinterpret_cast<const uint8_t*>(text), std::strlen(text)});
}

// `new` throws while this lives; in the server's own code it waits for memory and ends the process where none comes.
class NewThrows {
 public:
  NewThrows() noexcept { wf_let_new_fail(1); }
  ~NewThrows() { wf_let_new_fail(0); }
  NewThrows(const NewThrows&) = delete;
  NewThrows& operator=(const NewThrows&) = delete;
};

// Calls an extern. No exception leaves it.
template <typename Call>
wf_code Guarded(wf_ctx* ctx, const Call& call) noexcept {
  try {
    Context context(ctx);
    const NewThrows throws;
    call(context);
    return 0;
  } catch (const Failure& failure) {
    return Fail(ctx, failure.code(), failure.what());
  } catch (const std::bad_alloc&) {
    return Fail(ctx, code::kMemoryCap, "out of memory");
  } catch (const std::exception& failure) {
    return Fail(ctx, code::kInference, failure.what());
  } catch (...) {
    return Fail(ctx, code::kInference, "an exception that is no std::exception");
  }
}

// ---- results: `what` says which part, as in "the result" or "`boxes` of the result" ----

inline void CheckText(const String& text, const char* what) {
  if (!IsUtf8(text)) throw Failure(code::kNotUtf8, std::string(what) + " is not UTF-8");
}

struct Extent {
  int64_t found;
  int axis;
  const char* what;
};
inline void CheckExtent(const Extent& extent, int64_t wanted) {
  if (extent.found == wanted) return;
  throw Failure(code::kDimension, "axis " + std::to_string(extent.axis) + " of " + extent.what + " is " + std::to_string(extent.found) +
                                      ", wanted " + std::to_string(wanted));
}

// The symbol in found = mul * symbol + add; -1: it has no value yet.
inline void Bind(int64_t& symbol, const Extent& extent, int64_t mul, int64_t add) {
  if (symbol < 0) symbol = std::max<int64_t>((extent.found - add) / mul, 0);
  CheckExtent(extent, mul * symbol + add);
}

inline int64_t FloorDiv(int64_t a, int64_t b) {
  if (b == 0) throw Failure(code::kDivisor, "division by zero");
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}

template <typename T>
void SortEntries(Map<T>& map, const char* what) {
  const auto before = [](const Entry<T>& a, const Entry<T>& b) { return a.key.view() < b.key.view(); };
  const auto same = [](const Entry<T>& a, const Entry<T>& b) { return a.key.view() == b.key.view(); };
  if (!std::is_sorted(map.begin(), map.end(), before)) std::sort(map.begin(), map.end(), before);
  const auto* const twice = std::adjacent_find(map.begin(), map.end(), same);
  if (twice != map.end()) throw Failure(code::kType, std::string(what) + " has the key `" + std::string(twice->key.view()) + "` twice");
}

}  // namespace wf::shim
