#include "compiler/ir/constants.h"

namespace wf::ir {

size_t ConstantTable::Add(const TypeTable& types, TypeId type, const Value& value) {
  const size_t hash = HashOf(value);
  const auto [begin, end] = by_hash_.equal_range(hash);
  for (auto at = begin; at != end; ++at) {
    const Constant& known = constants_[at->second];
    if (known.type == type && SameBits(types, type, known.value, value)) return at->second;
  }
  by_hash_.emplace(hash, constants_.size());
  constants_.push_back({type, value});
  return constants_.size() - 1;
}

}  // namespace wf::ir
