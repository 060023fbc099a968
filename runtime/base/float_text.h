#pragma once

#include <cstddef>
#include <cstdint>

namespace wf::base {

inline constexpr size_t kMostFloatText = 40;  // of which a text takes 25 at most, and what is copied with it the rest

// The fewest digits that read back as the same value: `3`, `0.1`, `-0.0`, `100000`, `0.0001`; with an exponent from 1e+16 on and below
// 0.0001. Whole numbers beyond 2^24 (float) or 2^53 (double) have all their digits instead where that is no longer than an exponent:
// `123456792`, `12345678901234567168`. `inf`, `-inf`, `nan` and `-nan` besides.
// Behind the last byte written; REQUIRES: room for kMostFloatText.
char* PutFloat(char* at, float value);
char* PutFloat(char* at, double value);
// The same of the bits of an f16 and a bf16.
char* PutHalf(char* at, uint16_t bits);
char* PutBfloat(char* at, uint16_t bits);

}  // namespace wf::base
