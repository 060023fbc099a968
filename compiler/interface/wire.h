#pragma once

#include <map>
#include <string>

#include "compiler/interface/interface.h"

namespace wf::interface {

// How a parameter or a result travels on the Open Inference Protocol: "f32 of rank 2", "BYTES". (runtime/protocol/oip/ports.cc does it.)
std::string OipText(const Type& type, bool is_result);

// The model names of that protocol, and which call each is: "Service/call".
std::map<std::string, std::string> OipNames(const Interface& interface);

}  // namespace wf::interface
