// JSON for one signature: members are found by a perfect hash and read straight into their slots; the reply's names are literals.

#include "compiler/lower/codec.h"

#include <span>

#include "compiler/lower/find_name.h"
#include "compiler/lower/layout.h"
#include "runtime/abi/plan.h"
#include "runtime/base/check.h"
#include "runtime/base/json_text.h"

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
  void Try(llvm::Function* function, llvm::ArrayRef<Value*> args) { LeaveWhen(b_.CreateCall(function, args), llvm::CmpInst::ICMP_NE); }
  void Put(Value* sink, const std::string& text) { Try("wf_put", {sink, context_.Text(text), b_.getInt64(text.size())}); }
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
      w.Try("wf_json_tensor", {json, context.TypeRow(context.RowOf(port)), address});
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

// Codecs of many ports are written in pieces, functions of their own: the time that LLVM takes for one grows faster than its blocks.
constexpr size_t kPiecePorts = 64;  // as many as bits in a word: of those that say whether a port has been read, one for each piece

size_t PiecesOf(const std::vector<ir::Port>& ports) { return (ports.size() + kPiecePorts - 1) / kPiecePorts; }

std::span<const ir::Port> PieceOf(const std::vector<ir::Port>& ports, size_t piece) {
  const std::span<const ir::Port> all(ports);
  return all.subspan(piece * kPiecePorts, std::min(kPiecePorts, ports.size() - piece * kPiecePorts));
}

llvm::Function* NewPiece(Context& context, const std::vector<ir::Port>& ports, llvm::ArrayRef<llvm::Type*> params, const char* name) {
  llvm::Function* f = context.NewFunction(llvm::FunctionType::get(context.I32(), params, false), name);
  if (PiecesOf(ports) > 1) f->addFnAttr(llvm::Attribute::NoInline);
  return f;
}

Value* AddressOf(llvm::IRBuilder<>& b, Value* frame, const FrameLayout& frames, const ir::Port& port) {
  return Offset(b, frame, frames.slots[static_cast<size_t>(port.slot)].offset);
}

// Was the bit set before? Sets it.
Value* TestAndSet(llvm::IRBuilder<>& b, Value* word, size_t bit) {
  Value* old = b.CreateLoad(b.getInt64Ty(), word);
  b.CreateStore(b.CreateOr(old, uint64_t{1} << bit), word);
  return b.CreateICmpNE(b.CreateAnd(old, uint64_t{1} << bit), b.getInt64(0));
}

// Reads the member that is port `number` of the workflow. (json, frame, seen, name, its length, number)
llvm::Function* EmitReadPiece(Context& context, const FrameLayout& frames, const ir::Workflow& workflow, size_t piece) {
  llvm::Type *ptr = context.Ptr(), *i64 = context.I64();
  llvm::Function* f = NewPiece(context, workflow.in, {ptr, ptr, ptr, ptr, i64, context.I32()}, "read_member");
  Value *json = f->getArg(0), *frame = f->getArg(1), *seen = f->getArg(2);
  Writer w(context, f);
  llvm::IRBuilder<>& b = w.b();
  llvm::BasicBlock* none = w.NewBlock("none");
  llvm::SwitchInst* which = b.CreateSwitch(f->getArg(5), none);
  b.SetInsertPoint(none);
  b.CreateUnreachable();
  const std::span<const ir::Port> ports = PieceOf(workflow.in, piece);
  for (size_t i = 0; i < ports.size(); ++i) {
    llvm::BasicBlock *member = w.NewBlock("member"), *again = w.NewBlock("again"), *read = w.NewBlock("read");
    which->addCase(b.getInt32(static_cast<uint32_t>(piece * kPiecePorts + i)), member);
    b.SetInsertPoint(member);
    b.CreateCondBr(TestAndSet(b, seen, i), again, read);
    b.SetInsertPoint(again);
    b.CreateRet(w.Call("wf_json_duplicate", {json, f->getArg(3), f->getArg(4)}));
    b.SetInsertPoint(read);
    ReadMember(context, w, ports[i], json, AddressOf(b, frame, frames, ports[i]));
    b.CreateRet(b.getInt32(0));
  }
  return f;
}

