#pragma once

#include <string>

#include "compiler/interface/interface.h"

namespace wf::interface {

// A proto3 file with the messages of a service and its calls. Field numbers follow from names (source::FieldNumber), so that they stay
// whatever is added, removed or moved.
std::string Proto(const Interface& interface, const Service& service);

}  // namespace wf::interface
