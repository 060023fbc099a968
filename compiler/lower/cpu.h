#pragma once

#include "compiler/lower/context.h"

namespace wf::lower {

// A flag of the module, 1 byte: does this machine run x86-64-v4? Set before main.
llvm::GlobalVariable* WideCpuFlag(Context& context);

// The function that runs before main: ends the program with a message and exit status 1 on a CPU that lacks what the code needs, and sets
// the flag. Itself it needs nothing but x86-64.
void EmitStartUp(Context& context);

// One body for two kinds of CPU, perhaps the same.
struct Versions {
  llvm::Function *narrow, *wide;
};
// Makes the empty function call `wide` where the flag is set, else `narrow`, with its own arguments and `last`.
void EmitEntry(Context& context, llvm::Function& entry, const Versions& versions, llvm::Constant* last);

}  // namespace wf::lower
