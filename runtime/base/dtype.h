#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/abi/values.h"

namespace wf::base {

// Element types are the numbers WF_BOOL..WF_F64 of the contract. Bytes of one element; 0 for a number that is no element type.
constexpr int64_t DTypeSize(uint8_t dtype) {
  constexpr int64_t kSize[WF_DTYPE_COUNT] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8};
  return dtype < WF_DTYPE_COUNT ? kSize[dtype] : 0;
}

// As programs write it: "f32"; "?" for a number that is no element type.
constexpr std::string_view DTypeName(uint8_t dtype) {
  constexpr std::string_view kName[WF_DTYPE_COUNT] = {"?",   "bool", "i8",  "i16", "i32",  "i64", "u8",
                                                      "u16", "u32",  "u64", "f16", "bf16", "f32", "f64"};
  return dtype < WF_DTYPE_COUNT ? kName[dtype] : "?";
}

constexpr bool IsFloat(uint8_t dtype) { return dtype == WF_F16 || dtype == WF_BF16 || dtype == WF_F32 || dtype == WF_F64; }

}  // namespace wf::base
