#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/ir/bounds.h"
#include "compiler/ir/builder.h"
#include "compiler/sema/build_context.h"
#include "compiler/sema/build_frame.h"
#include "compiler/sema/build_outer.h"

// Expressions to operations. Internal to BuildIr.
namespace wf::sema {

// Writes one body.
// Thread: loop-confined.   Borrows: all constructor references.   Bounds: ops_left of the context; past it, values are zeros.
class BodyWriter {
 public:
  static constexpr size_t kMaxNesting = 400;  // of expressions, with functions and `let`s of a workflow that are written into them

  BodyWriter(BuildContext& context, ir::Body& body, Outer* outer) : c_(context), b_(context.out, body), outer_(outer) { frame_ = &root_; }
  ir::Builder& builder() { return b_; }

  ir::ValueId Write(const Expr& expr);                                                          // kNone: of type never
  std::optional<std::vector<ir::ValueId>> WriteAsTheyStand(const std::vector<ExprPtr>& exprs);  // in the text; null: one is of type never
  void PassOver(const Expr& expr);                                                              // not computed
  void Name(const Expr& expr);                                                                  // nor needed, but what it names is awaited
  void WriteFailure(int32_t code, const Expr* message, ir::ValueId condition, const Span& span);  // fails when `condition`
  ir::ValueId WriteIf(const Expr& expr, size_t first);                                            // kIf from the condition args[first] on
  ir::ValueId WriteChoice(const std::vector<const Expr*>& conditions);  // i64: the first that holds, or how many there are
  void WriteChecks(const std::vector<DimCheck>& checks, int32_t code);
  void WriteChecksOfArgs(const Expr& call);  // those that need nothing of its value
  void BindFresh(const std::vector<FreshSymbol>& fresh, ir::ValueId value, TypeRef type);
  // Reads `mul * symbol + add` out of an extent.
  std::optional<ir::ValueId> SolveAt(ir::ValueId value, TypeRef type, const FreshSymbol& fresh);
  // ReadOuter: of the workflow; its value is in the entry block, so that every later reader of this body sees it.
  ir::ValueId ReadLocal(LocalId local), ReadOuter(LocalId local);
  template <typename F>
  auto AtRoot(const F& f);  // in the entry block and outside all functions
  // Of what a loop runs over: how many elements, equal for all; and one of them.
  ir::ValueId CountOf(const std::vector<ir::ValueId>& sources), ElementOf(ir::ValueId source, ir::ValueId index);
  void Bind(LocalId local, ir::ValueId value) { frame_->locals[local] = value; }
  void LeaveFrame() {
    std::erase_if(elements_.sizes, [this](const ElementLoops::Size& size) { return size.frame == frame_; });
    frame_ = frame_->caller;
  }
  void LeaveElements() {
    if (--elements_.depth == 0) elements_ = {};
  }
  void BindIndex(LocalId local, ir::ValueId param, ir::ValueId extent);
  // What a stub yields for a call of the model that it replaces; fails with 7004 where shapes are not those of the call.
  ir::ValueId WriteStub(const Function& stub, const Expr& call);
  ir::TypeId TypeOf(TypeRef type);  // dimensions that are constant here are static

 private:
  struct Sources {
    ir::ValueId count;
    std::vector<ir::ValueId> values;
  };
  using Indices = std::vector<ir::ValueId>;

  ir::ValueId WriteOne(const Expr& expr), WriteCut(const Expr& expr, ir::SlotId slot);
  ir::ValueId WriteOperator(const Expr& expr, ir::ValueId first);
  ir::ValueId WriteKind(const Expr& expr), WriteOfArgs(const Expr& expr);
  ir::ValueId WriteMeta(const Expr& expr, const std::vector<ir::ValueId>& args);
  ir::Place Enter(const Span& span);
  bool IsTooLarge(const Expr& expr);
  void StopBeyond(const char* limit);
  ir::ValueId WriteChecked(const Expr& expr);
  std::optional<std::vector<ir::ValueId>> WriteArgs(const Expr& call);  // and what they are checked for; null: one is of type never
  void WriteNever(const Expr& expr);
  ir::ValueId WriteMessage(int32_t code, const Expr* message);

