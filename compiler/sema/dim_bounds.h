#pragma once

#include <optional>

#include "compiler/sema/body.h"

namespace wf::sema {

// What a dimension lies between, its ends included. Numbers beyond kFarBound are that.
struct DimBounds {
  static constexpr int64_t kFarBound = int64_t{1} << 62;
  int64_t least, most;
};

// Whatever the symbols are that axes give their values, from 0 on. Nothing where another symbol is in it, which may
// be any integer, where it divides by what may be 0, or where it may be less than -kFarBound.
std::optional<DimBounds> BoundsOf(const Body& body, const Dim& dim);

// What `/` and `%` by a constant are as a dimension: they round towards 0, which is down where both sides are above it. Nothing where that
// or that the left side does not wrap is not known.
std::optional<Dim> QuotientOf(Body& body, const Expr& binary);

}  // namespace wf::sema
