#pragma once

#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"

namespace wf::ir {

// Appends operations to one body, folding what is constant, so that static extents stay static. Scalar constants and slots go to the entry
// block, each once.
// Thread: loop-confined.   Borrows: program, body.   Cost: O(1) an operation.
class Builder {
 public:
  Builder(Program& program, Body& body);  // opens the entry block; the body must be empty
  Program& program() { return program_; }
  TypeTable& types() { return program_.types; }
  Body& body() { return body_; }
  const Body& body() const { return body_; }
  void set_place(const Place& place) { place_ = place; }
  const Place& place() const { return place_; }

  // Any operation, as it is.
  ValueId Emit(OpKind kind, TypeId type, std::vector<ValueId> args = {}, uint64_t imm = 0, std::vector<BlockId> blocks = {});

  // ---- blocks ----
  BlockId Open(const std::vector<TypeId>& params);  // what follows goes into it
  ValueId Param(size_t index) const { return body_[open_.back()].params[index]; }
  BlockId Close(ValueId result);                          // what follows goes into the enclosing block
  void Reopen(BlockId block) { open_.push_back(block); }  // one that was closed in the current block, to add to its end
  BlockId current() const { return open_.back(); }
  size_t depth() const { return open_.size() - 1; }                                   // 0 in the entry block
  size_t DepthOf(ValueId value) const { return depth_[static_cast<size_t>(value)]; }  // of the block that defines it
  bool IsVisible(ValueId value) const;
  // What follows goes to the end of the open block at `depth`, until Return. Values it reads must be visible there.
  std::vector<BlockId> Leave(size_t depth);
  void Return(std::vector<BlockId> left);

  // ---- leaves ----
  ValueId Scalar(DType dtype, uint64_t bits);
  ValueId I64(int64_t value) { return Scalar(DType::kI64, static_cast<uint64_t>(value)); }
  ValueId Bool(bool value) { return Scalar(DType::kBool, value); }
  ValueId F32(float value);
  ValueId F64(double value);
  ValueId Text(const std::string& text);  // constant string
  ValueId Constant(size_t index);         // of Program::constants
  ValueId Slot(SlotId slot);
  bool Reads(SlotId slot) const;  // there is a value of it already

  // ---- scalars; the result's dtype follows from the arguments ----
  ValueId Unary(OpKind kind, ValueId a);
  ValueId Binary(OpKind kind, ValueId a, ValueId b);
  ValueId Add(ValueId a, ValueId b) { return Binary(OpKind::kAdd, a, b); }
  ValueId Sub(ValueId a, ValueId b) { return Binary(OpKind::kSub, a, b); }
  ValueId Mul(ValueId a, ValueId b) { return Binary(OpKind::kMul, a, b); }
  ValueId Fma(ValueId a, ValueId b, ValueId c);
  ValueId Select(ValueId condition, ValueId then, ValueId otherwise);
  ValueId Convert(ValueId a, DType to);
  ValueId Bitcast(ValueId a, DType to);
  ValueId Not(ValueId a) { return Unary(OpKind::kNot, a); }

  // ---- tensors, records, lists ----
  ValueId Dim(ValueId tensor, size_t axis);  // of a build: its extent; of a static one: a constant
  ValueId Build(DType dtype, std::vector<ValueId> extents, BlockId block);
  ValueId Load(ValueId tensor, std::vector<ValueId> indices);
  ValueId Reshape(ValueId tensor, std::vector<ValueId> extents);
  ValueId Reduce(ReduceKind kind, DType dtype, ValueId extent, BlockId block);
  ValueId CheckIndex(ValueId index, ValueId extent);  // nothing to do where both are constant and fine
  ValueId Record(TypeId type, std::vector<ValueId> fields);
  ValueId Field(ValueId record, size_t field);
  ValueId If(ValueId condition, TypeId type, BlockId then, BlockId otherwise);
  void FailIf(ValueId condition, int32_t code, BlockId message);
  void StickyIf(ValueId condition, int32_t code);

  // Numbers that are 0, what is empty, none; an extent that is not known is 0.
  ValueId Zero(TypeId type);

  // ---- what is known ----
  TypeId TypeOf(ValueId value) const { return body_[value].type; }
  const Type& Known(ValueId value) const { return program_.types[body_[value].type]; }
  DType DTypeOf(ValueId value) const { return Known(value).dtype; }
  bool IsConstant(ValueId value) const { return body_[value].kind == OpKind::kScalar; }
  bool IsConstant(ValueId value, uint64_t bits) const { return IsConstant(value) && body_[value].imm == bits; }
  TypeId ScalarType(DType dtype) { return program_.types.Scalar(dtype); }

 private:
  ValueId Append(Op op, BlockId block, size_t depth);
  ValueId Leaf(OpKind kind, TypeId type, uint64_t imm, const Place& place);
  ValueId FoldedInteger(OpKind kind, ValueId a, ValueId b);
  TypeId TensorType(DType dtype, std::span<const ValueId> extents);

  Program& program_;
  Body& body_;
  Place place_;
  std::vector<BlockId> open_;
  std::vector<uint32_t> depth_;                                     // per value
  std::vector<BlockId> blocks_;                                     // per value: which defines it
  std::map<std::tuple<OpKind, TypeId, uint64_t>, ValueId> leaves_;  // scalars, constants and slots of the entry block
};

// The index of an equal constant, added when there is none.
size_t AddConstant(Program& program, TypeId type, const Value& value);
size_t AddText(Program& program, const std::string& text);
size_t AddNative(Program& program, const std::string& symbol);
// What a call of a native is told beside its arguments (NATIVE_TYPED of runtime_symbols.def): its result's type, or its argument's. kNone:
// nothing.
TypeId TypeTold(const Program& program, const Body& body, const Op& call);

}  // namespace wf::ir
