#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/scalar.h"

namespace wf::ir {

// A scalar operation that is looked up: of values, by their numbers.
struct ScalarOp {
  ScalarFunction function;  // null: a conversion
  DType from, to;           // of a conversion
  uint32_t out, a, b, c;
  uint64_t Of(uint64_t x, uint64_t y, uint64_t z) const { return function != nullptr ? function(x, y, z) : ConvertScalar(from, to, x); }
};
std::optional<ScalarOp> ScalarOpFor(const TypeTable& types, const Body& body, ValueId id);  // nothing: EvaluateScalar alone knows it

// One run of one body. Internal to the interpreter.
// Owns: the values of its operations.   Borrows: owner, body, slots (outlive this).   Errors: Outcome::failure.   Bounds: limits of the
// owner, for all of its runs together.
class BodyRun {
 public:
  BodyRun(Interpreter& owner, const Body& body, std::span<const Value> slots, uint64_t element)
      : owner_(owner),
        program_(owner.program_),
        body_(body),
        slots_(slots),
        element_(element),
        values_(body.ops.size()),
        code_(body.blocks.size()) {}
  Outcome Run();

 private:
  // A block as it is run: its scalar operations as functions of places in `values_`, leaves not at all once they are set.
  struct Piece {
    uint32_t end;    // of its scalar operations in `scalars`, which begin where those of the piece before end
    uint64_t steps;  // of them, of leaves and of `last`
    ValueId last;    // what is done behind them; kNone: nothing
  };
  struct Code {
    std::vector<ScalarOp> scalars;
    std::vector<Piece> pieces;
  };

  // Each returns false when the run has failed.
  bool Step(uint32_t line, uint64_t count = 1);  // false: the budget of steps is spent
  bool RunBlock(BlockId block);
  bool Execute(ValueId id);
  const Code& CodeOf(BlockId block);
  bool Spend(uint64_t bytes);
  bool Fail(int32_t code, std::string message, uint32_t line);
  bool CheckSticky();
  bool Holds(bool holds, uint32_t line);

  void SetLeaf(ValueId id, const Op& op);
  bool RunIf(ValueId id, const Op& op);
  bool RunScalar(ValueId id, const Op& op);
  bool IsLongRemainder(ValueId id) const;
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
  void Copy(ValueId from, ValueId to);
  bool SetItems(ValueId id, std::vector<Value> items);  // which were spent when they were made
  bool SetText(ValueId id, std::string text);
  bool SetTensor(ValueId id, std::vector<int64_t> dims, std::string elements);

  Interpreter& owner_;
  const Program& program_;
  const Body& body_;
  std::span<const Value> slots_;
  uint64_t element_;
  std::vector<Value> values_;
  std::vector<std::unique_ptr<const Code>> code_;  // by block, made when it is first run
  uint32_t sticky_ = 0;                            // bit code - kFirstSticky
  size_t tensor_depth_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace wf::ir
