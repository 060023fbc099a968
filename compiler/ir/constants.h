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
  size_t WholeHash(std::optional<size_t>& known, const Value& value);

  std::vector<Constant> constants_;
  std::vector<std::optional<size_t>> whole_hashes_;  // by constant; none: nobody has asked for it
  std::unordered_multimap<size_t, size_t> by_hash_;
  TextHashes text_hashes_;
};

}  // namespace wf::ir
