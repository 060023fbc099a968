#include <cmath>

#include "runtime/model/lowering.h"

namespace wf::model {

using base::Status;
using onnx::Op;

namespace {

// Of a node that gives none: its own, the same in each run.
uint32_t SeedOf(const onnx::Node& node) {
  const onnx::Attribute* given = node.Find("seed");
  const uint32_t own = 0x9e3779b9u * (static_cast<uint32_t>(node.index) + 1);
  if (given == nullptr) return own;
  if (given->kind == onnx::Attribute::Kind::kInt) return static_cast<uint32_t>(given->i);
  const bool whole = std::abs(given->f) < 0x1p62f;  // neither NaN nor beyond what an integer has
  return whole ? static_cast<uint32_t>(static_cast<int64_t>(given->f)) : own;
}

bool IsFalse(const onnx::Weight* weight) { return weight != nullptr && weight->held && weight->bytes.size() == 1 && weight->bytes[0] == 0; }

}  // namespace

Status LowerRandom(Lowering& of) {
  kernels::RandomNumbers random;
  random.seed = SeedOf(of.node);
  if (of.node.op == Op::kRandomNormal || of.node.op == Op::kRandomNormalLike) {
    random.kind = kernels::RandomNumbers::Kind::kNormal;
    random.a = of.node.Float("mean", 0);
    random.b = of.node.Float("scale", 1);
  } else if (of.node.op == Op::kRandomUniform || of.node.op == Op::kRandomUniformLike) {
    random.a = of.node.Float("low", 0);
    random.b = of.node.Float("high", 1);
  } else {
    random.kind = of.node.op == Op::kBernoulli ? kernels::RandomNumbers::Kind::kBernoulli : kernels::RandomNumbers::Kind::kMultinomial;
  }
  if (random.kind == kernels::RandomNumbers::Kind::kNormal || random.kind == kernels::RandomNumbers::Kind::kUniform) of.KeepInputs(0);
  of.lowered.params = random;
  return Status::Ok();
}

// Only training leaves elements out; where it is not asked for, nothing happens.
Status LowerDropout(Lowering& of) {
  const bool off = !of.context.has_in(2) || IsFalse(of.context.weight(2));
  if (off && !of.context.has_out(1)) return LowerAlias(of);
  of.lowered.params = kernels::RandomNumbers{kernels::RandomNumbers::Kind::kDropout, SeedOf(of.node)};
  if (off) of.KeepInputs(1);
  return Status::Ok();
}

}  // namespace wf::model
