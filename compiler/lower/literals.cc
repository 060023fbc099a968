#include "compiler/lower/literals.h"

#include <bit>
#include <cmath>
#include <map>
#include <string>

#include "compiler/ir/form.h"
#include "compiler/lower/places.h"

namespace wf::lower {
namespace {

using ir::OpKind;

constexpr size_t kManyTensors = 8;  // tasks, from which on each would take longer to compile than constant elements save

bool IsArithmetic(OpKind kind) {
  return kind == OpKind::kAdd || kind == OpKind::kSub || kind == OpKind::kMul || kind == OpKind::kDiv || kind == OpKind::kFma;
}

class Reader {
 public:
  Reader(const ir::TypeTable& types, const ir::Body& body) : types_(types), body_(body), is_free_(body.ops.size()) {
    for (size_t i = 0; i < body.ops.size(); ++i) {
      const ir::Op& op = body.ops[i];
      is_free_[i] = op.kind == OpKind::kScalar ? IsPlain(ValueOf(op)) : IsTensor(op);
    }
    for (const ir::Op& op : body.ops) {
      for (size_t i = 0; i < op.args.size(); ++i) {
        if (IsTensor(body[op.args[i]])) continue;
        if (!IsArithmetic(op.kind) || (op.kind == OpKind::kDiv && i == 1 && HasInverse(op.args[i]))) Keep(op.args[i]);
      }
    }
    for (const ir::Block& block : body.blocks) {
      if (block.result != ir::ValueId::kNone && !IsTensor(body[block.result])) Keep(block.result);
    }
  }

  const TaskLiterals& is_free() const { return is_free_; }

  // All that the code is made of, less the literals that are free and the slots, which are places.
  std::string Shape() const {
    const auto is_own = [this](size_t i) {
      return is_free_[i] || body_.ops[i].kind == OpKind::kSlot || body_.ops[i].kind == OpKind::kExtent;
    };
    return ir::FormOf(body_, is_own,
                      [](ir::TypeId type, std::string* form) { form->append(reinterpret_cast<const char*>(&type), sizeof type); });
  }

 private:
  bool IsTensor(const ir::Op& op) const { return op.kind == OpKind::kConstant && types_[op.type].kind == ir::TypeKind::kTensor; }
  // NaN of what is not an arithmetic float.
  double ValueOf(const ir::Op& op) const {
    const ir::DType dtype = types_[op.type].dtype;
    if (dtype == ir::DType::kF32) return std::bit_cast<float>(static_cast<uint32_t>(op.imm));
    return dtype == ir::DType::kF64 ? std::bit_cast<double>(op.imm) : std::nan("");
  }
  static bool IsPlain(double value) { return std::isfinite(value) && value != 0 && std::abs(value) != 1; }
  bool HasInverse(ir::ValueId id) const {
    if (body_[id].kind != OpKind::kScalar) return false;
    int exponent = 0;
    return std::abs(std::frexp(ValueOf(body_[id]), &exponent)) == 0.5;
  }
  void Keep(ir::ValueId id) { is_free_[static_cast<size_t>(id)] = false; }

  const ir::TypeTable& types_;
  const ir::Body& body_;
  TaskLiterals is_free_;
};

struct Alike {
  size_t first;             // task
  TaskLiterals is_free;     // in all of them
  TaskLiterals varies;      // from the first's
  std::vector<size_t> all;  // tasks
};

}  // namespace

std::vector<TaskLiterals> FindLiterals(const ir::Program& program) {
  std::map<std::string, Alike> shapes;
  for (size_t i = 0; i < program.tasks.size(); ++i) {
    const ir::Body& body = program.tasks[i].body;
    if (!HasLoops(body)) continue;
    const Reader reader(program.types, body);
    const auto [found, is_new] = shapes.try_emplace(reader.Shape());
    Alike& alike = found->second;
    if (is_new) alike = {i, reader.is_free(), TaskLiterals(body.ops.size()), {}};
    alike.all.push_back(i);
    const ir::Body& first = program.tasks[alike.first].body;
    for (size_t op = 0; op < body.ops.size(); ++op) {
      if (alike.is_free[op] && body.ops[op].imm != first.ops[op].imm) alike.varies[op] = true;
    }
  }
  std::vector<TaskLiterals> literals(program.tasks.size());
  for (const auto& [shape, alike] : shapes) {
    if (alike.all.size() == 1) continue;
    TaskLiterals read = alike.varies;
    const ir::Body& first = program.tasks[alike.first].body;
    for (size_t op = 0; op < read.size() && alike.all.size() < kManyTensors; ++op) {
      if (first.ops[op].kind == OpKind::kConstant) read[op] = false;
    }
    for (const size_t task : alike.all) literals[task] = read;
  }
  return literals;
}

}  // namespace wf::lower