  // ---- build_choice.cc ----
  ir::ValueId WriteIfFrom(const Expr& expr, size_t first);
  ir::ValueId WriteLinks(std::span<const Expr* const> conditions, size_t first, ir::ValueId none);
  ir::ValueId WriteArms(std::span<const Expr* const> arms, size_t first, ir::ValueId chosen);
  ir::ValueId WriteEither(ir::ValueId condition, const std::function<ir::ValueId()>& write_then,
                          const std::function<ir::ValueId()>& write_otherwise);

  // ---- build_scalar.cc ----
  ir::ValueId WriteUnary(const Expr& expr, ir::ValueId a), WriteBinary(const Expr& expr, ir::ValueId a, ir::ValueId b);
  ir::ValueId Arithmetic(BinaryOp op, ir::ValueId a, ir::ValueId b);
  ir::ValueId Equal(ir::ValueId a, ir::ValueId b), EqualLists(ir::ValueId a, ir::ValueId b), EqualOptionals(ir::ValueId a, ir::ValueId b);
  ir::ValueId WriteLazy(const Expr& expr, ir::ValueId first), WriteCoalesce(const Expr& expr);
  ir::ValueId WriteBlock(const Expr& expr);
  ir::ValueId WriteCall(const Expr& expr, std::vector<ir::ValueId> args),
      WriteBuiltin(const Expr& expr, const std::vector<ir::ValueId>& args);
  ir::ValueId WriteMathBuiltin(uint32_t builtin, const std::vector<ir::ValueId>& args, DType dtype);
  ir::ValueId WriteClose(const Expr& expr, const std::vector<ir::ValueId>& args);
  ir::ValueId WriteText(const Expr& expr), WriteConst(const Expr& expr);

  // ---- build_tensor.cc ----
  // Elementwise over operands that broadcast by their types; `f` gets one scalar per operand.
  template <typename F>
  ir::ValueId Map(const std::vector<ir::ValueId>& operands, const std::vector<TypeRef>& types, const F& f);
  std::vector<ir::ValueId> BroadcastExtents(const std::vector<ir::ValueId>& operands, const std::vector<TypeRef>& types);
  ir::ValueId LoadBroadcast(ir::ValueId operand, TypeRef type, const Indices& indices);
  bool IsTensor(ir::ValueId value) const { return b_.Known(value).kind == ir::TypeKind::kTensor; }
  bool IsReady(ir::ValueId value) const;  // it was whole before this body began
  ir::ValueId AxisExtent(ir::ValueId tensor, TypeRef type, size_t axis);
  ir::ValueId WriteIndex(const Expr& expr);
  ir::ValueId CheckedIndex(const Expr& expr, ir::ValueId extent), Slice(const Expr& expr, ir::ValueId tensor);
  ir::ValueId CheckSlice(ir::ValueId first, ir::ValueId last, ir::ValueId extent);
  ir::ValueId UnlessOut(ir::ValueId is_out, ir::ValueId size, const Dim& dim);
  ir::ValueId WriteBuild(const Expr& expr), WriteReduce(const Expr& expr);
  ir::ValueId WriteReshape(const Expr& expr, const std::vector<ir::ValueId>& args);
  ir::ValueId CountDiffers(const std::vector<ir::ValueId>& extents, ir::ValueId tensor);
  ir::ValueId ReshapeOrEmpty(ir::ValueId tensor, std::vector<ir::ValueId> extents);
  void RequireCount(const std::vector<Dim>& dims, const Indices& extents, ir::ValueId tensor);
  void RequireSmall(const Indices& extents, const std::vector<Dim>* reshaped = nullptr);  // `reshaped`: the shape that a reshape wants
  // 7004 below 0; in elements 0, sticky. told: as it was before it became an i64.
  ir::ValueId Extent(ir::ValueId value, const Dim* dim = nullptr, const std::string& text = {}, ir::ValueId told = ir::ValueId::kNone);
  bool IsNatural(ir::ValueId value) const;                                                // proved to be 0 or more
  ir::ValueId WriteI64(const Expr& expr), WriteExtent(const Expr& expr, const Dim& dim);  // an index or an extent, which is `dim`
  ir::ValueId ToI64(ir::ValueId value) { return b_.Convert(value, DType::kI64); }
  std::vector<ir::TypeId> Integers(size_t count) { return std::vector<ir::TypeId>(count, b_.ScalarType(DType::kI64)); }

