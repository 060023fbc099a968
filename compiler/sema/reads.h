#pragma once

#include <functional>
#include <set>
#include <string>

#include "compiler/sema/typed.h"

namespace wf::sema {

// What a checked expression reads: locals, and dimension symbols that values bring into being.
struct Reads {
  std::set<LocalId> locals;
  std::set<std::string> symbols;
};
void CollectReads(const Expr& expr, Reads& reads);

}  // namespace wf::sema
