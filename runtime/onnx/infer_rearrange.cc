// Shape rules of operators that part, repeat and rearrange.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "runtime/onnx/infer_context.h"

namespace wf::onnx {
namespace {

using base::Status;

constexpr int64_t kMostBlock = int64_t{1} << 20;  // of blocks, strides and pads: keeps products of them from overflowing
constexpr int64_t kMostRepeats = int64_t{1} << 32;

// Output `part` of `parts` as equal as they can be: the last ones are shorter.
Dim EvenPart(const Dim& extent, int64_t parts, int64_t part) {
  const Dim each = Dim::FloorDiv(extent + (parts - 1), parts);
  const auto whole = extent.constant();
  if (!whole) return part + 1 < parts ? each : extent - each * (parts - 1);
  const int64_t size = each.constant().value_or(0);
  return std::clamp<int64_t>(*whole - std::min(*whole, part * size), 0, size);
}

Status CheckSizes(const NodeContext& node, std::span<const int64_t> sizes, const Dim& extent) {
  if (sizes.size() != node.node.out.size()) return node.Fail(fmt::format("{} sizes for {} outputs", sizes.size(), node.node.out.size()));
  int64_t sum = 0;
  for (const int64_t each : sizes) {
    if (each < 0 || __builtin_add_overflow(sum, each, &sum)) return node.Fail(fmt::format("a part of extent {}", each));
  }
  if (Dim::ProvedDifferent(extent, sum)) return node.Fail(fmt::format("parts of {} together for {}", sum, node.InType(0)));
  return Status::Ok();
}

// The known elements of one part of a vector.
std::optional<std::vector<Dim>> PartOf(const std::optional<std::vector<Dim>>& content, size_t begin, const Dim& extent) {
  const auto count = extent.constant();
  if (!content || !count || begin + static_cast<size_t>(*count) > content->size()) return std::nullopt;
  const auto first = content->begin() + static_cast<ptrdiff_t>(begin);
  return std::vector<Dim>(first, first + static_cast<ptrdiff_t>(*count));
}

// n, c, h, w and the block of input 0.
Status Blocks(const NodeContext& node, Shape& dim, int64_t& block) {
  WF_RETURN_IF_ERROR(node.Rank(0, 4));
  block = node.node.Int("blocksize", 0);
  if (block < 1 || block > kMostBlock) return node.Fail(fmt::format("blocksize {}", block));
  dim = node.in(0).dim;
  return Status::Ok();
}

bool Divides(const Dim& dim, int64_t by) {
  const auto extent = dim.constant();
  return !extent || *extent % by == 0;
}

// An attribute of Col2Im: `count` integers of at least `least`, or that for all.
Status Fill(const NodeContext& node, const char* attribute, size_t count, int64_t least, std::vector<int64_t>& out) {
  const auto given = node.node.Ints(attribute);
  out.assign(given.begin(), given.end());
  if (node.node.Find(attribute) == nullptr) out.assign(count, least);
  const bool fits =
      out.size() == count && std::all_of(out.begin(), out.end(), [&](int64_t each) { return each >= least && each <= kMostBlock; });
  return fits ? Status::Ok() : node.Fail(fmt::format("{} [{}]", attribute, fmt::join(out, ", ")));
}

Status CheckColumns(NodeContext& node, std::span<const int64_t> image, std::span<const int64_t> block) {
  const size_t axes = image.size();
  std::vector<int64_t> dilations, pads, strides;
  WF_RETURN_IF_ERROR(Fill(node, "dilations", axes, 1, dilations));
  WF_RETURN_IF_ERROR(Fill(node, "pads", 2 * axes, 0, pads));
  WF_RETURN_IF_ERROR(Fill(node, "strides", axes, 1, strides));
  Dim columns(1), taps(1);
  for (size_t i = 0; i < axes; ++i) {
    if (block[i] < 1 || block[i] > kMostBlock || image[i] < 1 || image[i] > kMostRepeats)
      return node.Fail("a block or an image out of range");
    const int64_t free = image[i] + pads[i] + pads[axes + i] - dilations[i] * (block[i] - 1) - 1;
    if (free < 0) return node.Fail("a block larger than the image");
    columns = columns * (free / strides[i] + 1);
    taps = taps * block[i];
  }
  const Shape& in = node.in(0).dim;
  if (Dim::ProvedDifferent(in[2], columns)) {
    return node.Fail(fmt::format("input {} where the blocks are {}", node.InType(0), columns.ToString()));
  }
  if (!taps.is_constant() || !Divides(in[1], *taps.constant()))
    return node.Fail(fmt::format("blocks of {} in {}", taps.ToString(), node.InType(0)));
  node.out(0).dim[1] = Dim::FloorDiv(in[1], taps);
  return Status::Ok();
}

}  // namespace

Status InferSplit(NodeContext& node) {
  const Known& in = node.in(0);
  size_t axis = 0;
  WF_RETURN_IF_ERROR(node.Axis(node.node.Int("axis", 0), in.dim.size(), axis));
  const auto [given, sizes] = node.FindInts("split", 1);
  const int64_t parts = static_cast<int64_t>(node.node.out.size());
  const Dim& extent = in.dim[axis];
  if (sizes) WF_RETURN_IF_ERROR(CheckSizes(node, *sizes, extent));
  if (!given && node.node.Int("num_outputs", parts) != parts)
    return node.Fail(fmt::format("num_outputs of {} for {} outputs", node.node.Int("num_outputs", parts), parts));
  if (!given && node.node.opset < 18 && !Divides(extent, parts))
    return node.Fail(fmt::format("{} equal parts of {}", parts, node.InType(0)));
  const auto part_of = [&, of_shapes = given && !sizes && node.has_in(1) ? node.Content(1) : std::nullopt](size_t i) {
    if (sizes) return Dim((*sizes)[i]);
    if (!given) return EvenPart(extent, parts, static_cast<int64_t>(i));
    return of_shapes && i < of_shapes->size() ? (*of_shapes)[i] : node.unknown.Next();
  };
  size_t begin = 0;
  for (int64_t i = 0; i < parts; ++i) {
    const Dim part = part_of(static_cast<size_t>(i));
    if (node.has_out(static_cast<size_t>(i))) {
      Known& out = node.out(static_cast<size_t>(i));
      out.dtype = in.dtype;
      out.dim = in.dim;
      out.dim[axis] = part;
      if (in.dim.size() == 1) out.content = PartOf(in.content, begin, part);
    }
    begin += static_cast<size_t>(part.constant().value_or(INT32_MAX));  // behind an unknown part no element is known
  }
  return Status::Ok();
}

Status InferTile(NodeContext& node) {
  const size_t rank = node.rank(0);
  const auto count = node.Length(1);
  if (node.rank(1) != 1 || (count && *count != rank)) return node.Fail(fmt::format("repeats {} for {}", node.InType(1), node.InType(0)));
  node.out(0).dtype = node.in(0).dtype;
  const auto& repeats = node.Content(1);
  if (!repeats) {
    node.out(0).dim = node.Unknowns(rank);
    return Status::Ok();
  }
  Shape shape = node.in(0).dim;
  for (size_t i = 0; i < rank; ++i) {
    const Dim& times = (*repeats)[i];
    if (times.constant().value_or(0) < 0 || times.constant().value_or(0) > kMostRepeats)
      return node.Fail(fmt::format("{} repeats", times.ToString()));
    shape[i] = shape[i] * times;
  }
  node.out(0).dim = std::move(shape);
  return Status::Ok();
}

Status InferExpand(NodeContext& node) {
  const Shape& in = node.in(0).dim;
  const auto count = node.Length(1);
  if (node.rank(1) != 1) return node.Fail(fmt::format("the shape is {}, wanted i64 with one axis", node.InType(1)));
  if (!count) return node.NotBuilt("how many axes its result has is computed from data, which is not supported");
  if (*count > WF_MAX_RANK) return node.NotBuilt(fmt::format("a result of {} axes, {} are the most", *count, int{WF_MAX_RANK}));
  Known& out = node.out(0);
  out.dtype = node.in(0).dtype;
  if (!node.Content(1)) {
    out.dim = node.Unknowns(std::max(*count, in.size()));
    for (size_t i = 0; i < in.size(); ++i) {  // only an extent of 1 expands
      if (in[i].constant().value_or(1) != 1) out.dim[out.dim.size() - in.size() + i] = in[i];
    }
    return Status::Ok();
  }
  const Shape wanted = *node.Content(1);
  for (const Dim& each : wanted) {
    if (each.constant().value_or(0) < 0) return node.Fail(fmt::format("an axis of extent {}", each.ToString()));
  }
  auto shape = BroadcastShape(in, wanted, node.unknown);
  if (!shape) return node.Fail(fmt::format("{} does not expand to {}", node.InType(0), ToString(out.dtype, wanted)));
  out.dim = *std::move(shape);
  const auto extent = Product(out.dim).constant();
  const auto& content = node.in(0).content;
  if (content && content->size() == 1 && extent && *extent <= kMaxContent) out.content.emplace(static_cast<size_t>(*extent), (*content)[0]);
  return Status::Ok();
}

Status InferDepthToSpace(NodeContext& node) {
  Shape dim;
  int64_t block = 0;
  WF_RETURN_IF_ERROR(Blocks(node, dim, block));
  const std::string_view mode = node.node.String("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") return node.Fail(fmt::format("mode `{}`", mode));
  if (!Divides(dim[1], block * block)) return node.Fail(fmt::format("blocks of {} in the channels of {}", block, node.InType(0)));
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = {dim[0], Dim::FloorDiv(dim[1], block * block), dim[2] * block, dim[3] * block};
  return Status::Ok();
}

Status InferSpaceToDepth(NodeContext& node) {
  Shape dim;
  int64_t block = 0;
  WF_RETURN_IF_ERROR(Blocks(node, dim, block));
  if (!Divides(dim[2], block) || !Divides(dim[3], block)) return node.Fail(fmt::format("blocks of {} in {}", block, node.InType(0)));
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = {dim[0], dim[1] * (block * block), Dim::FloorDiv(dim[2], block), Dim::FloorDiv(dim[3], block)};
  return Status::Ok();
}

Status InferReverseSequence(NodeContext& node) {
  const Shape& in = node.in(0).dim;
  const int64_t time = node.node.Int("time_axis", 0), batch = node.node.Int("batch_axis", 1);
  if (in.size() < 2 || std::min(time, batch) < 0 || std::max(time, batch) > 1 || time == batch) {
    return node.Fail(fmt::format("time_axis {} and batch_axis {} of {}", time, batch, node.InType(0)));
  }
  if (node.in(1).dtype != WF_I64) return node.Fail(fmt::format("the lengths are {}, wanted i64", node.InType(1)));
  WF_RETURN_IF_ERROR(node.Rank(1, 1));
  if (Dim::ProvedDifferent(node.in(1).dim[0], in[static_cast<size_t>(batch)])) {
    return node.Fail(fmt::format("lengths {} for {}", node.InType(1), node.InType(0)));
  }
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = in;
  return Status::Ok();
}

Status InferCenterCropPad(NodeContext& node) {
  const size_t rank = node.rank(0);
  std::vector<int64_t> axes(node.node.Ints("axes").begin(), node.node.Ints("axes").end());
  if (node.node.Find("axes") == nullptr) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  const auto count = node.Length(1);
  if (node.rank(1) != 1 || (count && *count != axes.size()))
    return node.Fail(fmt::format("a shape {} for {} axes", node.InType(1), axes.size()));
  Shape shape = node.in(0).dim;
  const auto& wanted = node.Content(1);
  std::vector<bool> seen(rank, false);
  for (size_t i = 0; i < axes.size(); ++i) {
    size_t axis = 0;
    WF_RETURN_IF_ERROR(node.Axis(axes[i], rank, axis));
    if (seen[axis]) return node.Fail(fmt::format("axis {} is cropped twice", axis));
    seen[axis] = true;
    shape[axis] = wanted ? (*wanted)[i] : node.unknown.Next();
  }
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = std::move(shape);
  return Status::Ok();
}

Status InferCol2Im(NodeContext& node) {
  WF_RETURN_IF_ERROR(node.Rank(0, 3));
  const auto axes = node.Length(1);
  if (!axes) return node.NotBuilt("how many axes its result has is computed from data, which is not supported");
  if (*axes < 1 || *axes + 2 > WF_MAX_RANK) return node.NotBuilt(fmt::format("an image of {} axes", *axes));
  Known& out = node.out(0);
  out.dtype = node.in(0).dtype;
  out.dim = node.Unknowns(2 + *axes);
  out.dim[0] = node.in(0).dim[0];
  const auto image = node.Numbers(1), block = node.Numbers(2);
  for (size_t i = 0; image && i < image->size(); ++i) out.dim[2 + i] = Dim((*image)[i]);
  if (!image || !block) return Status::Ok();
  if (block->size() != *axes) return node.Fail(fmt::format("a block of {} axes for an image of {}", block->size(), *axes));
  return CheckColumns(node, *image, *block);
}

Status InferTrilu(NodeContext& node) {
  if (node.rank(0) < 2) return node.Fail(fmt::format("input {} is no matrix", node.InType(0)));
  if (node.has_in(1) && Dim::ProvedDifferent(Product(node.in(1).dim), 1))
    return node.Fail(fmt::format("the diagonal is {}", node.InType(1)));
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = node.in(0).dim;
  return Status::Ok();
}

}  // namespace wf::onnx
