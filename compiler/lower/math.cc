#include "compiler/lower/math.h"

#include <string>
#include <vector>

#include "compiler/ir/math.h"
#include "compiler/lower/arms.h"
#include "compiler/lower/scalar.h"

namespace wf::lower {
namespace {

using ir::OpKind;
using ir::ValueId;
using llvm::Value;

// The operations of one function, of a program of their own.
struct Polynomial {
  Polynomial(OpKind kind, ir::DType dtype) {
    ir::Builder b(program, body);
    const std::vector<ir::TypeId> params(static_cast<size_t>(ir::InfoOf(kind).arguments), program.types.Scalar(dtype));
    block = b.Open(params);
    b.Close(ir::EmitMath(b, kind, b.Param(0), params.size() > 1 ? b.Param(1) : ValueId::kNone));
  }
  ir::Program program;
  ir::Body body;
  ir::BlockId block{};
};

// Writes them into an empty function, lane by lane where its parameters are vectors.
class Writer {
 public:
  Writer(Context& context, const Polynomial& source, llvm::Function* function)
      : context_(context),
        program_(source.program),
        body_(source.body),
        block_(body_[source.block]),
        arms_(body_, block_),
        function_(function),
        b_(llvm::BasicBlock::Create(context.llvm(), "entry", function)),
        values_(body_.ops.size()) {}

  void Run() {
    for (size_t i = 0; i < block_.params.size(); ++i)
      values_[static_cast<size_t>(block_.params[i])] = function_->getArg(static_cast<unsigned>(i));
    for (const ValueId id : block_.ops) {
      if (arms_.Has(id)) continue;
      for (const Arms::Arm& arm : arms_.Reached(id)) WriteArm(arm);
      Write(id);
    }
    b_.CreateRet(Get(block_.result));
  }

 private:
  ir::DType DTypeOf(ValueId id) const { return program_.types[body_[id].type].dtype; }

  // Constants stand outside of the block.
  Value* Get(ValueId id) {
    Value*& value = values_[static_cast<size_t>(id)];
    if (value != nullptr) return value;
    llvm::Type* type = ShapedType(b_, DTypeOf(id), function_->getReturnType());
    llvm::Type* scalar = type->getScalarType();
    if (scalar->isIntegerTy()) return value = llvm::ConstantInt::get(type, body_[id].imm);
    return value = llvm::ConstantFP::get(
               type, llvm::APFloat(scalar->getFltSemantics(), llvm::APInt(scalar->getPrimitiveSizeInBits(), body_[id].imm)));
  }

  void Write(ValueId id) {
    const ir::Op& op = body_[id];
    llvm::SmallVector<Value*, 3> args;
    for (const ValueId arg : op.args) args.push_back(Get(arg));
    values_[static_cast<size_t>(id)] = EmitScalarOp(b_, op.kind, DTypeOf(op.args[op.kind == OpKind::kSelect ? 1 : 0]), DTypeOf(id), args);
  }

  // What only the arm of a selection reads, if any lane takes it.
  void WriteArm(const Arms::Arm& arm) {
    Value* taken = Get(arm.condition);
    if (!arm.is_then) taken = b_.CreateNot(taken);
    if (taken->getType()->isVectorTy()) taken = b_.CreateOrReduce(taken);
    llvm::BasicBlock* before = b_.GetInsertBlock();
    llvm::BasicBlock* some = llvm::BasicBlock::Create(context_.llvm(), "some", function_);
    llvm::BasicBlock* none = llvm::BasicBlock::Create(context_.llvm(), "none", function_);
    b_.CreateCondBr(taken, some, none);
    b_.SetInsertPoint(some);
    for (const ValueId id : arm.ops) {
      for (const Arms::Arm& inner : arms_.Reached(id)) WriteArm(inner);
      Write(id);
    }
    llvm::BasicBlock* some_end = b_.GetInsertBlock();
    b_.CreateBr(none);
    b_.SetInsertPoint(none);
    for (const ValueId id : arm.results) {
      Value*& value = values_[static_cast<size_t>(id)];
      llvm::PHINode* phi = b_.CreatePHI(value->getType(), 2);
      phi->addIncoming(value, some_end);
      phi->addIncoming(llvm::Constant::getNullValue(phi->getType()), before);
      value = phi;
    }
  }

  Context& context_;
  const ir::Program& program_;
  const ir::Body& body_;
  const ir::Block& block_;
  const Arms arms_;
  llvm::Function* const function_;
  llvm::IRBuilder<> b_;
  std::vector<Value*> values_;  // by ValueId
};

llvm::Function* MathFunction(Context& context, OpKind kind, ir::DType dtype, llvm::Type* type, const llvm::Function& caller) {
  const auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(type);
  const std::string cpu = caller.getFnAttribute("target-cpu").getValueAsString().str();
  const std::string name = "wf_" + std::string(ir::InfoOf(kind).name) + "_" + std::string(ir::NameOf(dtype)) +
                           (lanes == nullptr ? "" : "x" + std::to_string(lanes->getNumElements())) + "." + cpu;
  if (llvm::Function* known = context.module().getFunction(name)) return known;
  const Polynomial source(kind, dtype);
  const std::vector<llvm::Type*> params(source.body[source.block].params.size(), type);
  llvm::Function* function = context.NewFunction(llvm::FunctionType::get(type, params, false), name);
  context.SetCpu(function, cpu);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::WillReturn);
  function->setDoesNotAccessMemory();
  Writer(context, source, function).Run();
  return function;
}

}  // namespace

Value* EmitMathCall(Context& context, llvm::IRBuilder<>& b, OpKind kind, ir::DType dtype, llvm::ArrayRef<Value*> args) {
  return b.CreateCall(MathFunction(context, kind, dtype, args[0]->getType(), *b.GetInsertBlock()->getParent()), args);
}

}  // namespace wf::lower
