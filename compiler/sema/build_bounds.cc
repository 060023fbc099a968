#include "compiler/sema/build_bounds.h"

#include <algorithm>
#include <cmath>

#include "runtime/abi/dtype.h"

namespace wf::sema {

using ir::OpKind;
using ir::ValueId;

namespace {

constexpr int kMaxDepth = 8;  // a value may be read on many ways

std::optional<double> MostOfNatural(const ir::Builder& b, const Indexes& indices, ValueId value, int depth) {
  if (depth > kMaxDepth) return {};
  constexpr double kAny = 0x1p63, kExtent = static_cast<double>(abi::kMostExtent);
  if (indices.contains(value)) return kExtent;  // no loop runs for longer
  const ir::Op& op = b.body()[value];
  const auto unwrapped = [](double most) { return most < kAny / 2 ? std::optional(most) : std::nullopt; };  // f64 rounds
  switch (op.kind) {
    case OpKind::kScalar:
      return static_cast<int64_t>(op.imm) >= 0 ? std::optional(static_cast<double>(op.imm)) : std::nullopt;
    case OpKind::kDim:
    case OpKind::kListLen:
    case OpKind::kStringLen:
      return kExtent;
    case OpKind::kMax: {
      const auto first = MostOfNatural(b, indices, op.args[0], depth + 1), second = MostOfNatural(b, indices, op.args[1], depth + 1);
      if (first && second) return std::max(*first, *second);
      return first || second ? std::optional(kAny) : std::nullopt;
    }
    case OpKind::kMin:
    case OpKind::kMul:
    case OpKind::kAdd:
    case OpKind::kDiv: {
      const auto first = MostOfNatural(b, indices, op.args[0], depth + 1), second = MostOfNatural(b, indices, op.args[1], depth + 1);
      if (!first || !second) return {};
      if (op.kind == OpKind::kMin) return std::min(*first, *second);
      if (op.kind == OpKind::kDiv) return b.IsConstant(op.args[1]) ? first : std::nullopt;
      return unwrapped(op.kind == OpKind::kMul ? *first * *second : *first + *second);
    }
    default:
      return {};
  }
}

}  // namespace

std::optional<double> MostOfNatural(const ir::Builder& b, const Indexes& indices, ValueId value) {
  return MostOfNatural(b, indices, value, 0);
}

double MostOf(const ir::Builder& b, const Indexes& indices, ValueId value) {
  constexpr double kAny = 0x1p63;
  if (const auto most = MostOfNatural(b, indices, value)) return *most;
  const ir::Op& op = b.body()[value];
  if (op.kind == OpKind::kScalar) return std::abs(static_cast<double>(static_cast<int64_t>(op.imm)));
  if (op.kind == OpKind::kElement) return static_cast<double>(abi::kMostExtent);
  const bool is_narrow = op.kind == OpKind::kConvert && ir::SizeOf(b.DTypeOf(op.args[0])) <= 4 && !ir::IsFloat(b.DTypeOf(op.args[0]));
  return is_narrow ? 0x1p32 : kAny;
}

}  // namespace wf::sema
