#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/scalar.h"

namespace wf::ir {

// One run of one body. Internal to the interpreter.
// Owns: the values of its operations.   Borrows: owner, body, slots (outlive this).   Errors: Outcome::failure.   Bounds: limits of the
// owner, for all of its runs together.
class BodyRun {
 public:
  BodyRun(Interpreter& owner, const Body& body, std::span<const Value> slots, uint64_t element)
      : owner_(owner), program_(owner.program_), body_(body), slots_(slots), element_(element), values_(body.ops.size()) {}
  Outcome Run();

 private:
  // Each returns false when the run has failed.
  bool Step(uint32_t line, uint64_t count = 1);  // false: the budget of steps is spent
  bool RunBlock(BlockId block);
  bool Execute(ValueId id);
  bool Spend(uint64_t bytes);
  bool Fail(int32_t code, std::string message, uint32_t line);
  bool CheckSticky();
  bool Holds(bool holds, uint32_t line);

  bool RunLeaf(ValueId id, const Op& op);
  bool RunIf(ValueId id, const Op& op);
  bool RunScalar(ValueId id, const Op& op);
  bool RunTensor(ValueId id, const Op& op);
  bool RunBuild(ValueId id, const Op& op);
  bool RunLoad(ValueId id, const Op& op);
  bool RunReduce(ValueId id, const Op& op);
  bool RunFold(ValueId id, const Op& op);
  bool RunRecord(ValueId id, const Op& op);
  bool RunList(ValueId id, const Op& op);
  bool RunListBuild(ValueId id, const Op& op);
  bool RunListFilter(ValueId id, const Op& op);
  bool RunListOfTensor(ValueId id, const Op& op);
  bool RunTensorOfList(ValueId id, const Op& op);
  bool RunMap(ValueId id, const Op& op);
  bool RunText(ValueId id, const Op& op);
  bool RunFormat(ValueId id, const Op& op);
  bool RunEffect(ValueId id, const Op& op);
  bool RunMeta(ValueId id, const Op& op);
  bool RunNative(ValueId id, const Op& op);
  static bool Unknown(const Op& op);  // one that its group does not hold

  Value& At(ValueId id) { return values_[static_cast<size_t>(id)]; }
  Value& Arg(const Op& op, size_t i) { return At(op.args[i]); }
  int64_t Integer(ValueId id) { return static_cast<int64_t>(At(id).bits); }
  const Type& TypeOf(ValueId id) const { return program_.types[body_[id].type]; }
  void SetParam(BlockId block, size_t i, uint64_t bits) { At(body_[block].params[i]).bits = bits; }
  void Set(ValueId id, uint64_t bits) { At(id).bits = bits; }
  bool SetItems(ValueId id, std::vector<Value> items);
  bool SetText(ValueId id, std::string text);
  bool SetTensor(ValueId id, std::vector<int64_t> dims, std::string elements);

  Interpreter& owner_;
  const Program& program_;
  const Body& body_;
  std::span<const Value> slots_;
  uint64_t element_;
  std::vector<Value> values_;
  uint32_t sticky_ = 0;  // bit code - kFirstSticky
  size_t tensor_depth_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace wf::ir
