#pragma once

#include <string_view>

#include "compiler/base/source.h"
#include "compiler/diag/emitter.h"

namespace wf::parse {

enum class Kind { kComment, kString, kRawString };

// Reports those in a string or comment, once. False: there are some.
bool CheckDirection(std::string_view token, const source::Span& span, Kind kind, diag::Emitter& emitter);

}  // namespace wf::parse
