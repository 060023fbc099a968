#pragma once

#include <string>

#include "compiler/interface/interface.h"

namespace wf::interface {

// An OpenAPI 3.1 document of the plain JSON routes of a service: indented JSON, the same for the same interface.
std::string OpenApi(const Interface& interface, const Service& service);

}  // namespace wf::interface
