// JSON for one signature: members are found by a perfect hash and read straight into their slots; the reply's names are literals.

#include "compiler/lower/codec.h"

#include "compiler/lower/find_name.h"
#include "compiler/lower/layout.h"
#include "runtime/abi/plan.h"
#include "runtime/base/check.h"

namespace wf::lower {
namespace {

using ir::TypeKind;
using llvm::Value;

// A function that returns 0 or hands on the first code that is not.
class Writer {
 public:
  Writer(Context& context, llvm::Function* function) : context_(context), function_(function), b_(NewBlock("entry")) {}
  llvm::IRBuilder<>& b() { return b_; }
  llvm::BasicBlock* NewBlock(const char* name) { return llvm::BasicBlock::Create(context_.llvm(), name, function_); }

  Value* Call(const char* name, llvm::ArrayRef<Value*> args) { return b_.CreateCall(context_.Runtime(name), args); }
  // Calls, and leaves when the result is not 0.
  void Try(const char* name, llvm::ArrayRef<Value*> args) { LeaveWhen(Call(name, args), llvm::CmpInst::ICMP_NE); }
  void LeaveWhen(Value* code, llvm::CmpInst::Predicate is) {
    llvm::BasicBlock *leave = NewBlock("leave"), *next = NewBlock("next");
    b_.CreateCondBr(b_.CreateICmp(is, code, b_.getInt32(0)), leave, next);
    b_.SetInsertPoint(leave);
    b_.CreateRet(code);
    b_.SetInsertPoint(next);
  }

 private:
  Context& context_;
  llvm::Function* function_;
  llvm::IRBuilder<> b_;
};

std::string JsonText(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<uint8_t>(c) < 0x20) {
      out += std::string("\\u00") + kHex[c >> 4] + kHex[c & 15];
    } else {
      out += c;
    }
  }
  return out + "\"";
}

void ReadMember(Context& context, Writer& w, const ir::Port& port, Value* json, Value* address) {
  const ir::Type& type = context.type(port.type);
  llvm::IRBuilder<>& b = w.b();
  switch (type.kind) {
    case TypeKind::kScalar:
      w.Try("wf_json_scalar", {json, b.getInt32(static_cast<uint32_t>(type.dtype)), address});
      return;
    case TypeKind::kString:
      w.Try("wf_json_string", {json, address});
      return;
    case TypeKind::kBytes:
      w.Try("wf_json_bytes", {json, address});
      return;
    case TypeKind::kTensor:
      w.Try("wf_json_tensor", {json, context.TypeRow(port.type), address});
      return;
    case TypeKind::kRecord:
    case TypeKind::kList:
    case TypeKind::kMap:
    case TypeKind::kOptional:
      w.Try("wf_json_value", {json, context.type_table(), b.getInt32(static_cast<uint32_t>(port.type)), address});
      return;
  }
}

// What a port holds that the request did not name: its default, nothing for an optional, or an answer that says so.
void FillMissing(Context& context, Writer& w, const ir::Port& port, Value* json, Value* address) {
  llvm::IRBuilder<>& b = w.b();
  const uint64_t size = ir::LayoutOf(context.types(), port.type).size;
  if (port.if_missing) {
    b.CreateMemCpy(address, llvm::MaybeAlign(1), context.Constant(port.type, *port.if_missing), llvm::MaybeAlign(1), size);
  } else if (!port.required) {
    b.CreateMemSet(address, b.getInt8(0), size, llvm::MaybeAlign(1));
  } else {
    b.CreateRet(w.Call("wf_json_missing", {json, context.Text(port.name), b.getInt64(port.name.size())}));
  }
}

// A bit per port says whether it has been read.
class SeenBits {
 public:
  SeenBits(llvm::IRBuilder<>& b, size_t n) : b_(b), bits_(b.CreateAlloca(b.getInt64Ty(), b.getInt64((n + 63) / 64 + 1), "seen")) {
    b.CreateMemSet(bits_, b.getInt8(0), ((n + 63) / 64 + 1) * 8, llvm::MaybeAlign(8));
  }
  // Was it set before? Sets it.
  Value* TestAndSet(size_t i) {
    Value* word = Offset(b_, bits_, i / 64 * 8);
    Value* old = b_.CreateLoad(b_.getInt64Ty(), word);
    b_.CreateStore(b_.CreateOr(old, uint64_t{1} << (i % 64)), word);
    return b_.CreateICmpNE(b_.CreateAnd(old, uint64_t{1} << (i % 64)), b_.getInt64(0));
  }

 private:
  llvm::IRBuilder<>& b_;
  Value* bits_;
};

