#pragma once

#include <deque>
#include <string>
#include <vector>

#include "compiler/ir/type.h"
#include "runtime/abi/plan.h"

namespace wf::natives {

// The rows of a program's types as its plan would have them, in memory.
// Owns: what they point at.   Borrows: nothing.
class TypeRows {
 public:
  explicit TypeRows(const ir::TypeTable& types);
  TypeRows(const TypeRows&) = delete;
  TypeRows& operator=(const TypeRows&) = delete;
  const wf_type* data() const { return rows_.data(); }

 private:
  wf_bytes Text(std::string text);
  wf_type RowOf(const ir::TypeTable& types, ir::TypeId id);

  std::vector<wf_type> rows_;
  std::deque<std::vector<wf_field>> fields_;
  std::deque<std::vector<int64_t>> dims_;
  std::deque<std::string> texts_;
};

}  // namespace wf::natives
