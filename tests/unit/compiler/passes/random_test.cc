// Random tensor programs mean the same before and after every pass: equal bits, equal failures.

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "compiler/ir/builder.h"
#include "compiler/ir/interpret.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/passes.h"

namespace wf::passes {
namespace {

using ir::BlockId;
using ir::Builder;
using ir::DType;
using ir::OpKind;
using ir::ValueId;

constexpr int kPrograms = 400;

// Writes a body over x: f32[_, _], y: f32[6] and s: i64 out of builds, reductions, slices, ifs and checks.
class Generator {
 public:
  Generator(ir::Program& program, ir::Body& body, uint64_t seed) : b_(program, body), random_(seed) {}

  void Write() {
    tensors_ = {b_.Slot(ir::SlotId{0}), b_.Slot(ir::SlotId{1})};
    integers_ = {b_.Slot(ir::SlotId{2}), b_.I64(0), b_.I64(2)};
    floats_ = {b_.F32(0.5f), b_.F32(-3)};
    for (int i = 0, n = Pick(3, 9); i < n; ++i) {
      if (Pick(0, 3) == 0) {
        floats_.push_back(Reduction());
      } else {
        tensors_.push_back(Tensor());
      }
    }
    const BlockId block = b_.Open({b_.ScalarType(DType::kI64)});
    integers_.push_back(b_.Param(0));
    ValueId sum = Float(2);
    for (const ValueId value : Visible(floats_)) sum = b_.Add(sum, value);
    b_.Close(sum);
    b_.Close(b_.Build(DType::kF32, {b_.Dim(Visible(tensors_).back(), 0)}, block));
  }

