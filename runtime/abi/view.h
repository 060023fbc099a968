#pragma once

#include <string_view>

#include "runtime/abi/values.h"

namespace wf::abi {

// Names and texts of a plan, and those of requests, as C++ reads them.
inline std::string_view View(wf_bytes text) { return {reinterpret_cast<const char*>(text.ptr), text.len}; }

}  // namespace wf::abi
