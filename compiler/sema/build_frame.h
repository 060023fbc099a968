#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/sema/typed.h"

// Where a BodyWriter is. Internal to BuildIr.
namespace wf::sema {

// A function whose body is being written, or the body of a task.
struct Frame {
  const Function* function = nullptr;
  Frame* caller = nullptr;
  std::unordered_map<LocalId, ir::ValueId> locals;
  std::map<std::string, ir::ValueId> symbols;   // bound by values
  std::map<std::string, const Dim*> arguments;  // in terms of the caller's symbols
};

// The loops over elements around. Checks there note what fails, and the body goes on to its end.
struct ElementLoops {
  size_t depth = 0;
  bool is_refused = false;    // a check of shapes may not have held: nothing has the extents that its type says
  bool may_be_short = false;  // what is computed may have fewer elements than its type says
  bool may_be_long = false;   // or more: an accumulator that an earlier turn was refused
  bool is_doubtful() const { return is_refused || may_be_short || may_be_long; }
  struct Size {
    const Frame* frame;  // whose symbols the dimension has
    Dim dim;
    ir::ValueId value;
  };
  std::vector<Size> sizes;  // of slices: 0 where they are out of range
};

}  // namespace wf::sema
