#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/abi/values.h"

// Numbers of 8 and 4 bits that model files store and nothing computes with: in memory each lies in a type that holds all of its format's.
namespace wf::base {

// Floats by their bits of exponent and mantissa (FN: without infinities; FNUZ: without -0, too), integers of 4 bits, a float of 4.
enum class Narrow : uint8_t { kNone, kE4M3FN, kE4M3FNUZ, kE5M2, kE5M2FNUZ, kU4, kI4, kE2M1 };
inline constexpr uint8_t kNarrowCount = 8;

constexpr std::string_view NarrowName(Narrow format) {
  constexpr std::string_view kNames[kNarrowCount] = {"?", "f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz", "u4", "i4", "f4e2m1"};
  return kNames[static_cast<uint8_t>(format)];
}

// The element type in which its numbers lie.
constexpr uint8_t HolderOf(Narrow format) {
  return static_cast<uint8_t>(format == Narrow::kU4 ? WF_U8 : format == Narrow::kI4 ? WF_I8 : WF_F16);
}

// Bytes of `count` of them in a file: of 4 bits two in a byte, the first in its low half.
constexpr int64_t PackedBytes(Narrow format, int64_t count) { return format >= Narrow::kU4 ? count / 2 + count % 2 : count; }

// From a file's bytes to elements of the holder. `packed` may be the last bytes of `out`.
void Unpack(Narrow format, std::span<const uint8_t> packed, std::span<uint8_t> out);

// The nearest number of a float's format, halves to even; of what is too large the largest or, unless it saturates, what the format has for
// that: infinity or NaN. REQUIRES: a float's.
float NearestOf(Narrow format, float x, bool saturates);

}  // namespace wf::base
