#include "compiler/ir/ir.h"

namespace wf::ir {

const OpInfo& InfoOf(OpKind kind) {
  static constexpr OpInfo kInfos[] = {
#define OP(enumerator, name, arguments, blocks) {name, arguments, blocks},
#include "compiler/ir/ops.def"
#undef OP
  };
  return kInfos[static_cast<size_t>(kind)];
}

}  // namespace wf::ir
