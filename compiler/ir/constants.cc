#include "compiler/ir/constants.h"

namespace wf::ir {

// Values that begin alike are compared as they are; where there are many of them, those whose hashes differ are not.
size_t ConstantTable::Add(const TypeTable& types, TypeId type, const Value& value) {
  constexpr size_t kMany = 8;
  const size_t hash = HashOf(value);
  std::optional<size_t> whole_hash;
  size_t seen = 0;
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    const size_t index = at->second;
    if (constants_[index].type != type) continue;
    if (++seen > kMany && WholeHash(whole_hashes_[index], constants_[index].value) != WholeHash(whole_hash, value)) continue;
    if (SameBits(types, type, constants_[index].value, value)) return index;
  }
  by_hash_.emplace(hash, constants_.size());
  constants_.push_back({type, value});
  whole_hashes_.push_back(whole_hash);
  return constants_.size() - 1;
}

size_t ConstantTable::WholeHash(std::optional<size_t>& known, const Value& value) {
  if (!known) known = WholeHashOf(value, text_hashes_);
  return *known;
}

}  // namespace wf::ir
