#pragma once

#include "compiler/lower/context.h"

namespace wf::lower {

// A flag of the module, 1 byte: does this machine run x86-64-v4? Set before main.
llvm::GlobalVariable* WideCpuFlag(Context& context);

// The function that runs before main: ends the program with a message and exit status 1 on a CPU that lacks what the code needs, and sets
// the flag. Itself it needs nothing but x86-64.
void EmitStartUp(Context& context);

// A function of the type that calls `wide` where the flag is set, else `narrow`.
llvm::Function* EmitChooser(Context& context, llvm::Function* narrow, llvm::Function* wide, const llvm::Twine& name);

}  // namespace wf::lower
