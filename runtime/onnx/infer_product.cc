// Shape rules of products beyond convolution and matrix product: Einsum, transposed and deformable convolution, determinants.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/base/text.h"
#include "runtime/onnx/einsum.h"
#include "runtime/onnx/infer_context.h"
#include "runtime/onnx/rules.h"
#include "runtime/onnx/transposed.h"

namespace wf::onnx {
namespace {

using base::Status;

constexpr int64_t kMaxExtent = int64_t{1} << 31;

Status ReadExtents(const Node& node, const char* attribute, size_t spatial, int64_t least, std::vector<int64_t>& out) {
  const auto given = node.Ints(attribute);
  if (given.size() != spatial && !(attribute == std::string_view("output_shape") && given.size() == spatial + 2))
    return {base::kInvalidArgument, fmt::format("{} of {} values for {} spatial axes", attribute, given.size(), spatial)};
  out.assign(given.end() - static_cast<ptrdiff_t>(spatial), given.end());
  const auto wrong = std::find_if(out.begin(), out.end(), [&](int64_t each) { return each < least || each > kMaxExtent; });
  if (wrong == out.end()) return Status::Ok();
  return {base::kInvalidArgument, fmt::format("{} with {}, which is not from {} to {}", attribute, *wrong, least, kMaxExtent)};
}

// Extents of constant weights from axis 2 on.
Status KernelOf(const NodeContext& node, size_t input, std::vector<int64_t>& kernel) {
  const Shape& w = node.in(input).dim;
  for (const Dim& dim : w) {
    if (!dim.is_constant()) return node.NotBuilt("weights whose shape is not constant");
    if (*dim.constant() < 1) return node.Fail(fmt::format("weights {}", node.InType(input)));
  }
  for (size_t i = 2; i < w.size(); ++i) kernel.push_back(*w[i].constant());
  return Status::Ok();
}

Status CheckBias(const NodeContext& node, size_t input, const Dim& filters) {
  if (!node.has_in(input)) return Status::Ok();
  WF_RETURN_IF_ERROR(node.SameType(0, input));
  WF_RETURN_IF_ERROR(node.Rank(input, 1));
  if (!Dim::ProvedDifferent(node.in(input).dim[0], filters)) return Status::Ok();
  return node.Fail(fmt::format("bias {} for {} filters", node.InType(input), filters.ToString()));
}

}  // namespace

base::Result<TransposedWindow> ReadTransposed(const Node& node, size_t spatial, std::span<const int64_t> kernel) {
  TransposedWindow result;
  auto window = ReadWindow(node, spatial, kernel);
  if (!window.ok()) return window.status();
  result.window = *std::move(window);
  result.more.assign(spatial, 0);
  if (node.Find("output_padding") != nullptr) WF_RETURN_IF_ERROR(ReadExtents(node, "output_padding", spatial, 0, result.more));
  if (node.Find("output_shape") != nullptr && !node.Ints("output_shape").empty())
    WF_RETURN_IF_ERROR(ReadExtents(node, "output_shape", spatial, 0, result.wanted));
  return result;
}

Dim TransposedExtent(const TransposedWindow& of, size_t axis, const Dim& in) {
  const Window& window = of.window;
  if (!of.wanted.empty()) return of.wanted[axis];
  if (window.auto_pad != Window::AutoPad::kExplicit) return in * window.stride[axis];
  const int64_t reach = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
  return (in - 1) * window.stride[axis] + (of.more[axis] + reach - window.pad_begin[axis] - window.pad_end[axis]);
}

int64_t TransposedBegin(const TransposedWindow& of, size_t axis, int64_t in) {
  const Window& window = of.window;
  if (of.wanted.empty() && window.auto_pad == Window::AutoPad::kExplicit) return window.pad_begin[axis];
  const int64_t out = TransposedExtent(of, axis, in).constant().value_or(0);
  const int64_t reach = window.dilation[axis] * (window.kernel[axis] - 1) + 1;
  const int64_t cut = std::max<int64_t>((in - 1) * window.stride[axis] + of.more[axis] + reach - out, 0);
  return window.auto_pad == Window::AutoPad::kSameUpper ? cut / 2 : cut - cut / 2;
}

Status InferConvTranspose(NodeContext& node) {
  const Known& x = node.in(0);
  if (x.dim.size() < 3 || x.dim.size() > 5)
    return node.NotBuilt(fmt::format("a transposed convolution of {}; 1 to 3 spatial axes are supported", node.InType(0)));
  WF_RETURN_IF_ERROR(node.SameType(0, 1));
  WF_RETURN_IF_ERROR(node.Rank(1, x.dim.size()));
  const size_t spatial = x.dim.size() - 2;
  std::vector<int64_t> kernel;
  WF_RETURN_IF_ERROR(KernelOf(node, 1, kernel));
  const auto window = ReadTransposed(node.node, spatial, kernel);
  if (!window.ok()) return window.status();
  const int64_t group = node.node.Int("group", 1), channels = *node.in(1).dim[0].constant(), filters = *node.in(1).dim[1].constant();
  if (group < 1 || channels % group != 0)
    return node.Fail(fmt::format("{} groups for {}", group, base::Counted(static_cast<uint64_t>(channels), "channel")));
  if (Dim::ProvedDifferent(x.dim[1], channels)) return node.Fail(fmt::format("input {} for weights {}", node.InType(0), node.InType(1)));
  WF_RETURN_IF_ERROR(CheckBias(node, 2, Dim(filters) * Dim(group)));
  Known& out = node.out(0);
  out.dtype = x.dtype;
  out.dim = {x.dim[0], Dim(filters) * Dim(group)};
  for (size_t i = 0; i < spatial; ++i) {
    Dim extent = TransposedExtent(*window, i, x.dim[2 + i]);
    if (extent.constant().value_or(0) < 0 || x.dim[2 + i] == Dim(0))
      return node.Fail(fmt::format("input {} leaves nothing", node.InType(0)));
    out.dim.push_back(std::move(extent));
  }
  return Status::Ok();
}

Status InferDeformConv(NodeContext& node) {
  const Known &x = node.in(0), &w = node.in(1);
  if (x.dim.size() != 4) return node.NotBuilt(fmt::format("a deformable convolution of {}; 2 spatial axes are supported", node.InType(0)));
  for (size_t i = 1; i < 5; ++i) {
    if (node.has_in(i)) WF_RETURN_IF_ERROR(node.SameType(0, i));
  }
  for (const size_t i : {1, 2}) WF_RETURN_IF_ERROR(node.Rank(i, 4));
  std::vector<int64_t> kernel;
  WF_RETURN_IF_ERROR(KernelOf(node, 1, kernel));
  const auto window = ReadWindow(node.node, 2, kernel);
  if (!window.ok()) return window.status();
  const int64_t group = node.node.Int("group", 1), parts = node.node.Int("offset_group", 1), filters = *w.dim[0].constant();
  if (!x.dim[1].is_constant()) return node.NotBuilt("channels whose number is not constant");
  const int64_t channels = *x.dim[1].constant();
  if (group < 1 || parts < 1 || filters % group != 0 || channels % parts != 0 || channels % group != 0 ||
      channels / group != *w.dim[1].constant())
    return node.Fail(fmt::format("{} groups and {} of offsets for {} and {}", group, parts, node.InType(0), node.InType(1)));
  WF_RETURN_IF_ERROR(CheckBias(node, 3, Dim(filters)));
  Shape out = {x.dim[0], Dim(filters), WindowExtent(*window, 0, x.dim[2]), WindowExtent(*window, 1, x.dim[3])};
  const Dim taps(kernel[0] * kernel[1]);
  const auto fits = [&](size_t input, const Dim& values) {
    const Shape& given = node.in(input).dim;
    return given.size() == 4 && !Dim::ProvedDifferent(given[0], x.dim[0]) && !Dim::ProvedDifferent(given[1], values) &&
           !Dim::ProvedDifferent(given[2], out[2]) && !Dim::ProvedDifferent(given[3], out[3]);
  };
  if (!fits(2, Dim(2) * Dim(parts) * taps)) return node.Fail(fmt::format("offsets {} for {}", node.InType(2), node.InType(0)));
  if (node.has_in(4) && !fits(4, Dim(parts) * taps)) return node.Fail(fmt::format("a mask {} for {}", node.InType(4), node.InType(0)));
  for (size_t i = 2; i < 4; ++i) {
    if (out[i].constant().value_or(1) < 1) return node.Fail(fmt::format("input {} is smaller than the window", node.InType(0)));
  }
  node.out(0).dtype = x.dtype;
  node.out(0).dim = std::move(out);
  return Status::Ok();
}

static Status AreSquares(const NodeContext& node) {
  const Shape& x = node.in(0).dim;
  const bool are = x.size() >= 2 && !Dim::ProvedDifferent(x.back(), x[x.size() - 2]);
  return are ? Status::Ok() : node.Fail(fmt::format("{} is no square matrix", node.InType(0)));
}

Status InferInverse(NodeContext& node) {
  WF_RETURN_IF_ERROR(AreSquares(node));
  return InferSame(node);
}

Status InferDet(NodeContext& node) {
  WF_RETURN_IF_ERROR(AreSquares(node));
  const Shape& x = node.in(0).dim;
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim.assign(x.begin(), x.end() - 2);
  return Status::Ok();
}

Status InferEinsum(NodeContext& node) {
  std::vector<size_t> ranks;
  for (size_t i = 0; i < node.node.in.size(); ++i) {
    if (!node.has_in(i)) return node.Fail(fmt::format("input {} is absent but required", i));
    WF_RETURN_IF_ERROR(node.SameType(0, i));
    ranks.push_back(node.rank(i));
  }
  const auto labels = ParseEinsum(node.node.String("equation", ""), ranks);
  if (!labels.ok()) return labels.status();
  std::vector<std::optional<Dim>> extent(labels->labels);
  for (size_t i = 0; i < ranks.size(); ++i) {
    for (size_t axis = 0; axis < ranks[i]; ++axis) {
      std::optional<Dim>& known = extent[labels->in[i][axis]];
      const Dim& dim = node.in(i).dim[axis];
      if (!known) {
        known = dim;
        continue;
      }
      auto both = BroadcastDim(*known, dim, node.unknown);
      if (!both) return node.Fail(fmt::format("input {}, {}, has another extent for a label than those before", i, node.InType(i)));
      known = *std::move(both);
    }
  }
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim.clear();
  for (size_t i = 0; i < labels->out_rank; ++i) node.out(0).dim.push_back(*extent[i]);
  return Status::Ok();
}

}  // namespace wf::onnx
