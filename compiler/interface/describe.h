#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/base/source.h"
#include "compiler/interface/interface.h"
#include "compiler/sema/typed.h"

namespace wf::interface {

struct DescribedModule {
  std::string path;       // as imports name it; empty for the root
  const ast::File* file;  // for the comments above declarations
};

// The interface of a checked program, with the places where everything is declared.
Interface Describe(const sema::Program& program, const std::vector<DescribedModule>& modules, const source::SourceMap& sources);

// A compile-time value as plain JSON spells it; empty where JSON cannot, as for NaN.
std::string JsonOf(sema::TypeRef type, const ir::Value& value);

// Requests that tests of the program make and that do not fail, as plain JSON: by whether a model is called, and which. Small ones alone.
using Examples = std::map<std::pair<bool, uint32_t>, std::string>;
Examples ExamplesIn(const sema::Program& program);

// What a workflow says to its client beside its results, in everything that it calls.
struct Spoken {
  std::vector<int32_t> errors;           // sorted
  std::vector<const sema::Expr*> meta;   // one for each key, by key
  std::vector<std::string> annotations;  // sorted
};
Spoken SpokenBy(const sema::Program& program, const sema::Workflow& workflow);

}  // namespace wf::interface
