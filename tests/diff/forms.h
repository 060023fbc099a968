#pragma once

#include <cstdint>
#include <span>

#include "tests/diff/program.h"

namespace wf::diff {

// A program that the answers make: calls of functions whose parameters share symbols, and values in every form that takes its type from
// where it stands. Most have the type that is wanted, and some are mistakes. 0 is the plainest answer, and each behind the last.
Workflow WriteForms(std::span<const uint8_t> answers);

}  // namespace wf::diff
