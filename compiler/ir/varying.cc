#include "compiler/ir/varying.h"

namespace wf::ir {
namespace {

// Is there one in the block?
bool MarkVarying(const Body& body, BlockId id, std::set<ValueId>& varying) {
  bool any = false;
  const Block& block = body[id];
  for (const ValueId value : block.ops) {
    const Op& op = body[value];
    bool varies = false;
    for (const ValueId arg : op.args) varies |= varying.contains(arg);
    for (const BlockId nested : op.blocks) varies |= MarkVarying(body, nested, varying);
    if (varies) varying.insert(value);
    any |= varies;
  }
  return any || varying.contains(block.result);
}

}  // namespace

std::set<ValueId> FindVarying(const Body& body, BlockId block, ValueId value) {
  std::set<ValueId> varying{value};
  MarkVarying(body, block, varying);
  return varying;
}

}  // namespace wf::ir
