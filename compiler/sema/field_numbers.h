#pragma once

#include "compiler/sema/body.h"

namespace wf::sema {

// Warns of members of one message, in what services publish, whose names give one number in Protocol Buffers: an export has to move one of
// them, so that its number depends on whether the other is there.
void WarnOfFieldNumbers(Env& env);

}  // namespace wf::sema
