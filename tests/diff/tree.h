#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "compiler/sema/typed.h"
#include "tests/diff/program.h"

namespace wf::diff {

constexpr int32_t kNoted = 0;  // among codes: a loop over elements went on where this evaluator did not, and may have noted more

// What the checked tree says of a call: values, or the codes of the failures of which any may be the first.
struct TreeAnswer {
  std::string unknown;  // why it says nothing; empty: it does
  std::string broken;   // what the tree promises and does not hold; empty: nothing
  std::vector<ir::Value> values;
  std::set<int32_t> codes;  // empty: `values` are there
};
std::string ToString(const std::set<int32_t>& codes);

class TreeRun;

// An evaluator that never sees the IR: it goes through the expressions of the checked program, each value with the extents that it really
// has, and compares these wherever a type is written, whatever the checker found provable. Scalars and the order of sums are those of
// compiler/ir/scalar.h, natives and externs those of the interpreter, models what tests/diff/models.h computes.
// Thread: one.   Borrows: checked, program.   Bounds: steps of a call; one that takes more is not told.
class Tree {
 public:
  // `program`: built of `checked`, for the types that natives are told.
  Tree(const sema::Program& checked, const ir::Program& program);
  ~Tree();
  TreeAnswer Answer(const std::string& workflow, const std::vector<ir::Value>& inputs, const Input& input);

 private:
  std::unique_ptr<TreeRun> run_;
};

}  // namespace wf::diff
