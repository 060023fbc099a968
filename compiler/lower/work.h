#pragma once

#include "compiler/lower/context.h"
#include "compiler/lower/frames.h"

namespace wf::lower {

// uint64_t (frames): the units of work of this call, which cost_ns_per_unit counts: turns of the deepest nest of loops as far as what the
// task reads says them, elements of short vectors included, and what natives say of their arguments (NATIVE_UNITS, and NATIVE_TURNS by
// the share that they have in the cost of a unit, as the strings of texts). Where that does not say it all, at least the size of what it
// reads: elements of tensors, bytes of texts, items of lists, where the types leave them open. Where a loop runs as often as something
// computed says, or such a native takes something computed, so many that the task is not for a loop of the server: it cannot be stopped
// there.
llvm::Function* EmitWork(Context& context, const FrameLayout& frames, const ir::Task& task, const llvm::Twine& name);

}  // namespace wf::lower