  // ---- build_list.cc ----
  Sources WriteSources(const Loop& loop);
  void BindLoop(const Loop& loop, const Sources& sources, ir::ValueId index);
  ir::ValueId LengthOf(ir::ValueId source);
  ir::ValueId WriteListLoop(const Expr& expr), WriteFold(const Expr& expr);
  ir::ValueId WriteListIndex(const Expr& expr);
  void RequireOneShape(ir::ValueId list);
  ir::ValueId IsOutside(ir::ValueId index, ir::ValueId count), WithExtents(ir::ValueId stacked, const std::vector<Dim>& stated);
  void FailOutside(ir::ValueId index, ir::ValueId count, const std::string& text);  // 7001 with both values
  ir::ValueId ListLen(ir::ValueId list) { return b_.Emit(ir::OpKind::kListLen, b_.ScalarType(DType::kI64), {list}); }

  // ---- build_dims.cc ----
  std::optional<ir::ValueId> SymbolValue(const std::string& symbol, Frame* frame),
      SymbolFromParams(const std::string& symbol, Frame* frame);
  std::string Told(const std::vector<Dim>& dims, const std::vector<ir::ValueId>& extents, std::vector<ir::ValueId>& args), NameOf(Dim dim);
  std::optional<ir::ValueId> DimIn(const Dim& dim, Frame* frame), DimAtHand(const Dim& dim), AtomIn(const Dim::Atom& atom, Frame* frame);
  std::optional<ir::ValueId> SizeOfSlice(const Dim& dim, const Frame* frame) const;
  ir::ValueId FloorDiv(ir::ValueId a, ir::ValueId b), Wraps(const Dim& dim);
  bool WriteCheck(const DimCheck& check, int32_t code);
  void WriteShapeCheck(ir::ValueId value, TypeRef type, const std::string& what), RequireExact(const Dim& dim);
  void WriteChecksOf(const Expr& expr, std::vector<bool>& done, bool is_last);
  ir::ValueId OfType(ir::ValueId value, ir::TypeId stated), OfType(ir::ValueId value, TypeRef type);
  ir::ValueId Held(ir::ValueId value, ir::TypeId stated);  // in what says its extents
  ir::ValueId Checked(ir::ValueId value, const Expr& expr);

  BuildContext& c_;
  ir::Builder b_;
  Outer* outer_;
  Frame root_;
  Frame* frame_;
  ir::Counters counters_;  // of loops over elements
  ElementLoops elements_;
  size_t loop_depth_ = 0, nesting_ = 0, counted_ = 0;  // counted_: operations taken from ops_left
  bool at_hand_only_ = false;                          // symbols that the body would have to wait for have no value
};

template <typename F>
auto BodyWriter::AtRoot(const F& f) {
  Frame* const frame = std::exchange(frame_, &root_);
  ElementLoops elements = std::exchange(elements_, {});
  const size_t loop_depth = std::exchange(loop_depth_, 0);
  std::vector<ir::BlockId> left = b_.Leave(0);
  auto result = f();
  b_.Return(std::move(left));
  elements_ = std::move(elements);
  loop_depth_ = loop_depth;
  frame_ = frame;
  return result;
}

template <typename F>
ir::ValueId BodyWriter::Map(const std::vector<ir::ValueId>& operands, const std::vector<TypeRef>& types, const F& f) {
  bool has_tensor = false;
  for (const ir::ValueId operand : operands) has_tensor = has_tensor || IsTensor(operand);
  if (!has_tensor) return f(operands);
  std::vector<ir::ValueId> extents = BroadcastExtents(operands, types);
  const ir::BlockId block = b_.Open(Integers(extents.size()));
  ++elements_.depth;
  Indices indices;
  for (size_t axis = 0; axis < extents.size(); ++axis) indices.push_back(b_.Param(axis));
  std::vector<ir::ValueId> scalars;
  for (size_t i = 0; i < operands.size(); ++i)
    scalars.push_back(IsTensor(operands[i]) ? LoadBroadcast(operands[i], types[i], indices) : operands[i]);
  const ir::ValueId element = f(scalars);
  LeaveElements();
  b_.Close(element);
  return b_.Build(b_.DTypeOf(element), std::move(extents), block);
}

}  // namespace wf::sema
