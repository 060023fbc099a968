#include "compiler/ir/body_run.h"
#include "compiler/ir/builder.h"
#include "compiler/ir/math.h"
#include "runtime/base/check.h"

// Scalar operations of the interpreter as they are run, and math, which is made of them.
namespace wf::ir {

std::optional<ScalarOp> ScalarOpFor(const TypeTable& types, const Body& body, ValueId id) {
  const Op& op = body[id];
  if (InfoOf(op.kind).group != OpGroup::kScalar) return std::nullopt;
  const DType dtype = types[body[op.args[op.kind == OpKind::kSelect ? 1 : 0]].type].dtype;
  const ScalarFunction function = ScalarFunctionOf(op.kind, dtype);
  if (function == nullptr && op.kind != OpKind::kConvert) return std::nullopt;
  const auto place = [&](size_t i) { return static_cast<uint32_t>(i < op.args.size() ? op.args[i] : id); };
  return ScalarOp{function, dtype, types[op.type].dtype, static_cast<uint32_t>(id), place(0), place(1), place(2)};
}

// A body that computes one math operation, as it is run.
struct Interpreter::MathBody {
  std::vector<uint64_t> bits;  // of its values: constants stay
  std::vector<ScalarOp> code;
  std::vector<uint32_t> slots;  // values that are an argument, in turn with the number of it
  uint64_t steps = 0;
  size_t result = 0;
};

Interpreter::Interpreter(const Program& program, Hooks hooks, Limits limits)
    : program_(program), hooks_(std::move(hooks)), limits_(limits) {}
Interpreter::~Interpreter() = default;

std::unique_ptr<Interpreter::MathBody> Interpreter::MakeMath(OpKind kind, DType dtype) {
  Program program;
  Body body;
  const TypeId type = program.types.Scalar(dtype);
  program.slots = {{.name = "x", .type = type}, {.name = "y", .type = type}};
  Builder builder(program, body);
  const ValueId a = builder.Slot(SlotId{0}), b = kind == OpKind::kPow ? builder.Slot(SlotId{1}) : ValueId::kNone;
  builder.Close(EmitMath(builder, kind, a, b));
  auto made = std::make_unique<MathBody>();
  made->bits.resize(body.ops.size());
  made->steps = body.ops.size() / kMathOpsOfAStep;
  made->result = static_cast<size_t>(body.blocks[0].result);
  for (const ValueId id : body.blocks[0].ops) {  // straight-line scalar code: no blocks, nothing fails
    const Op& op = body[id];
    if (op.kind == OpKind::kScalar) {
      made->bits[static_cast<size_t>(id)] = op.imm;
    } else if (op.kind == OpKind::kSlot) {
      made->slots.insert(made->slots.end(), {static_cast<uint32_t>(id), static_cast<uint32_t>(op.imm)});
    } else {
      const auto code = ScalarOpFor(program.types, body, id);
      WF_CHECK(code, InfoOf(op.kind).name);
      made->code.push_back(*code);
    }
  }
  return made;
}

uint64_t Interpreter::Math(OpKind kind, DType dtype, uint64_t x, uint64_t y) {
  const size_t index = (static_cast<size_t>(kind) - static_cast<size_t>(OpKind::kExp)) * 2 + (dtype == DType::kF64);
  std::unique_ptr<MathBody>& made = math_[index];
  if (!made) made = MakeMath(kind, dtype);
  steps_ += made->steps;
  std::vector<uint64_t>& bits = made->bits;
  for (size_t i = 0; i < made->slots.size(); i += 2) bits[made->slots[i]] = made->slots[i + 1] == 0 ? x : y;
  for (const ScalarOp& op : made->code) bits[op.out] = op.Of(bits[op.a], bits[op.b], bits[op.c]);
  return bits[made->result];
}

}  // namespace wf::ir
