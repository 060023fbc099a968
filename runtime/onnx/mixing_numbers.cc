#include "runtime/onnx/mixing_numbers.h"

#include <algorithm>

namespace wf::onnx {
namespace {

bool IsElementwise(Op op) {
  constexpr Op kThese[] = {Op::kAdd,   Op::kSub,   Op::kMul,   Op::kDiv, Op::kPow,        Op::kSqrt,    Op::kNeg, Op::kAbs,
                           Op::kFloor, Op::kCeil,  Op::kMax,   Op::kMin, Op::kReciprocal, Op::kExp,     Op::kLog, Op::kMod,
                           Op::kNot,   Op::kEqual, Op::kRound, Op::kAnd, Op::kLess,       Op::kGreater, Op::kOr,  Op::kWhere};
  return std::find(std::begin(kThese), std::end(kThese), op) != std::end(kThese);
}

bool KeepsOrder(Op op) {
  constexpr Op kThese[] = {Op::kCast, Op::kIdentity, Op::kReshape, Op::kSqueeze, Op::kUnsqueeze, Op::kFlatten};
  return std::find(std::begin(kThese), std::end(kThese), op) != std::end(kThese);
}

// A number stands for each element beside it.
ByElement Elementwise(const NodeContext& node, size_t count, const std::function<ByElement(size_t)>& of_input) {
  std::vector<bool> any(count, false);
  for (size_t i = 0; i < node.node.in.size(); ++i) {
    if (!node.has_in(i)) continue;
    const ByElement in = of_input(i);
    if (!in || node.rank(i) > 1 || (in->size() != 1 && in->size() != count)) return std::nullopt;
    for (size_t at = 0; at < count; ++at) any[at] = any[at] || (*in)[in->size() == 1 ? 0 : at];
  }
  return any;
}

// Those of `from`, which has one axis, at these places.
ByElement At(const std::vector<bool>& from, const std::vector<int64_t>& places) {
  const auto count = static_cast<int64_t>(from.size());
  std::vector<bool> picked;
  for (const int64_t place : places) {
    const int64_t at = place < 0 ? place + count : place;
    if (at < 0 || at >= count) return std::nullopt;
    picked.push_back(from[static_cast<size_t>(at)]);
  }
  return picked;
}

ByElement Sliced(const NodeContext& node, const std::vector<bool>& from) {
  std::optional<std::vector<int64_t>> starts, ends, steps;
  const bool known = node.IntsOf("starts", 1, starts).ok() && node.IntsOf("ends", 2, ends).ok() && node.IntsOf("steps", 4, steps).ok();
  if (!known || !starts || !ends || starts->size() != 1 || (steps && (*steps)[0] != 1)) return std::nullopt;
  const auto count = static_cast<int64_t>(from.size());
  const auto place = [count](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + count : at, 0, count); };
  std::vector<int64_t> places;
  for (int64_t at = place((*starts)[0]); at < place((*ends)[0]); ++at) places.push_back(at);
  return At(from, places);
}

ByElement Joined(const NodeContext& node, const std::function<ByElement(size_t)>& of_input) {
  std::vector<bool> all;
  for (size_t i = 0; i < node.node.in.size(); ++i) {
    const ByElement in = of_input(i);
    if (!in) return std::nullopt;
    all.insert(all.end(), in->begin(), in->end());
  }
  return all;
}

}  // namespace

std::optional<size_t> NumbersIn(const Known& known) {
  const auto count = Product(known.dim).constant();
  return count && *count <= kMaxContent ? std::optional(static_cast<size_t>(*count)) : std::nullopt;
}

ByElement FollowNumbers(NodeContext& node, const std::function<ByElement(size_t)>& of_input) {
  if (!node.has_out(0) || !node.has_in(0)) return std::nullopt;
  const auto count = NumbersIn(node.out(0));
  if (!count) return std::nullopt;
  const Op op = node.node.op;
  ByElement made;
  if (IsElementwise(op)) made = Elementwise(node, *count, of_input);
  if (KeepsOrder(op)) made = of_input(0);
  if (op == Op::kConcat && node.out(0).dim.size() == 1) made = Joined(node, of_input);
  const bool takes = (op == Op::kGather || op == Op::kSlice) && node.rank(0) == 1;
  const ByElement from = takes ? of_input(0) : std::nullopt;
  if (from && op == Op::kSlice) made = Sliced(node, *from);
  if (const auto at = node.Numbers(1); from && op == Op::kGather && at) made = At(*from, *at);
  return made && made->size() == *count ? made : std::nullopt;
}

}  // namespace wf::onnx
