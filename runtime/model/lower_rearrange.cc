// Operators that part, repeat, rearrange and make.
#include <algorithm>
#include <cstring>

#include "runtime/kernels/walk.h"
#include "runtime/model/lowering.h"

namespace wf::model {

using base::Status;

namespace {

// Axes of a View that go through input 0 as it lies, reordered.
kernels::View Reordered(std::span<const int64_t> dim, std::initializer_list<size_t> order) {
  const std::vector<int64_t> stride = kernels::StridesOf(dim);
  kernels::View view;
  for (const size_t axis : order) {
    view.extent.push_back(dim[axis]);
    view.stride.push_back(stride[axis]);
  }
  return view;
}

}  // namespace

Status LowerSplit(Lowering& of) {
  const size_t rank = of.context.rank(0), axis = FromEnd(of.node.Int("axis", 0), rank);
  std::optional<std::vector<int64_t>> sizes;
  WF_RETURN_IF_ERROR(of.context.IntsOf("split", 1, sizes));
  kernels::Split split{axis, {}};
  if (sizes) {
    split.size = *std::move(sizes);
  } else {  // the last parts are shorter
    const int64_t extent = Extents(of.context.in(0).dim, 0)[axis], parts = static_cast<int64_t>(of.node.out.size());
    const int64_t each = (extent + parts - 1) / parts;
    for (int64_t i = 0; i < parts; ++i) split.size.push_back(std::clamp<int64_t>(extent - std::min(extent, i * each), 0, each));
  }
  of.lowered.params = std::move(split);
  of.KeepInputs(1);
  return Status::Ok();
}

Status LowerExpand(Lowering& of) {
  const std::vector<int64_t> in = Extents(of.context.in(0).dim, 0), out = Extents(of.known_out(0).dim, 0);
  const std::vector<int64_t> stride = kernels::StridesOf(in);
  kernels::View view{out, std::vector<int64_t>(out.size(), 0)};
  const size_t skip = out.size() - in.size();
  for (size_t i = 0; i < in.size(); ++i) view.stride[skip + i] = in[i] == 1 ? 0 : stride[i];
  of.lowered.params = std::move(view);
  of.KeepInputs(1);
  return Status::Ok();
}

Status LowerTile(Lowering& of) {
  const std::vector<int64_t> in = Extents(of.context.in(0).dim, 0);
  const auto repeats = of.context.Numbers(1);
  if (!repeats) return of.context.NotBuilt("its `repeats` are computed from data, which is not supported");
  const std::vector<int64_t> stride = kernels::StridesOf(in);
  kernels::View view;
  for (size_t i = 0; i < in.size(); ++i) {
    view.extent.insert(view.extent.end(), {(*repeats)[i], in[i]});
    view.stride.insert(view.stride.end(), {0, stride[i]});
  }
  of.lowered.params = std::move(view);
  of.KeepInputs(1);
  return Status::Ok();
}

Status LowerDepthToSpace(Lowering& of) {
  const std::vector<int64_t> in = Extents(of.context.in(0).dim, 0);
  const int64_t block = of.node.Int("blocksize", 1), channels = in[1] / (block * block);
  if (of.node.String("mode", "DCR") == "DCR") {
    of.lowered.params = Reordered(std::vector<int64_t>{in[0], block, block, channels, in[2], in[3]}, {0, 3, 4, 1, 5, 2});
  } else {
    of.lowered.params = Reordered(std::vector<int64_t>{in[0], channels, block, block, in[2], in[3]}, {0, 1, 4, 2, 5, 3});
  }
  return Status::Ok();
}

Status LowerSpaceToDepth(Lowering& of) {
  const std::vector<int64_t> in = Extents(of.context.in(0).dim, 0);
  const int64_t block = of.node.Int("blocksize", 1);
  of.lowered.params = Reordered(std::vector<int64_t>{in[0], in[1], in[2] / block, block, in[3] / block, block}, {0, 3, 5, 1, 2, 4});
  return Status::Ok();
}

Status LowerReverseSequence(Lowering& of) {
  of.lowered.params = kernels::ReverseSequence{of.node.Int("time_axis", 0) == 0};
  return Status::Ok();
}

Status LowerTrilu(Lowering& of) {
  const std::vector<int64_t> in = Extents(of.context.in(0).dim, 0);
  kernels::Triangle triangle{of.node.Int("upper", 1) != 0, 0};
  if (of.context.has_in(1)) {
    const auto k = of.context.Numbers(1);
    if (!k || k->size() != 1) return of.context.NotBuilt("its `k` is computed from data, which is not supported");
    triangle.k = std::clamp(k->front(), -in[in.size() - 2] - 1, in.back() + 1);
  }
  of.lowered.params = triangle;
  of.KeepInputs(1);
  return Status::Ok();
}

Status LowerCol2Im(Lowering& of) {
  const auto block = of.context.Numbers(2);
  if (!block || !of.context.Numbers(1)) return of.context.NotBuilt("its block and image are computed from data, which is not supported");
  const auto read = [&](const char* attribute, size_t count, int64_t otherwise) {
    const auto given = of.node.Ints(attribute);
    return given.empty() ? std::vector<int64_t>(count, otherwise) : std::vector<int64_t>(given.begin(), given.end());
  };
  const size_t axes = block->size();
  const std::vector<int64_t> pads = read("pads", 2 * axes, 0);
  const auto middle = pads.begin() + static_cast<ptrdiff_t>(axes);
  of.lowered.params =
      kernels::Fold{*block, read("strides", axes, 1), read("dilations", axes, 1), {pads.begin(), middle}, {middle, pads.end()}};
  of.KeepInputs(1);
  return Status::Ok();
}

Status LowerConstantOfShape(Lowering& of) {
  kernels::Fill fill;
  if (const onnx::Weight* value = of.context.TensorOf("value")) {
    std::memcpy(fill.value.data(), value->bytes.data(), std::min(value->bytes.size(), fill.value.size()));
  }
  of.lowered.params = fill;
  of.KeepInputs(0);
  return Status::Ok();
}

Status LowerRange(Lowering& of) {
  of.lowered.params = kernels::Range{};
  return Status::Ok();
}

Status LowerEyeLike(Lowering& of) {
  constexpr int64_t kFar = int64_t{1} << 40;  // beyond any tensor
  of.lowered.params = kernels::Eye{std::clamp(of.node.Int("k", 0), -kFar, kFar)};
  of.KeepInputs(0);
  return Status::Ok();
}

}  // namespace wf::model
