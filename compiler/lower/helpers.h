#pragma once

#include "compiler/lower/context.h"

namespace wf::lower {

// Functions that a module gets once, when something in it calls them.

// ptr (items, len, entry size, key, key length): the entry of a sorted map, or null.
llvm::Function* FindKey(Context& context);
// i1 (bytes, length): is it UTF-8?
llvm::Function* IsUtf8(Context& context);
// A value of the type that is all zeros, with tensors of the extents that the type knows: what is read in place of an item that is not
// there.
llvm::Constant* ZeroImage(Context& context, ir::TypeId type);

}  // namespace wf::lower
