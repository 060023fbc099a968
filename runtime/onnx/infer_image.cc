// Shape rules of operators that sample images.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/onnx/infer_context.h"

namespace wf::onnx {
namespace {

using base::Status;

constexpr int64_t kMostExtent = int64_t{1} << 40;

bool OneOf(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

// floor(dim * scale) in f32, as ONNX Runtime has it, where that can be said: of symbols by fractions of a power of two.
Dim Scaled(const Dim& dim, double scale, base::UnknownDims& unknown) {
  if (const auto extent = dim.constant()) {
    const float scaled = std::floor(static_cast<float>(*extent) * static_cast<float>(scale));
    return scaled <= static_cast<float>(kMostExtent) ? Dim(static_cast<int64_t>(scaled)) : Dim::Faulty(Dim::Fault::kTooLarge);
  }
  for (int64_t divisor = 1; divisor <= 1024; divisor *= 2) {
    const double times = scale * static_cast<double>(divisor);
    if (times == std::floor(times) && times <= 1024) return Dim::FloorDiv(dim * static_cast<int64_t>(times), divisor);
  }
  return unknown.Next();
}

// Positions of the scales and sizes among the inputs, and of the region.
struct ResizeInputs {
  size_t scales, sizes, region;
};
ResizeInputs InputsOf(const Node& node) {
  constexpr size_t kNone = 99;
  if (node.op == Op::kUpsample || node.opset < 11) return {1, kNone, kNone};
  return {2, 3, 1};
}

bool IsGiven(const NodeContext& node, size_t i) { return node.has_in(i) && node.Length(i) != 0; }

Status ResizeAxes(const NodeContext& node, std::vector<size_t>& axes) {
  const size_t rank = node.rank(0);
  axes.resize(rank);
  std::iota(axes.begin(), axes.end(), size_t{0});
  if (node.node.Find("axes") == nullptr) return Status::Ok();
  axes.clear();
  for (const int64_t each : node.node.Ints("axes")) {
    size_t axis = 0;
    WF_RETURN_IF_ERROR(node.Axis(each, rank, axis));
    if (std::find(axes.begin(), axes.end(), axis) != axes.end()) return node.Fail(fmt::format("axis {} is resized twice", axis));
    axes.push_back(axis);
  }
  return Status::Ok();
}

// All axes by one factor, so that none becomes larger, or smaller, than asked for.
void KeepAspect(const NodeContext& node, const std::vector<size_t>& axes, bool larger, Resizing& out, base::UnknownDims& unknown) {
  double scale = larger ? 0 : INFINITY;
  bool known = true;
  for (const size_t axis : axes) {
    known = known && out.scale[axis].has_value();
    if (known) scale = larger ? std::max(scale, *out.scale[axis]) : std::min(scale, *out.scale[axis]);
  }
  for (const size_t axis : axes) {
    const auto extent = node.in(0).dim[axis].constant();
    out.dim[axis] = unknown.Next();
    out.scale[axis].reset();
    if (!known || !extent || scale * static_cast<double>(*extent) > static_cast<double>(kMostExtent)) continue;
    out.dim[axis] = Dim(static_cast<int64_t>(scale * static_cast<double>(*extent) + 0.5));
    out.scale[axis] = scale;
  }
}

Status BySizes(const NodeContext& node, size_t input, const std::vector<size_t>& axes, Resizing& out, base::UnknownDims& unknown) {
  const auto& sizes = node.Content(input);
  if (sizes && sizes->size() != axes.size()) return node.Fail(fmt::format("{} sizes for {} axes", sizes->size(), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = axes[i];
    out.dim[axis] = sizes ? (*sizes)[i] : unknown.Next();
    const auto to = out.dim[axis].constant(), from = node.in(0).dim[axis].constant();
    if (to && (*to < 0 || *to > kMostExtent)) return node.Fail(fmt::format("an axis of extent {}", *to));
    out.scale[axis].reset();
    if (to && from) out.scale[axis] = *from == 0 ? 1 : static_cast<double>(*to) / static_cast<double>(*from);
  }
  const std::string_view policy = node.node.String("keep_aspect_ratio_policy", "stretch");
  if (!OneOf(policy, {"stretch", "not_larger", "not_smaller"})) return node.Fail(fmt::format("keep_aspect_ratio_policy `{}`", policy));
  if (policy != "stretch") KeepAspect(node, axes, policy == "not_smaller", out, unknown);
  return Status::Ok();
}

Status ByScales(const NodeContext& node, const std::optional<std::vector<double>>& scales, const std::vector<size_t>& axes, Resizing& out,
                base::UnknownDims& unknown) {
  if (scales && scales->size() != axes.size()) return node.Fail(fmt::format("{} scales for {} axes", scales->size(), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    const size_t axis = axes[i];
    out.scale[axis].reset();
    out.dim[axis] = unknown.Next();
    if (!scales) continue;
    const double scale = (*scales)[i];
    if (!(scale > 0 && scale < 1e9)) return node.Fail(fmt::format("a scale of {}", scale));
    out.scale[axis] = scale;
    out.dim[axis] = Scaled(node.in(0).dim[axis], scale, unknown);
  }
  return Status::Ok();
}

Status CheckResizeWords(const NodeContext& node) {
  const bool old = node.node.op == Op::kUpsample;
  const std::string_view mode = node.node.String("mode", "nearest");
  if (!OneOf(mode, {"nearest", "linear", "cubic", "bilinear"})) return node.Fail(fmt::format("mode `{}`", mode));
  const std::string_view from = node.node.String("coordinate_transformation_mode", "half_pixel");
  const bool is_known = OneOf(from, {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
                                     "tf_crop_and_resize", "tf_half_pixel_for_nn"});
  if (!is_known) return node.Fail(fmt::format("coordinate_transformation_mode `{}`", from));
  const std::string_view rounding = node.node.String("nearest_mode", "round_prefer_floor");
  if (!OneOf(rounding, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}))
    return node.Fail(fmt::format("nearest_mode `{}`", rounding));
  const size_t region = InputsOf(node.node).region;
  if (from == "tf_crop_and_resize" && !old && !IsGiven(node, region)) return node.Fail("it has no region to crop");
  return Status::Ok();
}

Status CheckSampling(const NodeContext& node) {
  const std::string_view mode = node.node.String("mode", "linear"), padding = node.node.String("padding_mode", "zeros");
  if (!OneOf(mode, {"linear", "bilinear", "nearest", "cubic", "bicubic"})) return node.Fail(fmt::format("mode `{}`", mode));
  if (!OneOf(padding, {"zeros", "border", "reflection"})) return node.Fail(fmt::format("padding_mode `{}`", padding));
  return Status::Ok();
}

}  // namespace

base::Result<Resizing> ReadResizing(const NodeContext& node, base::UnknownDims& unknown) {
  const ResizeInputs inputs = InputsOf(node.node);
  Resizing out{std::vector<std::optional<double>>(node.rank(0), 1), node.in(0).dim};
  std::vector<size_t> axes;
  WF_RETURN_IF_ERROR(ResizeAxes(node, axes));
  if (const Attribute* scales = node.node.Find("scales")) {  // Upsample before opset 9
    WF_RETURN_IF_ERROR(ByScales(node, std::vector<double>(scales->floats.begin(), scales->floats.end()), axes, out, unknown));
    return out;
  }
  if (IsGiven(node, inputs.sizes) && (node.Length(inputs.sizes) || !IsGiven(node, inputs.scales))) {
    WF_RETURN_IF_ERROR(BySizes(node, inputs.sizes, axes, out, unknown));
    return out;
  }
  if (!IsGiven(node, inputs.scales)) return node.Fail("it has neither scales nor sizes");
  WF_RETURN_IF_ERROR(ByScales(node, node.Reals(inputs.scales), axes, out, unknown));
  return out;
}

Status InferResize(NodeContext& node) {
  WF_RETURN_IF_ERROR(CheckResizeWords(node));
  auto resizing = ReadResizing(node, node.unknown);
  if (!resizing.ok()) return resizing.status();
  for (size_t i = 0; i < node.rank(0); ++i) {
    if (node.in(0).dim[i] == Dim(0) && resizing->dim[i].constant().value_or(0) > 0)
      return node.Fail(fmt::format("nothing to sample in {}", node.InType(0)));
  }
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = resizing->dim;
  return Status::Ok();
}

Status InferGridSample(NodeContext& node) {
  WF_RETURN_IF_ERROR(CheckSampling(node));
  const Shape &x = node.in(0).dim, &grid = node.in(1).dim;
  const size_t rank = x.size();
  if (rank < 3 || rank > 5) return node.NotBuilt(fmt::format("samples of {}; 1 to 3 spatial axes are supported", node.InType(0)));
  WF_RETURN_IF_ERROR(node.Rank(1, rank));
  const bool fits = !Dim::ProvedDifferent(x[0], grid[0]) && !Dim::ProvedDifferent(grid[rank - 1], static_cast<int64_t>(rank - 2));
  if (!fits) return node.Fail(fmt::format("a grid {} for {}", node.InType(1), node.InType(0)));
  if (node.in(1).dtype == kStringType || node.in(1).dtype == WF_BOOL) return node.Fail(fmt::format("a grid {}", node.InType(1)));
  Known& out = node.out(0);
  out.dtype = node.in(0).dtype;
  out.dim = {x[0], x[1]};
  for (size_t i = 2; i < rank; ++i) {
    if (x[i] == Dim(0) && grid[i - 1].constant().value_or(1) > 0) return node.Fail(fmt::format("nothing to sample in {}", node.InType(0)));
    out.dim.push_back(grid[i - 1]);
  }
  return Status::Ok();
}

Status InferRoiAlign(NodeContext& node) {
  WF_RETURN_IF_ERROR(node.Rank(0, 4));
  WF_RETURN_IF_ERROR(node.Rank(1, 2));
  WF_RETURN_IF_ERROR(node.Rank(2, 1));
  WF_RETURN_IF_ERROR(node.SameType(0, 1));
  const Shape &x = node.in(0).dim, &regions = node.in(1).dim;
  if (Dim::ProvedDifferent(regions[1], 4) || Dim::ProvedDifferent(regions[0], node.in(2).dim[0])) {
    return node.Fail(fmt::format("regions {} of images {}", node.InType(1), node.InType(2)));
  }
  if (node.in(2).dtype != WF_I64) return node.Fail(fmt::format("the indices are {}, wanted i64", node.InType(2)));
  const std::string_view mode = node.node.String("mode", "avg"), from = node.node.String("coordinate_transformation_mode", "half_pixel");
  if (!OneOf(mode, {"avg", "max"})) return node.Fail(fmt::format("mode `{}`", mode));
  if (!OneOf(from, {"half_pixel", "output_half_pixel"})) return node.Fail(fmt::format("coordinate_transformation_mode `{}`", from));
  const int64_t height = node.node.Int("output_height", 1), width = node.node.Int("output_width", 1),
                ratio = node.node.Int("sampling_ratio", 0);
  constexpr int64_t kMost = 1 << 20;
  if (std::min(height, width) < 1 || std::max(height, width) > kMost || ratio < 0 || ratio > 1024)
    return node.Fail("an output size or a sampling_ratio out of range");
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = {regions[0], x[1], Dim(height), Dim(width)};
  return Status::Ok();
}

Status InferAffineGrid(NodeContext& node) {
  WF_RETURN_IF_ERROR(node.Rank(0, 3));
  const Shape& theta = node.in(0).dim;
  const auto rank = node.Length(1);
  if (!rank) return node.NotBuilt("how many axes its result has is computed from data, which is not supported");
  if (*rank != 4 && *rank != 5) return node.Fail(fmt::format("a size of {} axes", *rank));
  const int64_t axes = static_cast<int64_t>(*rank) - 2;
  if (Dim::ProvedDifferent(theta[1], axes) || Dim::ProvedDifferent(theta[2], axes + 1))
    return node.Fail(fmt::format("theta {} for {} axes", node.InType(0), axes));
  Known& out = node.out(0);
  out.dtype = node.in(0).dtype;
  out.dim = {theta[0]};
  const auto& size = node.Content(1);
  for (size_t i = 0; i < static_cast<size_t>(axes); ++i) {
    out.dim.push_back(size ? (*size)[2 + i] : node.unknown.Next());
    if (out.dim.back().constant().value_or(1) < 1) return node.Fail(fmt::format("an axis of extent {}", out.dim.back().ToString()));
  }
  if (size && Dim::ProvedDifferent((*size)[0], theta[0]))
    return node.Fail(fmt::format("a size of {} images for {}", (*size)[0].ToString(), node.InType(0)));
  out.dim.emplace_back(axes);
  return Status::Ok();
}

Status InferMaxUnpool(NodeContext& node) {
  const Known &x = node.in(0), &at = node.in(1);
  if (x.dim.size() < 3 || x.dim.size() > 5)
    return node.NotBuilt(fmt::format("unpooling of {}; 1 to 3 spatial axes are supported", node.InType(0)));
  if (at.dtype != WF_I64) return node.Fail(fmt::format("the indices are {}, wanted i64", node.InType(1)));
  WF_RETURN_IF_ERROR(node.Rank(1, x.dim.size()));
  for (size_t i = 0; i < x.dim.size(); ++i) {
    if (Dim::ProvedDifferent(x.dim[i], at.dim[i])) return node.Fail(fmt::format("indices {} for {}", node.InType(1), node.InType(0)));
  }
  const auto window = ReadWindow(node.node, x.dim.size() - 2, {});
  if (!window.ok()) return window.status();
  Known& out = node.out(0);
  out.dtype = x.dtype;
  out.dim = {x.dim[0], x.dim[1]};
  for (size_t i = 0; i + 2 < x.dim.size(); ++i) {
    out.dim.push_back((x.dim[2 + i] - 1) * window->stride[i] + (window->kernel[i] - window->pad_begin[i] - window->pad_end[i]));
  }
  if (!node.has_in(2)) return Status::Ok();
  const auto& wanted = node.Content(2);
  if (wanted && wanted->size() != x.dim.size()) return node.Fail(fmt::format("an output_shape of {} axes", wanted->size()));
  const Shape least = out.dim;
  out.dim = wanted ? Shape(*wanted) : node.Unknowns(x.dim.size());
  for (size_t i = 0; i < least.size(); ++i) {
    const auto needed = least[i].constant(), extent = out.dim[i].constant();
    if (needed && extent && *needed > *extent)
      return node.Fail(fmt::format("an output_shape of {} for windows over {}", ToString(x.dtype, out.dim), ToString(x.dtype, least)));
  }
  return Status::Ok();
}

}  // namespace wf::onnx
