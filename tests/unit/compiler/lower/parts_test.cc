// Long bodies, cut into parts of any length, do what they do uncut.

#include "compiler/lower/parts.h"

#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>

#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

size_t CountParts(const llvm::Module& module) {
  size_t count = 0;
  for (const llvm::Function& function : module) count += function.getName().contains(".part");
  return count;
}

class PartsTest : public BodyTest {
 protected:
  TypeId Text() { return types().String(); }

  // What follows reads what came before; the loops, arms and folds hold enough to be cut themselves.
  ValueId Step(Builder& b, ValueId x, ValueId total, int64_t number) {
    const ValueId n = b.Dim(x, 0);
    const ir::BlockId each = b.Open({I64()});
    ValueId element = b.Load(x, {b.Param(0)});
    for (int i = 0; i < 4; ++i) element = b.Add(b.Mul(element, b.F32(0.5F)), b.F32(static_cast<float>(number + i)));
    const ValueId index = b.CheckIndex(b.Sub(b.Sub(n, b.I64(1)), b.Param(0)), n);
    b.Close(b.Add(element, b.Load(x, {index})));
    const ValueId row = b.Build(DType::kF32, {n}, each);

    const ir::BlockId add = b.Open({I64()});
    b.Close(b.Mul(b.Load(row, {b.Param(0)}), b.Load(x, {b.Param(0)})));
    const ValueId sum = b.Convert(b.Reduce(ReduceKind::kSum, DType::kF32, n, add), DType::kI64);

    const ir::BlockId step = b.Open({I64(), I64()});
    const ValueId next = b.Add(b.Mul(b.Param(1), b.I64(3)), b.Binary(OpKind::kRem, b.Add(b.Param(0), sum), b.I64(7)));
    b.Close(b.Sub(next, b.Add(total, b.I64(number))));
    const ValueId folded = b.Emit(OpKind::kFold, I64(), {n, total}, 0, {step});

    const ir::BlockId then = b.Open({});
    b.Close(b.Sub(b.Mul(folded, b.I64(5)), sum));
    const ir::BlockId otherwise = b.Open({});
    const ir::BlockId message = b.Open({});
    b.Close(b.Text("step " + std::to_string(number)));
    b.FailIf(b.Binary(OpKind::kEq, b.Binary(OpKind::kBitAnd, folded, b.I64(3)), b.I64(number)), 100'001, message);
    b.Close(b.Add(folded, b.I64(number)));
    return b.If(b.Binary(OpKind::kLt, folded, b.I64(0)), I64(), then, otherwise);
  }

  ValueId Words(Builder& b, const In& in) {
    const ir::BlockId block = b.Open({I64()});
    const uint64_t format = ir::AddText(b.program(), "{}, {}");
    ValueId text = in[0];
    for (int i = 0; i < 6; ++i) text = b.Emit(OpKind::kText, Text(), {text, b.Param(0)}, format);
    b.Close(text);
    return b.Emit(OpKind::kListBuild, types().List(Text()), {b.Binary(OpKind::kBitAnd, in[1], b.I64(7))}, 0, {block});
  }
};

TEST_F(PartsTest, EveryLengthOfPartsGivesTheSameBits) {
  cases_.Add("steps", {Tensor(DType::kF32, {-1}), I64()}, I64(), [this](Builder& b, const In& in) {
    ValueId total = in[1];
    for (int64_t i = 0; i < 6; ++i) total = Step(b, in[0], total, i);
    return total;
  });
  cases_.Add("words", {Text(), I64()}, types().List(Text()), [this](Builder& b, const In& in) { return Words(b, in); });
  ir::Interpreter oracle(cases_.program);
  for (const uint64_t weight : {1, 3, 10, 30, 100, 300, 1000}) {
    const Loaded parts(cases_.program, "x86-64-v3", 1, /*watch=*/weight == 30, weight);
    uint64_t seed = 7;
    int failed = 0, yielded = 0;
    for (const Cases::Case& one : cases_.cases) {
      const TypeId out = cases_.program[cases_.program.tasks[one.task].out].type;
      for (const int64_t size : {0, 1, 2, 9, 16, 40}) {
        std::vector<ir::Value> inputs(cases_.program.slots.size());
        for (const ir::SlotId slot : one.in)
          inputs[static_cast<size_t>(slot)] = RandomValue(types(), cases_.program[slot].type, {size}, &seed);
        const ir::Outcome wanted = oracle.RunBody(cases_.program.tasks[one.task].body, inputs);
        const ir::Outcome got = parts.Run(one.task, inputs);
        ++(wanted.value ? yielded : failed);
        EXPECT_EQ(Describe(cases_.program, out, got), Describe(cases_.program, out, wanted)) << one.name << ", parts of " << weight;
      }
    }
    EXPECT_GT(yielded, 4);
    EXPECT_GT(failed, 0);
  }
}

TEST_F(PartsTest, OnlyLongBodiesAreCut) {
  cases_.Add("short", {I64()}, I64(), [](Builder& b, const In& in) { return b.Add(in[0], b.I64(1)); });
  cases_.Add("long", {Tensor(DType::kF32, {-1}), I64()}, I64(), [this](Builder& b, const In& in) {
    ValueId total = in[1];
    for (int64_t i = 0; i < 60; ++i) total = Step(b, in[0], total, i);
    return total;
  });
  Options options;
  const auto parts = [&] {
    llvm::LLVMContext context;
    const auto module = Lower(cases_.program, context, options);
    EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
    return CountParts(*module);
  };
  const size_t usual = parts();
  EXPECT_GT(usual, 1);
  options.part_weight = 1'000'000;
  EXPECT_EQ(parts(), 0);
  options.part_weight = 500;
  EXPECT_GT(parts(), 2 * usual);
}

// A part whose middle is entered from elsewhere cannot be a function.
TEST(PartCutter, LeavesWhatIsEnteredFromElsewhere) {
  for (const bool from_elsewhere : {false, true}) {
    ir::Body body;
    body.ops.resize(3);
    PartCutter cutter(body, 1);
    ASSERT_TRUE(cutter.are_needed());
    llvm::LLVMContext context;
    llvm::Module module("m", context);
    llvm::IRBuilder<> b(context);
    auto* type = llvm::FunctionType::get(b.getInt64Ty(), {b.getInt64Ty()}, false);
    auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "f", module);
    b.SetInsertPoint(llvm::BasicBlock::Create(context, "entry", function));
    Part part = cutter.Begin(b);
    cutter.Add(body.ops[0]);
    auto* middle = llvm::BasicBlock::Create(context, "middle", function);
    b.CreateBr(middle);
    b.SetInsertPoint(middle);
    llvm::Value* sum = b.CreateAdd(function->getArg(0), b.getInt64(1));
    cutter.End(b, part);
    b.CreateRet(sum);
    if (from_elsewhere) {
      b.SetInsertPoint(llvm::BasicBlock::Create(context, "elsewhere", function));
      b.CreateBr(middle);
    }
    cutter.Outline(*function, {});
    EXPECT_FALSE(llvm::verifyModule(module, &llvm::errs()));
    EXPECT_EQ(CountParts(module), from_elsewhere ? 0 : 1);
  }
}

}  // namespace
}  // namespace wf::lower::testing
