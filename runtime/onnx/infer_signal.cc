// Shape rules of signal processing and of losses.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/onnx/infer_context.h"
#include "runtime/onnx/tensor.h"

namespace wf::onnx {
namespace {

using base::Status;

constexpr int64_t kMaxLength = int64_t{1} << 31;

// The only element of input i, as far as it is known.
std::optional<Dim> ScalarOf(const NodeContext& node, size_t i) {
  const auto& content = node.Content(i);
  return content && content->size() == 1 ? std::optional(content->front()) : std::nullopt;
}

// An extent that input i gives. Errors: it is a number outside of [least, 2^31].
Status ExtentFrom(NodeContext& node, size_t i, int64_t least, Dim& out) {
  const auto scalar = ScalarOf(node, i);
  out = scalar ? *scalar : node.unknown.Next();
  const int64_t number = out.constant().value_or(least);
  if (number < least || number > kMaxLength) return node.Fail(fmt::format("input {} is {}, wanted {} to 2^31", i, number, least));
  return Status::Ok();
}

// The type that an attribute names; numbers alone.
Status TypeFrom(const NodeContext& node, const char* attribute, uint8_t& dtype) {
  const int64_t wanted = node.node.Int(attribute, 1);
  dtype = wanted < 0 || wanted > 1000 ? 0 : DTypeOf(static_cast<int>(wanted));
  if (dtype != 0 && dtype != WF_BOOL && dtype != kStringType) return Status::Ok();
  return node.NotBuilt(fmt::format("{} {} is not supported", attribute, wanted));
}

Status AreIntegers(const NodeContext& node, std::initializer_list<size_t> inputs) {
  for (const size_t i : inputs) {
    if (!node.has_in(i)) continue;
    const uint8_t dtype = node.in(i).dtype;
    if (dtype != WF_I32 && dtype != WF_I64) return node.Fail(fmt::format("input {} is {}, wanted i32 or i64", i, node.InType(i)));
    if (Dim::ProvedDifferent(Product(node.in(i).dim), 1)) return node.Fail(fmt::format("input {}, {}, is no scalar", i, node.InType(i)));
  }
  return Status::Ok();
}

}  // namespace

Status InferDft(NodeContext& node) {
  const Shape& x = node.in(0).dim;
  if (x.size() < 2) return node.Fail(fmt::format("input {} has no axis to transform", node.InType(0)));
  if (x.back() != Dim(1) && Dim::ProvedDifferent(x.back(), 2))
    return node.Fail(fmt::format("input {} ends in an axis of neither 1 nor 2", node.InType(0)));
  if (!x.back().is_constant())
    return node.NotBuilt(fmt::format("an input {} is not supported: its last extent must be known", node.InType(0)));
  WF_RETURN_IF_ERROR(AreIntegers(node, {1, 2}));
  Known& out = node.out(0);
  out.dtype = node.in(0).dtype;
  out.dim = x;
  out.dim.back() = Dim(2);
  const bool as_input = node.node.opset >= 20;
  int64_t wanted = as_input ? -2 : node.node.Int("axis", 1);
  if (as_input && node.has_in(2)) {
    const auto given = node.Numbers(2);
    if (!given || given->size() != 1) {
      for (size_t i = 0; i + 1 < out.dim.size(); ++i) out.dim[i] = node.unknown.Next();
      return Status::Ok();
    }
    wanted = given->front();
  }
  size_t axis = 0;
  WF_RETURN_IF_ERROR(node.Axis(wanted, x.size(), axis));
  if (axis + 1 == x.size()) return node.Fail("a transform along the axis of real and imaginary parts");
  Dim length = x[axis];
  if (node.has_in(1)) WF_RETURN_IF_ERROR(ExtentFrom(node, 1, 1, length));
  if (length == Dim(0)) return node.Fail(fmt::format("input {} has nothing to transform", node.InType(0)));
  out.dim[axis] = node.node.Int("onesided", 0) != 0 ? Dim::FloorDiv(length, 2) + 1 : length;
  return Status::Ok();
}

Status InferStft(NodeContext& node) {
  const Shape& x = node.in(0).dim;
  if (x.size() != 2 && x.size() != 3) return node.Fail(fmt::format("input {} is not a batch of signals", node.InType(0)));
  if (x.size() == 3 && x[2] != Dim(1) && x[2] != Dim(2))
    return node.Fail(fmt::format("input {} ends in an axis of neither 1 nor 2", node.InType(0)));
  WF_RETURN_IF_ERROR(AreIntegers(node, {1, 3}));
  Dim step, length;
  WF_RETURN_IF_ERROR(ExtentFrom(node, 1, 1, step));
  if (node.has_in(2)) {
    WF_RETURN_IF_ERROR(node.Rank(2, 1));
    WF_RETURN_IF_ERROR(node.SameType(0, 2));
    length = node.in(2).dim[0];
  } else if (!node.has_in(3)) {
    length = x[1];
  }
  if (node.has_in(3)) {
    Dim given;
    WF_RETURN_IF_ERROR(ExtentFrom(node, 3, 1, given));
    if (node.has_in(2) && Dim::ProvedDifferent(given, length))
      return node.Fail(fmt::format("frames of {} with a window {}", given.ToString(), node.InType(2)));
    if (!node.has_in(2) || given.is_constant()) length = given;
  }
  if (length == Dim(0)) return node.Fail("frames without elements");
  const bool both = length.is_constant() && x[1].is_constant();
  if (both && *length.constant() > *x[1].constant()) return node.Fail(fmt::format("frames of {} in {}", length.ToString(), node.InType(0)));
  Known& out = node.out(0);
  out.dtype = node.in(0).dtype;
  const Dim frames = step.is_constant() ? Dim::FloorDiv(x[1] - length, step) + 1 : node.unknown.Next();
  out.dim = {x[0], frames, node.node.Int("onesided", 1) != 0 ? Dim::FloorDiv(length, 2) + 1 : length, Dim(2)};
  return Status::Ok();
}

Status InferSignalWindow(NodeContext& node) {
  Known& out = node.out(0);
  WF_RETURN_IF_ERROR(TypeFrom(node, "output_datatype", out.dtype));
  WF_RETURN_IF_ERROR(AreIntegers(node, {0}));
  out.dim.resize(1);
  return ExtentFrom(node, 0, 0, out.dim[0]);
}

Status InferMelWeightMatrix(NodeContext& node) {
  Known& out = node.out(0);
  WF_RETURN_IF_ERROR(TypeFrom(node, "output_datatype", out.dtype));
  WF_RETURN_IF_ERROR(AreIntegers(node, {0, 1, 2}));
  WF_RETURN_IF_ERROR(node.SameType(3, 4));
  for (const size_t i : {3, 4}) {
    const uint8_t dtype = node.in(i).dtype;
    const bool real = dtype == WF_F32 || dtype == WF_F64 || dtype == WF_F16 || dtype == WF_BF16;
    if (!real || Dim::ProvedDifferent(Product(node.in(i).dim), 1))
      return node.Fail(fmt::format("input {} is {}, wanted one frequency", i, node.InType(i)));
  }
  Dim bands, length, rate;
  WF_RETURN_IF_ERROR(ExtentFrom(node, 0, 0, bands));
  WF_RETURN_IF_ERROR(ExtentFrom(node, 1, 0, length));
  WF_RETURN_IF_ERROR(ExtentFrom(node, 2, 1, rate));
  out.dim = {Dim::FloorDiv(length, 2) + 1, bands};
  return Status::Ok();
}

Status InferClassLoss(NodeContext& node) {
  const Shape &scores = node.in(0).dim, &targets = node.in(1).dim;
  if (scores.size() < 2 || targets.size() + 1 != scores.size())
    return node.Fail(fmt::format("targets {} for scores {}", node.InType(1), node.InType(0)));
  if (node.in(1).dtype != WF_I32 && node.in(1).dtype != WF_I64)
    return node.Fail(fmt::format("targets {}, wanted i32 or i64", node.InType(1)));
  for (size_t i = 0; i < targets.size(); ++i) {
    if (Dim::ProvedDifferent(targets[i], scores[i == 0 ? 0 : i + 1]))
      return node.Fail(fmt::format("targets {} for scores {}", node.InType(1), node.InType(0)));
  }
  if (node.has_in(2)) {
    WF_RETURN_IF_ERROR(node.SameType(0, 2));
    WF_RETURN_IF_ERROR(node.Rank(2, 1));
    if (Dim::ProvedDifferent(node.in(2).dim[0], scores[1]))
      return node.Fail(fmt::format("weights {} for scores {}", node.InType(2), node.InType(0)));
  }
  const std::string_view reduction = node.node.String("reduction", "mean");
  if (reduction != "none" && reduction != "sum" && reduction != "mean") return node.Fail(fmt::format("reduction `{}`", reduction));
  Known& out = node.out(0);
  out.dtype = node.in(0).dtype;
  out.dim = reduction == "none" ? targets : Shape();
  if (node.has_out(1)) {
    node.out(1).dtype = node.in(0).dtype;
    node.out(1).dim = scores;
  }
  return Status::Ok();
}

}  // namespace wf::onnx
