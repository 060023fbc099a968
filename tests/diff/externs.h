#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "tests/diff/writer.h"

namespace wf::diff {

// A function in C++ that programs call: what tests/diff/cpp/externs.cc does, for the interpreter.
struct KnownExtern {
  Function call;
  bool is_node = true;
  ir::Outcome (*compute)(std::span<const ir::Value> args);
};

const std::vector<KnownExtern>& KnownExterns();
const KnownExtern* FindExtern(const std::string& symbol);  // `wf_x_NAME`; null: none of these
const std::string& DeclarationOfExterns();                 // of all, which one source defines

}  // namespace wf::diff
