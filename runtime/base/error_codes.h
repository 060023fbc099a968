#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/base/status.h"

// Error codes of the framework; error_codes.def is the table.
namespace wf::code {

#define CODE(first, last, constant, name, status, text) inline constexpr int32_t constant = first;
#define PART(code, constant, text) inline constexpr int32_t constant = code;
#include "runtime/base/error_codes.def"

// The first code of its thousand: 7004 is a kType.
constexpr int32_t ClassOf(int32_t code) { return code < kDeclared ? code - code % 1000 : code; }
// What `retry` tries again.
constexpr bool IsRetried(int32_t code) { return ClassOf(code) == kRpc || ClassOf(code) == kInference; }
// What an `error` of a program may take.
constexpr bool IsOfProgram(int64_t code) { return (code >= kProduct && code <= 999) || code >= kDeclared; }

}  // namespace wf::code

namespace wf::base {

// What an error code of the framework is called, and its canonical status.
struct CodeInfo {
  std::string_view name;
  StatusCode status;
};
CodeInfo CodeInfoOf(int32_t code);

}  // namespace wf::base
