#pragma once

#include <utility>
#include <vector>

#include "tests/diff/choices.h"
#include "tests/diff/program.h"
#include "tests/diff/writer.h"

namespace wf::diff {

// A call of a workflow with these parameters, the last `n_defaults` of which may be left out; `dims`: its symbols.
Input MakeInput(Choices& choices, const std::vector<Name>& params, size_t n_defaults, const std::vector<std::string>& dims);

}  // namespace wf::diff
