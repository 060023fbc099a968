#include "compiler/lower/long_lists.h"

#include <algorithm>

#include <llvm/ADT/DenseSet.h>

namespace wf::lower {

LongLists::LongLists(const ir::Body& body) {
  for (const ir::Block& block : body.blocks) {
    llvm::DenseSet<uint32_t> here;
    for (const ir::ValueId id : block.ops) {
      const ir::Op& op = body[id];
      if (op.kind == ir::OpKind::kListMake && op.args.size() >= kMany) {
        for (uint64_t i = 0; i < op.args.size(); ++i) {
          const auto item = static_cast<uint32_t>(op.args[i]);
          if (here.contains(item)) places_[item].push_back({id, i});
        }
      }
      here.insert(static_cast<uint32_t>(id));
    }
  }
}

const std::vector<LongLists::Place>& LongLists::PlacesOf(ir::ValueId item) const {
  static const std::vector<Place> kNone;
  const auto at = places_.find(static_cast<uint32_t>(item));
  return at == places_.end() ? kNone : at->second;
}

bool LongLists::Holds(ir::ValueId list, ir::ValueId item) const {
  const std::vector<Place>& places = PlacesOf(item);
  return std::any_of(places.begin(), places.end(), [&](const Place& place) { return place.list == list; });
}

}  // namespace wf::lower