 private:
  int Pick(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
  std::vector<ValueId> Visible(const std::vector<ValueId>& values) {
    std::vector<ValueId> visible;
    for (const ValueId value : values) {
      if (b_.IsVisible(value)) visible.push_back(value);
    }
    return visible;
  }
  ValueId Any(const std::vector<ValueId>& values) {
    const std::vector<ValueId> visible = Visible(values);
    return visible[static_cast<size_t>(Pick(0, static_cast<int>(visible.size()) - 1))];
  }

  ValueId Index() {
    ValueId index = Any(integers_);
    if (Pick(0, 2) == 0) index = b_.Add(index, b_.I64(Pick(-1, 2)));
    if (Pick(0, 4) == 0) index = b_.Binary(OpKind::kMax, b_.Binary(OpKind::kMin, index, b_.I64(3)), b_.I64(0));
    if (Pick(0, 6) == 0) index = b_.Binary(OpKind::kRem, index, b_.I64(4));
    return index;
  }

  ValueId Element() {
    const ValueId tensor = Any(tensors_);
    std::vector<ValueId> indices;
    for (size_t axis = 0; axis < b_.Known(tensor).dims.size(); ++axis) indices.push_back(b_.CheckIndex(Index(), b_.Dim(tensor, axis)));
    return b_.Load(tensor, std::move(indices));
  }

  ValueId Float(int depth) {
    static constexpr OpKind kBinaries[] = {OpKind::kAdd, OpKind::kSub, OpKind::kMul, OpKind::kMin, OpKind::kMax, OpKind::kDiv};
    static constexpr OpKind kUnaries[] = {OpKind::kNeg, OpKind::kAbs, OpKind::kFloor, OpKind::kExp, OpKind::kTanh};
    const int kind = depth == 0 ? Pick(0, 2) : Pick(0, 9);
    if (kind == 0) return Any(floats_);
    if (kind == 1) return b_.Convert(Any(integers_), DType::kF32);
    if (kind == 2) return Element();
    if (kind == 3) return b_.Unary(kUnaries[Pick(0, 4)], Float(depth - 1));
    if (kind == 4 && b_.depth() < 3) {
      floats_.push_back(Reduction());
      return floats_.back();
    }
    if (kind == 5) return Choice(depth - 1);
    if (kind == 6 && b_.depth() < 3) {  // a tensor of the turn
      tensors_.push_back(Tensor());
      return b_.Add(Element(), Element());
    }
    return b_.Binary(kBinaries[Pick(0, 5)], Float(depth - 1), Float(depth - 1));
  }

  ValueId Choice(int depth) {
    const ValueId condition = b_.Binary(OpKind::kLt, Any(integers_), b_.I64(Pick(-1, 4)));
    const BlockId then = b_.Open({});
    b_.Close(Float(depth));
    const BlockId otherwise = b_.Open({});
    b_.Close(Float(depth));
    return b_.If(condition, b_.ScalarType(DType::kF32), then, otherwise);
  }

  ValueId Extent() {
    const ValueId tensor = Any(tensors_);
    return Pick(0, 2) == 0 ? b_.I64(Pick(0, 5))
                           : b_.Dim(tensor, static_cast<size_t>(Pick(0, static_cast<int>(b_.Known(tensor).dims.size()) - 1)));
  }

  ValueId Reduction() {
    const ValueId extent = Extent();
    const BlockId block = b_.Open({b_.ScalarType(DType::kI64)});
    integers_.push_back(b_.Param(0));
    b_.Close(Float(2));
    return b_.Reduce(static_cast<ir::ReduceKind>(Pick(0, 3)), DType::kF32, extent, block);
  }

  ValueId Tensor() {
    std::vector<ValueId> extents;
    if (Pick(0, 1) == 0) {  // the shape of another, read element by element: what fusion is for
      const ValueId other = Any(tensors_);
      for (size_t axis = 0; axis < b_.Known(other).dims.size(); ++axis) extents.push_back(b_.Dim(other, axis));
      const BlockId block = b_.Open(std::vector<ir::TypeId>(extents.size(), b_.ScalarType(DType::kI64)));
      std::vector<ValueId> indices;
      for (size_t axis = 0; axis < extents.size(); ++axis) indices.push_back(b_.Param(axis));
      integers_.insert(integers_.end(), indices.begin(), indices.end());
      b_.Close(b_.Binary(OpKind::kMul, b_.Load(other, indices), Float(1)));
      return b_.Build(DType::kF32, std::move(extents), block);
    }
    for (int i = 0, rank = Pick(1, 3); i < rank; ++i) extents.push_back(Extent());
    const BlockId block = b_.Open(std::vector<ir::TypeId>(extents.size(), b_.ScalarType(DType::kI64)));
    for (size_t axis = 0; axis < extents.size(); ++axis) integers_.push_back(b_.Param(axis));
    b_.Close(Float(2));
    return b_.Build(DType::kF32, std::move(extents), block);
  }

  Builder b_;
  std::mt19937_64 random_;
  std::vector<ValueId> tensors_, integers_, floats_;
};

ir::Value Floats(std::vector<int64_t> dims, float first) {
  size_t count = 1;
  for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = first + 0.37f * static_cast<float>(i % 7);
  return ir::Value::Tensor(std::move(dims), std::string(reinterpret_cast<const char*>(values.data()), count * sizeof(float)));
}

std::string RunOnce(const ir::Program& program, const std::vector<ir::Value>& slots) {
  ir::Interpreter interpreter(program, {}, {.max_steps = 300'000});
  const ir::Outcome outcome = interpreter.RunBody(program.tasks[0].body, slots);
  if (outcome.failure) return "!" + std::to_string(outcome.failure->code);
  const ir::Body& body = program.tasks[0].body;
  return ir::ToString(program.types, body[body.blocks[0].result].type, *outcome.value);
}

TEST(Passes, KeepTheMeaningOfRandomPrograms) {
  const std::vector<std::vector<ir::Value>> inputs = {{Floats({3, 4}, 1), Floats({6}, -1), ir::Value::Scalar(1)},
                                                      {Floats({1, 1}, 0.25f), Floats({6}, 2), ir::Value::Scalar(0)},
                                                      {Floats({0, 2}, 0), Floats({6}, 2), ir::Value::Scalar(3)}};
  int failures = 0, values = 0;
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    ir::Program program;
    program.regions.push_back({.tasks = {ir::TaskId{0}}, .slots = {ir::SlotId{0}, ir::SlotId{1}, ir::SlotId{2}}});
    program.slots = {{.name = "x", .type = program.types.Tensor(DType::kF32, {-1, -1}), .region = ir::RegionId{0}},
                     {.name = "y", .type = program.types.Tensor(DType::kF32, {6}), .region = ir::RegionId{0}},
                     {.name = "s", .type = program.types.Scalar(DType::kI64), .region = ir::RegionId{0}}};
    program.tasks.push_back({.kind = ir::TaskKind::kRun, .region = ir::RegionId{0}, .in = {ir::SlotId{0}, ir::SlotId{1}, ir::SlotId{2}}});
    ir::Body body;
    Generator(program, body, seed).Write();
    program.tasks[0].body = std::move(body);
    ASSERT_EQ(ir::Verify(program), std::nullopt);
    std::vector<std::string> wanted;
    for (const auto& slots : inputs) wanted.push_back(RunOnce(program, slots));
    const std::string before = ir::PrintBody(program, program.tasks[0].body);
    std::string previous = before;
    passes::Run(program, [&](std::string_view flag, const ir::Program& after) {
      const std::string text = ir::PrintBody(after, after.tasks[0].body);
      if (text == previous) return;
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (wanted[i] == "!-2") continue;  // out of steps: passes may only make that later
        ASSERT_EQ(RunOnce(after, inputs[i]), wanted[i]) << "seed " << seed << " after " << flag << "\n" << previous << "\n" << text;
      }
      previous = text;
    });
    if (HasFatalFailure()) return;
    for (const std::string& text : wanted) ++(text[0] == '!' ? failures : values);
  }
  EXPECT_GT(values, kPrograms / 4);  // the generator makes both kinds
  EXPECT_GT(failures, kPrograms / 4);
}

}  // namespace
}  // namespace wf::passes
