#pragma once

#include <string>

#include "compiler/ir/ir.h"

// The text form of a program: stable, sorted as the program is, and the oracle of tests. docs/ir.md shows it.
namespace wf::ir {

std::string Print(const Program& program);
std::string PrintBody(const Program& program, const Body& body, size_t indent = 0);  // values are numbered in order of printing

}  // namespace wf::ir
