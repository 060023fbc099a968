#include "compiler/ir/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/ir/scalar.h"
#include "runtime/abi/dtype.h"

namespace wf::ir {
namespace {

using Wide = __int128;

constexpr int kMaxDepth = 8;  // a value may be read on many ways
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();

Bounds BoundsOfType(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return {0, 1};
    case DType::kI8:
    case DType::kI16:
    case DType::kI32: {
      const int64_t end = int64_t{1} << (8 * SizeOf(dtype) - 1);
      return {-end, end - 1};
    }
    case DType::kU8:
    case DType::kU16:
    case DType::kU32:
      return {0, (int64_t{1} << (8 * SizeOf(dtype))) - 1};
    default:
      return {kLeast, kMost};
  }
}

class Reader {
 public:
  Reader(const Builder& b, const Counters& counters) : b_(b), counters_(counters) {}

  Bounds Of(ValueId id, int depth) const {
    const Op& op = b_.body()[id];
    const DType dtype = b_.DTypeOf(id);
    const Bounds all = BoundsOfType(dtype);
    if (depth > kMaxDepth || dtype == DType::kU64 || IsFloat(dtype)) return all;
    switch (op.kind) {
      case OpKind::kScalar: {
        const int64_t value = SignedOf(dtype, op.imm);
        return {value, value};
      }
      case OpKind::kDim:
      case OpKind::kListLen:
      case OpKind::kStringLen:
      case OpKind::kElement:
        return {0, abi::kMostExtent};
      case OpKind::kParam: {
        const auto counter = counters_.find(id);
        return counter == counters_.end() ? all : Index(Of(counter->second, depth + 1));
      }
      case OpKind::kConvert: {
        const Bounds from = Of(op.args[0], depth + 1);
        const bool is_integer = !IsFloat(b_.DTypeOf(op.args[0])) && b_.DTypeOf(op.args[0]) != DType::kU64;
        return is_integer && from.least >= all.least && from.most <= all.most ? from : all;
      }
      case OpKind::kCheckIndex:
      case OpKind::kIndexOrZero:
        return Index(Of(op.args[1], depth + 1));
      case OpKind::kCheckDivisor: {
        const Bounds divisor = Of(op.args[0], depth + 1);
        return {std::min<int64_t>(divisor.least, 1), std::max<int64_t>(divisor.most, 1)};
      }
      case OpKind::kSelect: {
        const Bounds then = Of(op.args[1], depth + 1), otherwise = Of(op.args[2], depth + 1);
        return {std::min(then.least, otherwise.least), std::max(then.most, otherwise.most)};
      }
      case OpKind::kAdd:
      case OpKind::kSub:
      case OpKind::kMul:
      case OpKind::kDiv:
      case OpKind::kRem:
      case OpKind::kMin:
      case OpKind::kMax:
        return OfTwo(op.kind, Of(op.args[0], depth + 1), Of(op.args[1], depth + 1), all);
      default:
        return all;
    }
  }

 private:
  // 0 where there is nothing, too: what a check makes of an index then.
  static Bounds Index(const Bounds& extent) { return {0, std::max<int64_t>(extent.most, 1) - 1}; }

  // `all`: of the type, which is what it may be when it wraps.
  static Bounds OfTwo(OpKind kind, const Bounds& a, const Bounds& b, const Bounds& all) {
    const auto unwrapped = [&](Wide least, Wide most) {
      return least < all.least || most > all.most ? all : Bounds{static_cast<int64_t>(least), static_cast<int64_t>(most)};
    };
    const auto magnitude = [](const Bounds& of) { return std::max(-Wide{of.least}, Wide{of.most}); };
    switch (kind) {
      case OpKind::kAdd:
        return unwrapped(Wide{a.least} + b.least, Wide{a.most} + b.most);
      case OpKind::kSub:
        return unwrapped(Wide{a.least} - b.most, Wide{a.most} - b.least);
      case OpKind::kMul: {
        const auto [least, most] =
            std::minmax({Wide{a.least} * b.least, Wide{a.least} * b.most, Wide{a.most} * b.least, Wide{a.most} * b.most});
        return unwrapped(least, most);
      }
      case OpKind::kDiv:  // the divisor is not 0, and no quotient is larger than its dividend
        if (a.least >= 0 && b.least >= 0) return {b.most == 0 ? 0 : a.least / b.most, a.most / std::max<int64_t>(b.least, 1)};
        return unwrapped(-magnitude(a), magnitude(a));
      case OpKind::kRem: {
        const Wide most = std::min(magnitude(a), std::max<Wide>(magnitude(b), 1) - 1);
        return unwrapped(a.least >= 0 ? 0 : -most, a.most <= 0 ? 0 : most);
      }
      case OpKind::kMin:
        return {std::min(a.least, b.least), std::min(a.most, b.most)};
      default:  // kMax
        return {std::max(a.least, b.least), std::max(a.most, b.most)};
    }
  }

  const Builder& b_;
  const Counters& counters_;
};

}  // namespace

double Bounds::magnitude() const { return std::max(std::abs(static_cast<double>(least)), std::abs(static_cast<double>(most))); }

Bounds BoundsOf(const Builder& b, const Counters& counters, ValueId value) { return Reader(b, counters).Of(value, 0); }

}  // namespace wf::ir
