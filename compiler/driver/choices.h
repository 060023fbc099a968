#pragma once

#include <string>

#include "compiler/base/source.h"
#include "compiler/sema/typed.h"

namespace wf::driver {

// What `--verbose` adds: the batch axis of each model, and each check of dimensions that is left for when the program runs.
std::string ChoicesText(const sema::Program& program, const source::SourceMap& sources);

}  // namespace wf::driver
