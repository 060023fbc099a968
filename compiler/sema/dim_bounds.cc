#include "compiler/sema/dim_bounds.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/sema/dims.h"
#include "compiler/sema/resolve_type.h"
#include "runtime/abi/dtype.h"

namespace wf::sema {
namespace {

using Wide = __int128;
constexpr Wide kFar = DimBounds::kFarBound;

// Of an axis, or of what an axis that is a * n + b says, which is refused where n is below 0. An integer may be anything.
std::optional<DimBounds> BoundsOfSymbol(const Body& body, const std::string& symbol) {
  if (body.extents.contains(symbol)) return DimBounds{0, abi::kMostExtent};
  std::optional<DimBounds> bounds;
  for (size_t i = 0; i < body.locals.size() && body.infos[i].kind == LocalKind::kParam; ++i) {
    const Local& param = body.locals[i];
    if (param.type->kind != TypeKind::kTensor) {
      if (param.name == symbol) return std::nullopt;
      continue;
    }
    for (const Dim& dim : param.type->dims) {
      const auto linear = dim.AsLinear();
      if (!linear || linear->symbol != symbol || linear->add > abi::kMostExtent || linear->add < -abi::kMostExtent) continue;
      bounds = DimBounds{0, abi::kMostExtent + std::abs(linear->add)};
    }
  }
  return bounds;
}

std::optional<DimBounds> BoundsOfAtom(const Body& body, const Dim::Atom& atom) {
  if (atom.division.empty()) return BoundsOfSymbol(body, atom.symbol);
  const int64_t divisor = atom.division[1].constant().value_or(0);
  const auto bounds = divisor > 0 ? BoundsOf(body, atom.division[0]) : std::nullopt;
  if (!bounds || bounds->least < 0) return std::nullopt;
  return DimBounds{bounds->least / divisor, bounds->most == DimBounds::kFarBound ? DimBounds::kFarBound : bounds->most / divisor};
}

}  // namespace

std::optional<DimBounds> BoundsOf(const Body& body, const Dim& dim) {
  if (dim.fault() != Dim::Fault::kNone) return std::nullopt;
  Wide least = 0, most = 0;
  for (const Dim::Term& term : dim.terms()) {
    Wide least_product = 1, most_product = 1;  // of atoms, all of which are at least 0
    for (const Dim::Atom& atom : term.atoms) {
      const auto bounds = BoundsOfAtom(body, atom);
      if (!bounds) return std::nullopt;
      least_product = std::min(least_product * bounds->least, kFar);
      most_product = std::min(most_product * bounds->most, kFar);
    }
    const bool falls = term.coefficient < 0;
    const Wide low = (falls ? most_product : least_product) * term.coefficient;
    const Wide high = (falls ? least_product : most_product) * term.coefficient;
    if (low <= -kFar) return std::nullopt;
    least += std::min(low, kFar);
    most += std::min(high, kFar);
  }
  if (least <= -kFar) return std::nullopt;
  return DimBounds{static_cast<int64_t>(std::min(least, kFar)), static_cast<int64_t>(std::min(most, kFar))};
}

std::optional<Dim> QuotientOf(Body& body, const Expr& binary) {
  const bool divides = binary.binary == BinaryOp::kDiv || binary.binary == BinaryOp::kRem;
  if (!divides || binary.type != body.env.types.Scalar(DType::kI64)) return std::nullopt;
  const auto divided = AsDim(body, *binary.args[0]), by = AsDim(body, *binary.args[1]);
  if (!divided || divided->is_constant() || !by || by->constant().value_or(0) <= 0) return std::nullopt;
  const auto bounds = BoundsOf(body, *divided);
  if (!bounds || bounds->least < 0 || bounds->most >= DimBounds::kFarBound) return std::nullopt;
  Dim value = Dim::FloorDiv(*divided, *by);
  if (binary.binary == BinaryOp::kRem) value = *divided - value * *by;
  return value.fault() == Dim::Fault::kNone ? std::optional(std::move(value)) : std::nullopt;
}

}  // namespace wf::sema
