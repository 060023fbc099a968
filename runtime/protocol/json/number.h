#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/base/dtype.h"
#include "runtime/base/float_text.h"

namespace wf::json {

inline size_t DtypeBytes(uint32_t dtype) { return static_cast<size_t>(base::DTypeSize(static_cast<uint8_t>(dtype))); }
inline std::string_view DtypeName(uint32_t dtype) { return base::DTypeName(static_cast<uint8_t>(dtype)); }

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

// Longest text of an element: "-1.7976931348623157e+308" and integers.
inline constexpr size_t kMaxElementText = base::kMostFloatText;

// Prints an element in its shortest exact form (`3`, `0.1`, and `-0.0`), or returns null for NaN and infinities (no JSON text has them).
char* PrintElement(uint32_t dtype, const void* element, char* at);
// The same for messages and interpolation: NaN prints `nan`, infinities `inf`.
char* PrintElementText(uint32_t dtype, const void* element, char* at);

}  // namespace wf::json
