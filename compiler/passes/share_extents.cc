// Tasks that do the same with extents of their own read these as they read their slots, where such tasks are many: lower writes one
// function for all of them. To compile one for each would take longer than constant extents save: softmax of one shape takes 60 ms to
// compile, and 31 of them 2 s where 32 that share take 0.3 s, but a call is 1.2 to 2 times as fast where its inner extents are constants.

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "compiler/ir/form.h"
#include "compiler/passes/passes.h"

namespace wf::passes {
namespace {

using ir::OpGroup;
using ir::OpKind;
using ir::ValueId;

constexpr size_t kMany = 32;  // shapes of tasks that do the same

// Of one body: what of it is an extent that might be another.
class Reader {
 public:
  Reader(const ir::TypeTable& types, const ir::Body& body) : types_(types), body_(body), is_free_(body.ops.size()) {
    for (size_t i = 0; i < body.ops.size(); ++i) {
      const ir::Op& op = body.ops[i];
      is_free_[i] = op.kind == OpKind::kScalar && types[op.type].dtype == ir::DType::kI64 && static_cast<int64_t>(op.imm) > 1;
      has_loop_ |= op.kind == OpKind::kBuild || op.kind == OpKind::kReduce || op.kind == OpKind::kFold;
      is_plain_ &= IsPlain(op);
    }
    for (const ir::Op& op : body.ops) {
      for (size_t i = 0; i < op.args.size(); ++i) {
        if (!MayBeOpen(op.kind, i)) Keep(op.args[i]);
      }
    }
    for (const ir::Block& block : body.blocks) {
      if (block.result != ValueId::kNone) Keep(block.result);
    }
  }

  bool may_share() const { return has_loop_ && is_plain_; }
  bool is_free(size_t op) const { return is_free_[op]; }

  // All that is the same in tasks that do the same, whatever their extents, slots, floats and constant tensors are.
  std::string Form() const {
    const auto is_own = [this](size_t i) {
      const ir::Op& op = body_.ops[i];
      const bool is_float = op.kind == OpKind::kScalar && ir::IsFloat(types_[op.type].dtype);
      return is_free_[i] || is_float || op.kind == OpKind::kSlot || op.kind == OpKind::kConstant;
    };
    return ir::FormOf(body_, is_own, [this](ir::TypeId type, std::string* form) { AddType(type, form); });
  }

 private:
  bool IsPlain(const ir::Op& op) const {
    const OpGroup group = ir::InfoOf(op.kind).group;
    const bool is_known = group == OpGroup::kLeaf || group == OpGroup::kIf || group == OpGroup::kScalar || group == OpGroup::kMath ||
                          group == OpGroup::kTensor;
    if (!is_known || op.type == ir::TypeId::kNone) return is_known;
    return types_[op.type].kind == ir::TypeKind::kScalar || types_[op.type].kind == ir::TypeKind::kTensor;
  }
  // Elsewhere a known number makes faster code: of a divisor, of steps through memory.
  static bool MayBeOpen(OpKind kind, size_t argument) {
    switch (kind) {
      case OpKind::kBuild:
      case OpKind::kReshape:
      case OpKind::kAdd:
      case OpKind::kSub:
      case OpKind::kLt:
      case OpKind::kLe:
        return true;
      case OpKind::kReduce:
      case OpKind::kFold:
        return argument == 0;
      case OpKind::kCheckIndex:
        return argument == 1;
      default:
        return false;
    }
  }
  void Keep(ValueId id) { is_free_[static_cast<size_t>(id)] = false; }
  void AddType(ir::TypeId id, std::string* form) const {
    const bool is_tensor = id != ir::TypeId::kNone && types_[id].kind == ir::TypeKind::kTensor;
    *form += is_tensor ? 't' : 'x';
    if (!is_tensor) return form->append(std::to_string(static_cast<uint32_t>(id))), void();
    *form += static_cast<char>(types_[id].dtype);
    for (const int64_t dim : types_[id].dims) *form += dim < 0 ? '_' : dim < 2 ? static_cast<char>('0' + dim) : 'n';
  }

  const ir::TypeTable& types_;
  const ir::Body& body_;
  std::vector<bool> is_free_;
  bool has_loop_ = false, is_plain_ = true;
};

// Of one body: its extents, in order; those of tensors stand in their types.
std::vector<int64_t> ExtentsOf(const ir::TypeTable& types, const ir::Body& body, const Reader& reader) {
  std::vector<int64_t> extents;
  for (size_t i = 0; i < body.ops.size(); ++i) {
    const ir::Op& op = body.ops[i];
    if (reader.is_free(i)) extents.push_back(static_cast<int64_t>(op.imm));
    if (op.type == ir::TypeId::kNone || types[op.type].kind != ir::TypeKind::kTensor) continue;
    extents.insert(extents.end(), types[op.type].dims.begin(), types[op.type].dims.end());
  }
  return extents;
}

// Those in which tasks differ are known no longer.
void Open(ir::TypeTable& types, ir::Body& body, const Reader& reader, const std::vector<bool>& differs) {
  size_t at = 0;
  for (size_t i = 0; i < body.ops.size(); ++i) {
    ir::Op& op = body.ops[i];
    if (reader.is_free(i) && differs[at++]) op.kind = OpKind::kExtent;
    if (op.type == ir::TypeId::kNone || types[op.type].kind != ir::TypeKind::kTensor) continue;
    std::vector<int64_t> dims = types[op.type].dims;
    for (int64_t& dim : dims) dim = differs[at++] ? -1 : dim;
    op.type = types.Tensor(types[op.type].dtype, std::move(dims));
  }
}

}  // namespace

void ShareExtents(ir::Program& program) {
  std::map<std::string, std::vector<size_t>> alike;  // tasks
  for (size_t i = 0; i < program.tasks.size(); ++i) {
    const Reader reader(program.types, program.tasks[i].body);
    if (reader.may_share()) alike[reader.Form()].push_back(i);
  }
  for (const auto& [form, tasks] : alike) {
    if (tasks.size() < kMany) continue;
    std::set<std::vector<int64_t>> shapes;
    for (const size_t task : tasks) {
      const ir::Body& body = program.tasks[task].body;
      shapes.insert(ExtentsOf(program.types, body, Reader(program.types, body)));
    }
    if (shapes.size() < kMany) continue;
    std::vector<bool> differs(shapes.begin()->size());
    for (const std::vector<int64_t>& shape : shapes) {
      for (size_t i = 0; i < shape.size(); ++i) differs[i] = differs[i] || shape[i] != (*shapes.begin())[i];
    }
    for (const size_t task : tasks) {
      ir::Body& body = program.tasks[task].body;
      const Reader reader(program.types, body);
      Open(program.types, body, reader, differs);
    }
  }
}

}  // namespace wf::passes
