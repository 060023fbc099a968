#pragma once

#include <unordered_map>
#include <vector>

#include "compiler/ir/value.h"

namespace wf::ir {

struct Constant {
  TypeId type;
  Value value;
};

// The constants of a program, equal ones once.
// Cost: Add is linear in the size of the value.
class ConstantTable {
 public:
  size_t Add(const TypeTable& types, TypeId type, const Value& value);  // its index
  const Constant& operator[](size_t index) const { return constants_[index]; }
  size_t size() const { return constants_.size(); }

 private:
  std::vector<Constant> constants_;
  std::unordered_multimap<size_t, size_t> by_hash_;
};

}  // namespace wf::ir
