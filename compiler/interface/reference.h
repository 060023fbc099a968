#pragma once

#include <string>

#include "compiler/interface/interface.h"

namespace wf::interface {

// The services for people who call them, in Markdown.
std::string Reference(const Interface& interface);

}  // namespace wf::interface
