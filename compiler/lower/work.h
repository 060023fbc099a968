#pragma once

#include "compiler/lower/context.h"
#include "compiler/lower/frames.h"

namespace wf::lower {

// uint64_t (frames): the units of work of this call, which cost_ns_per_unit counts: elements of the tensors that the task reads, bytes of
// its texts, items of its lists, the integers that say how often its loops run; only of those whose size the types leave open.
llvm::Function* EmitWork(Context& context, const FrameLayout& frames, const ir::Task& task, const llvm::Twine& name);

}  // namespace wf::lower
