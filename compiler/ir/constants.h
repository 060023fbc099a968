#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "compiler/ir/value.h"

namespace wf::ir {

struct Constant {
  TypeId type;
  Value value;
};

// The constants of a program, equal ones once.
// Cost: Add reads the beginning of the value, and all of it where another begins alike.
class ConstantTable {
 public:
  size_t Add(const TypeTable& types, TypeId type, const Value& value);  // its index
  const Constant& operator[](size_t index) const { return constants_[index]; }
  size_t size() const { return constants_.size(); }

 private:
  bool IsAlike(const TypeTable& types, size_t known, TypeId type, const Value& value, std::optional<size_t>& whole_hash);

  std::vector<Constant> constants_;
  std::vector<std::optional<size_t>> whole_hashes_;  // by constant; none: nothing began as it does
  std::unordered_multimap<size_t, size_t> by_hash_;
};

}  // namespace wf::ir
