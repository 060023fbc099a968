#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/base/dtype.h"
#include "runtime/base/float_text.h"
#include "runtime/base/number_text.h"

namespace wf::json {

inline size_t DtypeBytes(uint32_t dtype) { return static_cast<size_t>(base::DTypeSize(static_cast<uint8_t>(dtype))); }
inline std::string_view DtypeName(uint32_t dtype) { return base::DTypeName(static_cast<uint8_t>(dtype)); }

using base::Number;
using base::NumberProblem;
using base::ScanNumber;
using base::Stored;
using base::StoreDouble;
using base::StoreFloat;
using base::StoreInteger;
using base::StoreNumber;

// Longest text of an element: "-1.7976931348623157e+308" and integers.
inline constexpr size_t kMaxElementText = base::kMostFloatText;

// Prints an element in its shortest exact form (`3`, `0.1`, and `-0.0`), or returns null for NaN and infinities (no JSON text has them).
char* PrintElement(uint32_t dtype, const void* element, char* at);
// The same for messages and interpolation: NaN prints `nan`, infinities `inf`.
char* PrintElementText(uint32_t dtype, const void* element, char* at);

}  // namespace wf::json
