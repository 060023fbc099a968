#include "compiler/ir/ir.h"

namespace wf::ir {

const OpInfo& InfoOf(OpKind kind) {
  static constexpr OpInfo kInfos[] = {
#define OP(enumerator, name, arguments, blocks) {name, arguments, blocks, OpGroup::kIf},
#define LEAF_OP(enumerator, name, arguments, blocks) {name, arguments, blocks, OpGroup::kLeaf},
#define SCALAR_OP(enumerator, name, arguments, blocks) {name, arguments, blocks, OpGroup::kScalar},
#define MATH_OP(enumerator, name, arguments, blocks) {name, arguments, blocks, OpGroup::kMath},
#define TENSOR_OP(enumerator, name, arguments, blocks) {name, arguments, blocks, OpGroup::kTensor},
#define RECORD_OP(enumerator, name, arguments, blocks) {name, arguments, blocks, OpGroup::kRecord},
#define LIST_OP(enumerator, name, arguments, blocks) {name, arguments, blocks, OpGroup::kList},
#define TEXT_OP(enumerator, name, arguments, blocks) {name, arguments, blocks, OpGroup::kText},
#define EFFECT_OP(enumerator, name, arguments, blocks) {name, arguments, blocks, OpGroup::kEffect},
#include "compiler/ir/ops.def"
#undef OP
  };
  return kInfos[static_cast<size_t>(kind)];
}

}  // namespace wf::ir
