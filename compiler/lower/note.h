#pragma once

#include <string>

#include "compiler/lower/context.h"

namespace wf::lower {

// What `wfc inspect` shows, as one JSON object: versions, source and its hash, target, models, interface,
// graph.
std::string DescribeProgram(const ir::Program& program, const Options& options);

// Puts the description into the section .note.wfc, where it survives stripping. Layout: an ELF note of name "wfc", type 1.
void EmitNote(Context& context);

}  // namespace wf::lower
