// Text, metadata, failures and native functions: what calls the runtime.

#include "runtime/base/text.h"
#include "compiler/ir/builder.h"
#include "compiler/lower/body.h"
#include "compiler/lower/helpers.h"
#include "compiler/lower/image.h"
#include "runtime/abi/plan.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"

namespace wf::lower {

using ir::OpKind;
using llvm::Value;

namespace {
constexpr std::string_view kNotUtf8 = "bytes that are not UTF-8";

std::string NoText(const ir::Program& program, const ir::Op& key) {
  WF_CHECK(key.kind == OpKind::kConstant, "the key of `meta` is a plain string");
  return (base::TextBuilder() << "metadata `").Quote(*program.constants[key.imm].value.text).str() + "` is not UTF-8";
}
}  // namespace

// A long body makes thousands of calls, most of them for messages of failures: they take turns with the memory.
llvm::AllocaInst* BodyEmitter::CallMemory(const ir::Layout& layout, size_t number) {
  if (!parts_.are_needed()) return LocalBytes(layout.size, layout.align);
  llvm::AllocaInst*& memory = call_memory_[{layout.size, layout.align, number}];
  if (memory == nullptr) memory = LocalBytes(layout.size, layout.align);
  return memory;
}

Leaves BodyEmitter::EmitText(const ir::Op& op) {
  const Leaves format = ConstantValue(context_, b_, op.imm);
  if (op.args.empty()) return format;
  Image types(sizeof(void*) * op.args.size());
  auto* array = llvm::ArrayType::get(b_.getPtrTy(), op.args.size());
  llvm::AllocaInst* args = CallMemory({static_cast<uint32_t>(sizeof(void*) * op.args.size()), alignof(void*)}, 0);
  for (size_t i = 0; i < op.args.size(); ++i) {
    const ir::TypeId type = body_[op.args[i]].type;
    const ir::Layout layout = ir::LayoutOf(context_.types(), type);
    llvm::AllocaInst* value = CallMemory(layout, i + 1);
    StoreValue(context_, b_, type, Get(op.args[i]), value);
    b_.CreateStore(value, b_.CreateConstInBoundsGEP2_64(array, args, 0, i));
    types.Pointer(i * sizeof(void*), context_.TypeRow(static_cast<size_t>(type)));
  }
  llvm::AllocaInst* text = CallMemory({sizeof(wf_bytes), alignof(wf_bytes)}, op.args.size() + 1);
  FailUnlessZero(
      b_.CreateCall(context_.Runtime("wf_text"), {ctx_, format[0], format[1], types.Global(context_.module(), "types"), args, text}));
  return LoadValue(context_, b_, op.type, text);
}

Leaves BodyEmitter::EmitString(const ir::Op& op) {
  switch (op.kind) {
    case OpKind::kStringLen:
      return {Get(op.args[0])[1]};
    case OpKind::kText:
      return EmitText(op);
    case OpKind::kStringFromBytes:
      return EmitStringFromBytes(op);
    case OpKind::kStringEqual: {
      const Leaves &a = Get(op.args[0]), &c = Get(op.args[1]);
      Value* same_length = b_.CreateICmpEQ(a[1], c[1]);
      const auto memcmp_ = context_.Libc("memcmp", b_.getInt32Ty(), {b_.getPtrTy(), b_.getPtrTy(), b_.getInt64Ty()});
      Value* order = b_.CreateCall(memcmp_, {a[0], c[0], b_.CreateSelect(same_length, a[1], b_.getInt64(0))});
      return {b_.CreateAnd(same_length, b_.CreateICmpEQ(order, b_.getInt32(0)))};
    }
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define TEXT_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
    break;
  }
  return Unknown(op);
}

Leaves BodyEmitter::EmitStringFromBytes(const ir::Op& op) {
  BeforeEffect();
  const Leaves bytes = Get(op.args[0]);
  Value* fine = b_.CreateCall(IsUtf8(context_), {bytes[0], bytes[1]});
  Fail(b_.CreateNot(fine), b_.getInt32(code::kNotUtf8), op.place.line, context_.Text(kNotUtf8), b_.getInt64(kNotUtf8.size()));
  return bytes;
}

void BodyEmitter::EmitFailIf(const ir::Op& op) {
  BeforeEffect();
  Block* bad = Block::Create(context_.llvm(), "bad", function_);
  Block* next = Block::Create(context_.llvm(), "next", function_);
  b_.CreateCondBr(Scalar(op.args[0]), bad, next);
  b_.SetInsertPoint(bad);
  const Leaves message = EmitBlock(op.blocks[0], {});
  Value* code = b_.getInt32(static_cast<uint32_t>(op.imm));
  Return(b_.CreateCall(context_.Runtime("wf_fail"), {ctx_, code, places_.Number(b_, op.place.line), message[0], message[1]}));
  b_.SetInsertPoint(next);
}

Leaves BodyEmitter::EmitNative(const ir::Op& op) {
  BeforeEffect();
  llvm::SmallVector<Value*, 8> args{ctx_};
  for (const ir::ValueId arg : op.args) {
    args.push_back(CallMemory(ir::LayoutOf(context_.types(), body_[arg].type), args.size()));
    StoreValue(context_, b_, body_[arg].type, Get(arg), args.back());
  }
  const ir::TypeId told = ir::TypeTold(context_.program(), body_, op);
  const bool is_typed = told != ir::TypeId::kNone;
  llvm::AllocaInst* const result = CallMemory(ir::LayoutOf(context_.types(), op.type), args.size());
  if (is_typed) args.append({context_.TypeRow(0), b_.getInt32(static_cast<uint32_t>(told))});
  args.push_back(result);
  FailUnlessZero(b_.CreateCall(context_.Native(context_.program().natives[op.imm], op.args.size(), is_typed), args));
  return LoadValue(context_, b_, op.type, args.back());
}

// A string is the view itself, if it is one; numbers and bools are written as in JSON.
Leaves BodyEmitter::EmitMeta(const ir::Op& op) {
  BeforeEffect();
  const ir::Type& type = context_.type(op.type);
  const Leaves key = Get(op.args[0]), fallback = Get(op.args[1]);
  llvm::AllocaInst* view = LocalBytes(sizeof(wf_bytes), alignof(wf_bytes));
  Value* found = b_.CreateICmpEQ(b_.CreateCall(context_.Runtime("wf_meta"), {ctx_, key[0], key[1], view}), b_.getInt32(1));
  Block* before = b_.GetInsertBlock();
  Block* parse = Block::Create(context_.llvm(), "meta", function_);
  Block* done = Block::Create(context_.llvm(), "done", function_);
  b_.CreateCondBr(found, parse, done);
  b_.SetInsertPoint(parse);
  Leaves parsed{b_.CreateLoad(b_.getPtrTy(), view), b_.CreateLoad(b_.getInt64Ty(), Offset(b_, view, 8))};
  if (type.kind == ir::TypeKind::kString) {
    const std::string no_text = NoText(context_.program(), body_[op.args[0]]);
    Value* fine = b_.CreateCall(IsUtf8(context_), {parsed[0], parsed[1]});
    Fail(b_.CreateNot(fine), b_.getInt32(code::kInputParams), op.place.line, context_.Text(no_text), b_.getInt64(no_text.size()));
  }
  if (type.kind == ir::TypeKind::kScalar) {
    llvm::AllocaInst* number = LocalBytes(8, 8);
    Value* const dtype = b_.getInt32(static_cast<uint32_t>(type.dtype));
    FailUnlessZero(b_.CreateCall(context_.Runtime("wf_json_meta"), {ctx_, key[0], key[1], parsed[0], parsed[1], dtype, number}));
    parsed = LoadValue(context_, b_, op.type, number);
  }
  Block* read = b_.GetInsertBlock();
  b_.CreateBr(done);
  b_.SetInsertPoint(done);
  Leaves result;
  for (size_t i = 0; i < parsed.size(); ++i) {
    llvm::PHINode* phi = b_.CreatePHI(parsed[i]->getType(), 2);
    phi->addIncoming(fallback[i], before);
    phi->addIncoming(parsed[i], read);
    result.push_back(phi);
  }
  return result;
}

}  // namespace wf::lower
