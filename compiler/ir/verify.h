#pragma once

#include <optional>
#include <string>

#include "compiler/ir/ir.h"

// The rules that every pass keeps: docs/ir.md. Cost: linear in the program.
namespace wf::ir {

// The first rule that is broken, and where; nothing when all hold.
std::optional<std::string> Verify(const Program& program);
std::optional<std::string> VerifyBody(const Program& program, const Body& body);

}  // namespace wf::ir
