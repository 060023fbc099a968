#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/base/status.h"

namespace wf::base {

// What an error code of the framework is called, and its canonical status; error_codes.def is the table.
struct CodeInfo {
  std::string_view name;
  StatusCode status;
};
CodeInfo CodeInfoOf(int32_t code);

}  // namespace wf::base
