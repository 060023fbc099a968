#pragma once

#include <string_view>

#include "runtime/abi/values.h"

namespace wf::abi {

// Names and texts of a plan, and those of requests, as C++ reads them.
inline std::string_view View(wf_bytes text) { return {reinterpret_cast<const char*>(text.ptr), text.len}; }
inline wf_bytes BytesOf(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

}  // namespace wf::abi