llvm::Function* EmitReadJson(Context& context, const FrameLayout& frames, const ir::Workflow& workflow, llvm::Function* find_in,
                             llvm::GlobalVariable* in_ports) {
  llvm::Type *ptr = context.Ptr(), *i64 = context.I64();
  llvm::Function* f = context.NewFunction(llvm::FunctionType::get(context.I32(), {ptr, ptr, i64, ptr}, false), "read_json");
  Value *ctx = f->getArg(0), *frame = f->getArg(3);
  Writer w(context, f);
  llvm::IRBuilder<>& b = w.b();
  llvm::AllocaInst* json = b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), (sizeof(wf_json) + 7) / 8), nullptr, "json");
  llvm::AllocaInst* name = b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), 2), nullptr, "name");
  SeenBits seen(b, workflow.in.size());
  w.Try("wf_json_open", {json, ctx, f->getArg(1), f->getArg(2)});
  w.Try("wf_json_object", {json});
  llvm::BasicBlock *head = w.NewBlock("members"), *some = w.NewBlock("some"), *unknown = w.NewBlock("unknown"), *end = w.NewBlock("end");
  b.CreateBr(head);
  b.SetInsertPoint(head);
  Value* more = w.Call("wf_json_member", {json, name});
  w.LeaveWhen(more, llvm::CmpInst::ICMP_SLT);
  b.CreateCondBr(b.CreateICmpEQ(more, b.getInt32(0)), end, some);
  b.SetInsertPoint(some);
  Value *text = b.CreateLoad(ptr, name), *length = b.CreateLoad(i64, Offset(b, name, 8));
  llvm::SwitchInst* which = b.CreateSwitch(b.CreateCall(find_in, {text, length}), unknown);
  b.SetInsertPoint(unknown);
  Value* ports = in_ports != nullptr ? static_cast<Value*>(in_ports) : llvm::ConstantPointerNull::get(context.Ptr());
  w.Try("wf_json_unknown", {json, text, length, ports, b.getInt32(static_cast<uint32_t>(workflow.in.size()))});
  b.CreateBr(head);
  for (size_t i = 0; i < workflow.in.size(); ++i) {
    llvm::BasicBlock *member = w.NewBlock("member"), *again = w.NewBlock("again"), *read = w.NewBlock("read");
    which->addCase(b.getInt32(static_cast<uint32_t>(i)), member);
    b.SetInsertPoint(member);
    b.CreateCondBr(seen.TestAndSet(i), again, read);
    b.SetInsertPoint(again);
    b.CreateRet(w.Call("wf_json_duplicate", {json, text, length}));
    b.SetInsertPoint(read);
    ReadMember(context, w, workflow.in[i], json, Offset(b, frame, frames.slots[static_cast<size_t>(workflow.in[i].slot)].offset));
    b.CreateBr(head);
  }
  b.SetInsertPoint(end);
  w.Try("wf_json_close", {json});
  for (size_t i = 0; i < workflow.in.size(); ++i) {
    llvm::BasicBlock *missing = w.NewBlock("missing"), *next = w.NewBlock("next");
    b.CreateCondBr(seen.TestAndSet(i), next, missing);
    b.SetInsertPoint(missing);
    FillMissing(context, w, workflow.in[i], json, Offset(b, frame, frames.slots[static_cast<size_t>(workflow.in[i].slot)].offset));
    if (b.GetInsertBlock()->getTerminator() == nullptr) b.CreateBr(next);
    b.SetInsertPoint(next);
  }
  b.CreateRet(b.getInt32(0));
  return f;
}

void WriteMember(Context& context, Writer& w, const ir::Port& port, Value* ctx, Value* sink, Value* address) {
  const ir::Type& type = context.type(port.type);
  llvm::IRBuilder<>& b = w.b();
  switch (type.kind) {
    case TypeKind::kScalar:
      w.Try("wf_json_put_scalar", {ctx, sink, b.getInt32(static_cast<uint32_t>(type.dtype)), address});
      return;
    case TypeKind::kString:
      w.Try("wf_json_put_string", {ctx, sink, address});
      return;
    case TypeKind::kBytes:
      w.Try("wf_json_put_bytes", {ctx, sink, address});
      return;
    case TypeKind::kTensor:
      w.Try("wf_json_put_tensor", {ctx, sink, address});
      return;
    case TypeKind::kRecord:
    case TypeKind::kList:
    case TypeKind::kMap:
    case TypeKind::kOptional:
      w.Try("wf_json_put_value", {ctx, sink, context.type_table(), b.getInt32(static_cast<uint32_t>(port.type)), address});
      return;
  }
}

llvm::Function* EmitWriteJson(Context& context, const FrameLayout& frames, const ir::Workflow& workflow) {
  llvm::Type* ptr = context.Ptr();
  llvm::Function* f = context.NewFunction(llvm::FunctionType::get(context.I32(), {ptr, ptr, ptr}, false), "write_json");
  Value *ctx = f->getArg(0), *frame = f->getArg(1), *sink = f->getArg(2);
  Writer w(context, f);
  const auto put = [&](const std::string& text) { w.Try("wf_put", {sink, context.Text(text), w.b().getInt64(text.size())}); };
  std::string before = "{";
  for (const ir::Port& port : workflow.out) {
    put(before + JsonText(port.name) + ":");
    WriteMember(context, w, port, ctx, sink, Offset(w.b(), frame, frames.slots[static_cast<size_t>(port.slot)].offset));
    before = ",";
  }
  put(workflow.out.empty() ? "{}" : "}");
  w.b().CreateRet(w.b().getInt32(0));
  return f;
}

}  // namespace

WorkflowFunctions EmitCodec(Context& context, const FrameLayout& frames, const ir::Workflow& workflow, llvm::GlobalVariable* in_ports) {
  std::vector<std::string> names;
  for (const ir::Port& port : workflow.in) names.push_back(port.name);
  WorkflowFunctions functions;
  functions.find_in = EmitFindName(context, names);
  functions.read_json = EmitReadJson(context, frames, workflow, functions.find_in, in_ports);
  functions.write_json = EmitWriteJson(context, frames, workflow);
  return functions;
}

}  // namespace wf::lower
