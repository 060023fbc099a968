#pragma once

#include <string>

#include "compiler/sema/body.h"
#include "compiler/sema/mentions.h"

namespace wf::sema {

// A loop whose steps do not wait: a comprehension, a `fold`.
struct StillLoop {
  Span text;  // "x in xs"
  const ast::Expr& source;
  LocalId first = 0, end = 0;  // the names that a step has
};

// What to do about a call that may wait and stands where nothing may: as code that can be written there. `names`: those that the call
// mentions.
std::string HelpToWait(const Body& body, const Span& call, const NameSet& names, const Where& where);

// The text of `span` for advice; `otherwise` where it has lines or is long.
std::string CodeAt(const Body& body, const Span& span, std::string otherwise);

}  // namespace wf::sema
