#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "compiler/ir/ir.h"

namespace wf::lower {

// How deep builds stand in one another. Rows of vectors have their block in several copies, with what stands in it: where that would be so
// at each of many levels, the code of a body would double with each.
class BuildDepths {
 public:
  explicit BuildDepths(const ir::Body& body) : body_(body), depths_(body.blocks.size(), kUnknown) {}

  // Whether a loop over the block has it once, as plain code: in it stands a build that holds another.
  bool IsOnce(ir::BlockId block) { return Of(block) > 1; }

 private:
  static constexpr uint32_t kUnknown = UINT32_MAX;

  uint32_t Of(ir::BlockId id) {
    uint32_t& known = depths_[static_cast<size_t>(id)];
    if (known != kUnknown) return known;
    uint32_t deepest = 0;
    for (const ir::ValueId value : body_[id].ops) {
      const ir::Op& op = body_[value];
      const uint32_t own = op.kind == ir::OpKind::kBuild ? 1 : 0;
      for (const ir::BlockId block : op.blocks) deepest = std::max(deepest, own + Of(block));
    }
    return known = deepest;
  }

  const ir::Body& body_;
  std::vector<uint32_t> depths_;  // by BlockId
};

}  // namespace wf::lower