// Fills what has not been read. (json, frame, seen)
llvm::Function* EmitFillPiece(Context& context, const FrameLayout& frames, const ir::Workflow& workflow, size_t piece) {
  llvm::Type* ptr = context.Ptr();
  llvm::Function* f = NewPiece(context, workflow.in, {ptr, ptr, ptr}, "fill_missing");
  Writer w(context, f);
  llvm::IRBuilder<>& b = w.b();
  const std::span<const ir::Port> ports = PieceOf(workflow.in, piece);
  for (size_t i = 0; i < ports.size(); ++i) {
    llvm::BasicBlock *missing = w.NewBlock("missing"), *next = w.NewBlock("next");
    b.CreateCondBr(TestAndSet(b, f->getArg(2), i), next, missing);
    b.SetInsertPoint(missing);
    FillMissing(context, w, ports[i], f->getArg(0), AddressOf(b, f->getArg(1), frames, ports[i]));
    if (b.GetInsertBlock()->getTerminator() == nullptr) b.CreateBr(next);
    b.SetInsertPoint(next);
  }
  b.CreateRet(b.getInt32(0));
  return f;
}

llvm::Function* EmitReadJson(Context& context, const FrameLayout& frames, const ir::Workflow& workflow, llvm::Function* find_in,
                             llvm::GlobalVariable* in_ports) {
  llvm::Type *ptr = context.Ptr(), *i64 = context.I64();
  const size_t pieces = PiecesOf(workflow.in);
  llvm::Function* f = context.NewFunction(llvm::FunctionType::get(context.I32(), {ptr, ptr, i64, ptr}, false), "read_json");
  Value *ctx = f->getArg(0), *frame = f->getArg(3);
  Writer w(context, f);
  llvm::IRBuilder<>& b = w.b();
  llvm::AllocaInst* json = b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), (sizeof(wf_json) + 7) / 8), nullptr, "json");
  llvm::AllocaInst* name = b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), 2), nullptr, "name");
  llvm::AllocaInst* seen = b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), pieces), nullptr, "seen");
  b.CreateMemSet(seen, b.getInt8(0), pieces * 8, llvm::MaybeAlign(8));
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
  Value* number = b.CreateCall(find_in, {text, length});  // -1: none, in no piece
  llvm::SwitchInst* which = b.CreateSwitch(b.CreateUDiv(number, b.getInt32(kPiecePorts)), unknown);
  b.SetInsertPoint(unknown);
  Value* ports = in_ports != nullptr ? static_cast<Value*>(in_ports) : llvm::ConstantPointerNull::get(context.Ptr());
  w.Try("wf_json_unknown", {json, text, length, ports, b.getInt32(static_cast<uint32_t>(workflow.in.size()))});
  b.CreateBr(head);
  for (size_t piece = 0; piece < pieces; ++piece) {
    llvm::BasicBlock* member = w.NewBlock("piece");
    which->addCase(b.getInt32(static_cast<uint32_t>(piece)), member);
    b.SetInsertPoint(member);
    w.Try(EmitReadPiece(context, frames, workflow, piece), {json, frame, Offset(b, seen, piece * 8), text, length, number});
    b.CreateBr(head);
  }
  b.SetInsertPoint(end);
  w.Try("wf_json_close", {json});
  for (size_t piece = 0; piece < pieces; ++piece) {
    w.Try(EmitFillPiece(context, frames, workflow, piece), {json, frame, Offset(b, seen, piece * 8)});
  }
  b.CreateRet(b.getInt32(0));
  return f;
}

// Into `f`, whose arguments are (ctx, frame, sink).
void WriteMember(Context& context, Writer& w, const ir::Port& port, llvm::Function* f, Value* address) {
  Value *ctx = f->getArg(0), *sink = f->getArg(2);
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

// (ctx, frame, sink)
llvm::Function* EmitWritePiece(Context& context, const FrameLayout& frames, const ir::Workflow& workflow, size_t piece) {
  llvm::Type* ptr = context.Ptr();
  llvm::Function* f = NewPiece(context, workflow.out, {ptr, ptr, ptr}, "write_members");
  Value *frame = f->getArg(1), *sink = f->getArg(2);
  Writer w(context, f);
  std::string before = piece == 0 ? "{" : ",";
  for (const ir::Port& port : PieceOf(workflow.out, piece)) {
    w.Put(sink, before + base::QuoteJson(port.name) + ":");
    WriteMember(context, w, port, f, AddressOf(w.b(), frame, frames, port));
    before = ",";
  }
  w.b().CreateRet(w.b().getInt32(0));
  return f;
}

llvm::Function* EmitWriteJson(Context& context, const FrameLayout& frames, const ir::Workflow& workflow) {
  llvm::Type* ptr = context.Ptr();
  llvm::Function* f = context.NewFunction(llvm::FunctionType::get(context.I32(), {ptr, ptr, ptr}, false), "write_json");
  Writer w(context, f);
  for (size_t piece = 0; piece < PiecesOf(workflow.out); ++piece) {
    w.Try(EmitWritePiece(context, frames, workflow, piece), {f->getArg(0), f->getArg(1), f->getArg(2)});
  }
  w.Put(f->getArg(2), workflow.out.empty() ? "{}" : "}");
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
