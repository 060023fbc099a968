#pragma once

#include <string>

#include "compiler/interface/interface.h"

namespace wf::interface {

// A proto3 file with the messages of a service and its calls. Field numbers follow from names, so that they stay whatever is added, removed
// or moved.
std::string Proto(const Interface& interface, const Service& service);

// The number of a field, from 16 to 2^18-1 without those that Protocol Buffers keeps: three bytes on the wire at most.
uint32_t FieldNumber(std::string_view name);

}  // namespace wf::interface
