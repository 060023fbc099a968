// Shape rules of operators that make tensors from nothing but their shape.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/onnx/infer_context.h"
#include "runtime/onnx/tensor.h"

namespace wf::onnx {
namespace {

using base::Status;

constexpr double kMostElements = 9e15;

// Elements of a range, which are whole steps short of the limit.
int64_t RangeCount(int64_t start, int64_t limit, int64_t delta) {
  const __int128 span = static_cast<__int128>(limit) - start, step = delta;
  const __int128 count = step > 0 ? (span + step - 1) / step : (span + step + 1) / step;
  return static_cast<int64_t>(std::clamp<__int128>(count, 0, INT64_MAX));
}
std::optional<int64_t> RangeCount(double start, double limit, double delta) {
  const double count = std::ceil((limit - start) / delta);
  if (std::isnan(count) || count > kMostElements) return std::nullopt;
  return count <= 0 ? 0 : static_cast<int64_t>(count);
}

std::optional<Dim> OnlyContent(const NodeContext& node, size_t i) {
  const auto& content = node.in(i).content;
  return content && content->size() == 1 ? std::optional((*content)[0]) : std::nullopt;
}

// From 0 in steps of 1 up to an extent.
std::optional<Dim> SymbolicCount(const NodeContext& node) {
  const auto start = OnlyContent(node, 0), limit = OnlyContent(node, 1), delta = OnlyContent(node, 2);
  if (!start || !limit || !delta || !(*delta == Dim(1)) || limit->is_constant()) return std::nullopt;
  if (node.exact && (!(*start == Dim(0)) || !limit->symbol() || limit->symbol()->starts_with("_#x"))) return std::nullopt;
  return *limit - *start;
}

}  // namespace

Status InferConstantOfShape(NodeContext& node) {
  Known& out = node.out(0);
  const Weight* value = node.TensorOf("value");
  if (value != nullptr && (value->count() != 1 || !value->held)) return node.Fail("a value that is not one element");
  out.dtype = value != nullptr ? value->dtype : static_cast<uint8_t>(WF_F32);
  if (node.rank(0) > 1) return node.Fail(fmt::format("the shape is {}, wanted one axis", node.InType(0)));
  const auto& shape = node.Content(0);
  const auto rank = node.Length(0);
  if (!shape && !rank) return node.NotBuilt("how many axes its result has is computed from data, which is not supported");
  if (!shape) {
    if (*rank > WF_MAX_RANK) return node.NotBuilt(fmt::format("a result of {} axes, {} are the most", *rank, int{WF_MAX_RANK}));
    out.dim = node.Unknowns(*rank);
    return Status::Ok();
  }
  for (const Dim& each : *shape) {
    if (each.constant().value_or(0) < 0) return node.Fail(fmt::format("an axis of extent {}", each.ToString()));
  }
  out.dim = *shape;
  const auto count = Product(out.dim).constant();
  if (count && *count <= kMaxContent && value != nullptr && (value->dtype == WF_I64 || value->dtype == WF_I32 || value->dtype == WF_BOOL)) {
    out.content.emplace(static_cast<size_t>(*count), Dim(IntegerAt(*value, 0)));
  }
  return Status::Ok();
}

Status InferRange(NodeContext& node) {
  for (size_t i = 0; i < 3; ++i) {
    WF_RETURN_IF_ERROR(node.SameType(0, i));
    if (Dim::ProvedDifferent(Product(node.in(i).dim), 1))
      return node.Fail(fmt::format("input {} is {}, wanted a scalar", i, node.InType(i)));
  }
  Known& out = node.out(0);
  out.dtype = node.in(0).dtype;
  out.dim = {SymbolicCount(node).value_or(node.unknown.Next())};
  const auto start = node.Reals(0), limit = node.Reals(1), delta = node.Reals(2);
  if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 || delta->size() != 1) return Status::Ok();
  if ((*delta)[0] == 0) return node.Fail("steps of 0");
  const auto first = node.Numbers(0), last = node.Numbers(1), step = node.Numbers(2);
  const bool whole = first && last && step;
  const auto count = whole ? RangeCount((*first)[0], (*last)[0], (*step)[0]) : RangeCount((*start)[0], (*limit)[0], (*delta)[0]);
  if (!count) return node.Fail("a range without an end");
  out.dim = {Dim(*count)};
  if (!whole || *count > kMaxContent) return Status::Ok();
  out.content.emplace();
  for (int64_t i = 0; i < *count; ++i) out.content->push_back(Dim((*first)[0]) + Dim((*step)[0]) * Dim(i));
  return Status::Ok();
}

Status InferEyeLike(NodeContext& node) {
  WF_RETURN_IF_ERROR(node.Rank(0, 2));
  const int64_t wanted = node.node.Int("dtype", 0);
  const uint8_t dtype = wanted > 0 && wanted < 64 ? DTypeOf(static_cast<int>(wanted)) : 0;
  if (node.node.Find("dtype") != nullptr && (dtype == 0 || dtype == kStringType))
    return node.NotBuilt("elements of its dtype are not supported");
  node.out(0).dtype = dtype != 0 ? dtype : node.in(0).dtype;
  node.out(0).dim = node.in(0).dim;
  return Status::Ok();
}

}  // namespace wf::onnx
