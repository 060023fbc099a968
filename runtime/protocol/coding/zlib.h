#pragma once

#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace wf::coding {

inline constexpr int kGzipBits = 15 + 16, kZlibBits = 15;  // of the window, as deflateInit2 and inflateInit2 ask for them

// What one call of zlib takes of so many bytes.
inline uInt Portion(size_t bytes) { return static_cast<uInt>(std::min<size_t>(bytes, UINT32_MAX)); }

}  // namespace wf::coding
