// Operators that sample images.
#include <algorithm>

#include "runtime/model/lowering.h"

namespace wf::model {

using base::Status;
using onnx::Op;

namespace {

kernels::Resize::From FromOf(const onnx::Node& node) {
  using enum kernels::Resize::From;
  constexpr std::pair<std::string_view, kernels::Resize::From> kNames[] = {
      {"half_pixel", kHalfPixel},
      {"half_pixel_symmetric", kHalfPixelSymmetric},
      {"pytorch_half_pixel", kHalfPixelOrFirst},
      {"align_corners", kAlignCorners},
      {"asymmetric", kAsymmetric},
      {"tf_crop_and_resize", kCrop},
      {"tf_half_pixel_for_nn", kHalfPixelUnshifted},
  };
  if (node.op == Op::kUpsample || node.opset < 11) return kAsymmetric;
  const std::string_view wanted = node.String("coordinate_transformation_mode", "half_pixel");
  const auto* found = std::find_if(std::begin(kNames), std::end(kNames), [&](const auto& each) { return each.first == wanted; });
  return found == std::end(kNames) ? kHalfPixel : found->second;
}

kernels::Resize::Rounding RoundingOf(const onnx::Node& node) {
  using enum kernels::Resize::Rounding;
  if (node.op == Op::kUpsample || node.opset < 11) return kFloor;
  const std::string_view mode = node.String("nearest_mode", "round_prefer_floor");
  return mode == "floor" ? kFloor : mode == "ceil" ? kCeil : mode == "round_prefer_ceil" ? kPreferCeil : kPreferFloor;
}

// The part of each axis that is cropped out; all of those that are not resized.
Status ReadRegion(const Lowering& of, kernels::Resize& resize) {
  const size_t rank = of.context.rank(0);
  resize.region_begin.assign(rank, 0);
  resize.region_end.assign(rank, 1);
  if (resize.from != kernels::Resize::From::kCrop) return Status::Ok();
  const auto region = of.context.Reals(1);
  if (!region) return of.context.NotBuilt("its region is computed from data, which is not supported");
  const auto axes = of.node.Ints("axes");
  const size_t count = of.node.Find("axes") != nullptr ? axes.size() : rank;
  if (region->size() != 2 * count) return of.context.Fail("a region of another number of axes than are resized");
  for (size_t i = 0; i < count; ++i) {
    const size_t axis = of.node.Find("axes") != nullptr ? FromEnd(axes[i], rank) : i;
    resize.region_begin[axis] = (*region)[i];
    resize.region_end[axis] = (*region)[count + i];
  }
  return Status::Ok();
}

}  // namespace

Status LowerResize(Lowering& of) {
  using enum kernels::Resize::Mode;
  base::UnknownDims unknown("r");
  auto resizing = onnx::ReadResizing(of.context, unknown);
  if (!resizing.ok()) return resizing.status();
  const std::string_view mode = of.node.String("mode", "nearest");
  kernels::Resize resize;
  resize.mode = mode == "nearest" ? kNearest : mode == "cubic" ? kCubic : kLinear;
  resize.from = FromOf(of.node);
  resize.rounding = RoundingOf(of.node);
  resize.antialias = of.node.Int("antialias", 0) != 0;
  resize.exclude_outside = of.node.Int("exclude_outside", 0) != 0;
  resize.cubic_a = static_cast<double>(of.node.Float("cubic_coeff_a", -0.75f));
  resize.outside = of.node.Float("extrapolation_value", 0);
  for (const auto& scale : resizing->scale) {
    if (!scale) return of.context.NotBuilt("its scales or sizes are computed from data, which is not supported");
    resize.scale.push_back(*scale);
  }
  WF_RETURN_IF_ERROR(ReadRegion(of, resize));
  of.lowered.params = std::move(resize);
  of.KeepInputs(1);
  return Status::Ok();
}

Status LowerGridSample(Lowering& of) {
  using Grid = kernels::GridSample;
  const std::string_view mode = of.node.String("mode", "linear"), padding = of.node.String("padding_mode", "zeros");
  of.lowered.params = Grid{mode == "nearest"                      ? Grid::Mode::kNearest
                           : mode == "cubic" || mode == "bicubic" ? Grid::Mode::kCubic
                                                                  : Grid::Mode::kLinear,
                           padding == "border"       ? Grid::Padding::kBorder
                           : padding == "reflection" ? Grid::Padding::kReflection
                                                     : Grid::Padding::kZeros,
                           of.node.Int("align_corners", 0) != 0};
  return Status::Ok();
}

Status LowerAffineGrid(Lowering& of) {
  of.lowered.params = kernels::AffineGrid{of.node.Int("align_corners", 0) != 0};
  of.KeepInputs(1);
  return Status::Ok();
}

Status LowerRoiAlign(Lowering& of) {
  const bool half_pixel =
      of.node.opset >= 16 && of.node.String("coordinate_transformation_mode", "half_pixel") == std::string_view("half_pixel");
  of.lowered.params = kernels::RoiAlign{of.node.String("mode", "avg") == std::string_view("max"), half_pixel,
                                        of.node.Int("sampling_ratio", 0), of.node.Float("spatial_scale", 1)};
  return Status::Ok();
}

Status LowerMaxUnpool(Lowering& of) {
  const std::vector<int64_t> in = Extents(of.context.in(0).dim, 2);
  const auto window = onnx::ReadWindow(of.node, in.size(), {});
  if (!window.ok()) return window.status();
  kernels::Unpool unpool;
  for (size_t i = 0; i < in.size(); ++i) {
    unpool.plane.push_back((in[i] - 1) * window->stride[i] + window->kernel[i] - window->pad_begin[i] - window->pad_end[i]);
  }
  of.lowered.params = std::move(unpool);
  of.KeepInputs(2);
  return Status::Ok();
}

}  // namespace wf::model
