#include "compiler/ir/constants.h"

namespace wf::ir {

size_t ConstantTable::Add(const TypeTable& types, TypeId type, const Value& value) {
  std::optional<size_t> whole_hash;
  const size_t hash = HashOf(value);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    if (IsAlike(types, at->second, type, value, whole_hash)) return at->second;
  }
  by_hash_.emplace(hash, constants_.size());
  constants_.push_back({type, value});
  whole_hashes_.push_back(whole_hash);
  return constants_.size() - 1;
}

// Whole values are compared where their hashes, of which each is computed once, are equal: there may be thousands that begin alike.
bool ConstantTable::IsAlike(const TypeTable& types, size_t index, TypeId type, const Value& value, std::optional<size_t>& whole_hash) {
  const Constant& known = constants_[index];
  if (known.type != type) return false;
  std::optional<size_t>& known_hash = whole_hashes_[index];
  if (!known_hash) known_hash = WholeHashOf(known.value);
  if (!whole_hash) whole_hash = WholeHashOf(value);
  return known_hash == whole_hash && SameBits(types, type, known.value, value);
}

}  // namespace wf::ir
