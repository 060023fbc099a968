#pragma once

#include <cstdint>
#include <string_view>

namespace wf::base {

// Numbers as JSON writes them, in requests, in files that programs name and, but for their notation, in programs. Thread: any. A `Number`
// borrows the text.

// What the text of a number says, exactly: (-1)^negative * mantissa * 10^exponent, unless `overflowed` (more digits than fit).
struct Number {
  const uint8_t* begin;
  const uint8_t* end;
  uint64_t mantissa;
  int32_t exponent;
  bool negative;
  bool integer;  // written without fraction and exponent
  bool overflowed;
};

// Reads a number of the JSON grammar at `at`. False when there is none.
bool ScanNumber(const uint8_t* at, const uint8_t* end, Number* number);

// What is wrong with a text that begins as a number but is none; empty when it does not begin so, or is one.
std::string_view NumberProblem(const uint8_t* at, const uint8_t* end);

enum class Stored { kOk, kNotInteger, kOutOfRange };

// Stores the number as an element of `dtype` (not WF_BOOL), correctly rounded. A magnitude too small for the type is zero.
Stored StoreNumber(const Number& number, uint32_t dtype, void* out);

template <typename T>
Stored StoreInteger(const Number& number, T* out);
Stored StoreFloat(const Number& number, float* out);
Stored StoreDouble(const Number& number, double* out);

}  // namespace wf::base
