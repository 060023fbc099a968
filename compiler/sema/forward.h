#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compiler/sema/body.h"
#include "compiler/sema/mentions.h"

namespace wf::sema {

// A declaration on the way round a cycle.
struct Step {
  std::string name;
  Span span;
};

// The way from `from` to `wanted`, both ends named, over what each declaration mentions; nothing when there is none. `follow` yields the
// names that one mentions, and where it stands; nothing for what is no declaration here.
struct Mentioned {
  Span span;
  NameSet names;
};
using Follow = std::function<std::optional<Mentioned>(const std::string& name)>;
std::optional<std::vector<Step>> WayTo(const std::string& from, const std::string& wanted, const Follow& follow);

// "`a` needs itself: `a` uses `b`, `b` uses `a`", with a label at each of the others. `way`: from what `use` names to `wanted`.
diag::Builder ReportCycle(Env& env, const Span& use, const std::vector<Step>& way);

// A name that stands for nothing yet, but for a `let` or a node further down in a block that is being checked: reported as a cycle or as
// too early (docs/semantics.md 29), once for each name. False: there is no such thing.
bool ReportForwardLocal(Body& body, const std::string& name, const Span& use);

}  // namespace wf::sema
