#pragma once

#include <string>

#include "compiler/base/source.h"
#include "compiler/ir/ir.h"
#include "compiler/sema/typed.h"

namespace wf::driver {

// What `--verbose` adds: the batch axis of each model, and each check that is left for when the program runs: of dimensions, and, in what
// `built` holds after the passes, of indices, divisors and lengths. `built` may be null.
std::string ChoicesText(const sema::Program& program, const ir::Program* built, const source::SourceMap& sources);

}  // namespace wf::driver
