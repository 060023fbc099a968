// Operators that mostly move elements about, on images in the formats that convolutions like, so that nothing is reordered between them.
#include <algorithm>
#include <numeric>

#include "runtime/kernels/chain.h"
#include "runtime/kernels/derive.h"
#include "runtime/kernels/onednn/layout.h"
#include "runtime/kernels/onednn/library.h"
#include "runtime/kernels/onednn/nan_keeper.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/ref.h"
#include "runtime/kernels/walk.h"

namespace wf::kernels::onednn {
namespace {

using Made = base::Result<std::unique_ptr<Kernel>>;
Made NotHere() { return std::unique_ptr<Kernel>(); }

TensorInfo Seen(const Layout& layout, const TensorInfo& tensor) { return {tensor.dtype, layout.Seen(tensor.dim), nullptr, nullptr}; }

// The operation done by plain code on tensors that lie in this layout.
Made InLayout(base::Result<std::unique_ptr<Kernel>> made, const Layout& layout, const Operation& operation) {
  if (!made.ok() || *made == nullptr) return made;
  for (size_t i = 0; i < operation.in.size(); ++i) (*made)->in_format[i] = layout.Format(operation.in[i].dim);
  (*made)->out_format = layout.Format(operation.out[0].dim);
  return made;
}

}  // namespace

// In the layout that most of the elements have.
Made MakeConcat(const Operation& operation) {
  const size_t axis = std::get<Concat>(operation.params).axis, rank = operation.out[0].dim.size();
  const TensorInfo* largest = nullptr;
  int64_t formatted = 0;
  for (const TensorInfo& in : operation.in) {
    if (in.format == nullptr) continue;
    formatted += in.count();
    if (largest == nullptr || in.count() > largest->count()) largest = &in;
  }
  if (largest == nullptr || 2 * formatted < operation.out[0].count()) return NotHere();
  const bool bf16 = std::all_of(operation.in.begin(), operation.in.end(),
                                [](const TensorInfo& in) { return in.format != nullptr && in.format->is_bf16(); });
  const FormatRef format = bf16 ? FormatFor(*largest, WF_F32) : largest->format;
  const auto layout = format == nullptr ? std::nullopt : LayoutOf(format, largest->dim);
  const auto fits = [&](const TensorInfo& in) { return in.dtype == WF_F32 && in.constant == nullptr && layout->Takes(in.dim); };
  if (!layout || !std::all_of(operation.in.begin(), operation.in.end(), fits)) return NotHere();
  Operation seen{Concat{layout->Axis(axis, rank)}, {}, {Seen(*layout, operation.out[0])}};
  for (const TensorInfo& in : operation.in) seen.in.push_back(Seen(*layout, in));
  if (!bf16) return InLayout(ref::MakeConcat(seen), *layout, operation);
  for (TensorInfo& in : seen.in) in.dtype = WF_BF16;
  seen.out[0].dtype = WF_BF16;
  auto made = InLayout(ref::MakeConcat(seen), *layout, operation);
  if (!made.ok() || *made == nullptr) return made;
  for (size_t i = 0; i < operation.in.size(); ++i)
    (*made)->in_format[i] = FormatFor({WF_F32, operation.in[i].dim, (*made)->in_format[i], nullptr}, WF_BF16);
  (*made)->out_format = FormatFor({WF_F32, operation.out[0].dim, (*made)->out_format, nullptr}, WF_BF16);
  return made;
}

Made MakeResize(const Operation& operation) {
  const Resize& resize = std::get<Resize>(operation.params);
  const TensorInfo &x = operation.in[0], &y = operation.out[0];
  const auto layout = x.format == nullptr ? std::nullopt : LayoutOf(x.format, x.dim);
  const bool plane_by_plane = layout && x.dim[0] == y.dim[0] && x.dim[1] == y.dim[1] && resize.scale[0] == 1 && resize.scale[1] == 1;
  if (!plane_by_plane || resize.from == Resize::From::kCrop || resize.from == Resize::From::kHalfPixelUnshifted) return NotHere();
  const TensorInfo from = Seen(*layout, x);
  Resize seen = resize;
  seen.scale.assign(from.dim.size(), 1);
  for (size_t axis = 2; axis < x.dim.size(); ++axis) seen.scale[layout->Axis(axis, x.dim.size())] = resize.scale[axis];
  seen.region_begin.assign(from.dim.size(), 0);
  seen.region_end.assign(from.dim.size(), 1);
  return InLayout(ref::MakeResize({seen, {from}, {Seen(*layout, y)}}), *layout, operation);
}

namespace {

// A transposed convolution whose filters are as large as its steps: each element of x gives a block of the output of its own.
struct Blocks {
  int64_t m, taps;
  std::vector<int64_t> kernel, spatial;  // spatial: of the input
};

bool GivesBlocks(const ConvTranspose& conv, const Operation& operation) {
  const TensorInfo &x = operation.in[0], &w = operation.in[1], &y = operation.out[0];
  if (conv.group != 1) return false;
  for (size_t i = 0; i < conv.stride.size(); ++i) {
    const int64_t step = conv.stride[i];
    const bool apart = w.dim[2 + i] == step && conv.dilation[i] == 1 && conv.pad_begin[i] == 0 && y.dim[2 + i] == x.dim[2 + i] * step;
    if (!apart) return false;
  }
  return true;
}

// A filter of one point for each tap of each filter: tap by tap, so that what lies side by side stays there.
Operation PointConvolution(const ConvTranspose& conv, const Operation& operation, const Blocks& blocks) {
  const TensorInfo &x = operation.in[0], &w = operation.in[1];
  const int64_t m = blocks.m, taps = blocks.taps, c = x.dim[1];
  const std::vector<int64_t> one(blocks.kernel.size(), 1), zero(one.size(), 0);
  TensorInfo points{WF_F32, {taps * m, c}, nullptr, nullptr};
  points.dim.insert(points.dim.end(), one.begin(), one.end());
  points.constant = Derived(w, "taps in front", w.size_bytes(), [m, taps, c](const uint8_t* elements, uint8_t* turned) {
    const auto* from = reinterpret_cast<const float*>(elements);
    auto* to = reinterpret_cast<float*>(turned);
    for (int64_t row = 0; row < taps * m; ++row) {
      for (int64_t k = 0; k < c; ++k) to[row * c + k] = from[(k * m + row % m) * taps + row / m];
    }
  });
  TensorInfo y{WF_F32, {x.dim[0], taps * m}, nullptr, nullptr};
  y.dim.insert(y.dim.end(), blocks.spatial.begin(), blocks.spatial.end());
  Operation product{Conv{one, one, zero, 1, conv.then}, {x, points}, {y}};
  product.in.resize(operation.in.size());
  if (operation.in.size() > 2 && operation.in[2].dtype != 0) {
    const int64_t bytes = operation.in[2].size_bytes();
    const auto repeat = [bytes, taps](const uint8_t* from, uint8_t* to) {
      for (int64_t tap = 0; tap < taps; ++tap) std::copy_n(from, bytes, to + tap * bytes);
    };
    product.in[2] = {WF_F32, {taps * m}, nullptr, Derived(operation.in[2], "repeated", taps * bytes, repeat)};
  }
  return product;
}

// From [n, taps.., m, s..] as the layout has it to [n, m, (s, taps)..].
Made PutBlocks(const Layout& layout, const Blocks& blocks, int64_t n, uint8_t stored) {
  const size_t spatial = blocks.kernel.size();
  const bool last = layout.order == Order::kChannelsLast;
  std::vector<int64_t> from = {n};
  const auto append = [&](const std::vector<int64_t>& dim) { from.insert(from.end(), dim.begin(), dim.end()); };
  if (last) append(blocks.spatial);
  append(blocks.kernel);
  from.push_back(blocks.m / layout.block);
  if (!last) append(blocks.spatial);
  if (layout.order == Order::kBlocked) from.push_back(layout.block);
  const size_t first_tap = last ? 1 + spatial : 1, channels = first_tap + spatial, first_place = last ? 1 : channels + 1;
  Transpose transpose{{0}};
  if (!last) transpose.perm.push_back(channels);
  for (size_t i = 0; i < spatial; ++i) {
    transpose.perm.push_back(first_place + i);
    transpose.perm.push_back(first_tap + i);
  }
  if (last) transpose.perm.push_back(channels);
  if (layout.order == Order::kBlocked) transpose.perm.push_back(from.size() - 1);
  TensorInfo in{stored, from, nullptr, nullptr}, out{stored, {}, nullptr, nullptr};
  for (const size_t axis : transpose.perm) out.dim.push_back(from[axis]);
  return ref::MakeTranspose({transpose, {in}, {out}});
}

Made MakeOfBlocks(const ConvTranspose& conv, const Operation& operation) {
  const TensorInfo &w = operation.in[1], &y = operation.out[0];
  Blocks blocks{y.dim[1], 1, {w.dim.begin() + 2, w.dim.end()}, {operation.in[0].dim.begin() + 2, operation.in[0].dim.end()}};
  blocks.taps = CountOf(blocks.kernel);
  Operation product = PointConvolution(conv, operation, blocks);
  product.bf16 = operation.bf16;
  product.bf16_out = operation.bf16_out;
  auto points = MakeConv(product);
  if (!points.ok() || *points == nullptr) return points;
  TensorInfo between = product.out[0];
  between.format = (*points)->out_format;
  const uint8_t stored = between.format != nullptr && between.format->is_bf16() ? WF_BF16 : WF_F32;
  const auto layout = LayoutOf(stored == WF_BF16 ? FormatFor(between, WF_F32) : between.format, between.dim);
  if (!layout || blocks.m % layout->block != 0) return NotHere();
  auto put = PutBlocks(*layout, blocks, y.dim[0], stored);
  if (!put.ok()) return put;
  (*put)->in_format[0] = between.format;
  (*put)->out_format = layout->Format(y.dim);
  if (stored == WF_BF16) (*put)->out_format = FormatFor({WF_F32, y.dim, (*put)->out_format, nullptr}, stored);
  return Chained(*std::move(points), between, *std::move(put));
}

// [c, m / group, k...] seen as [group, m / group, c / group, k...].
dnnl_memory_desc_t SeenFilters(const TensorInfo& w, int64_t group) {
  const int64_t taps = CountOf(std::span(w.dim).subspan(2)), c = w.dim[0] / group, m = w.dim[1];
  std::vector<int64_t> dim = {m, c}, stride = {taps, m * taps};
  if (group != 1) {
    dim.insert(dim.begin(), group);
    stride.insert(stride.begin(), c * m * taps);
  }
  dim.insert(dim.end(), w.dim.begin() + 2, w.dim.end());
  for (const int64_t each : StridesOf(std::span(w.dim).subspan(2))) stride.push_back(each);
  return StridedDesc(dim, stride);
}

// In the layout that x has, or with channels last, which is as fast as any and never padded. Null: oneDNN has nothing quick.
PrimitiveDesc DeconvolutionOf(const ConvTranspose& conv, const Operation& operation, const dnnl_memory_desc_t& filters) {
  const TensorInfo &x = operation.in[0], &w = operation.in[1], &y = operation.out[0];
  dnnl_dims_t stride{}, dilation{}, begin{}, end{};
  for (size_t i = 0; i < conv.stride.size(); ++i) {
    stride[i] = conv.stride[i];
    dilation[i] = conv.dilation[i] - 1;
    begin[i] = conv.pad_begin[i];
    end[i] = (x.dim[2 + i] - 1) * stride[i] + conv.dilation[i] * (w.dim[2 + i] - 1) + 1 - y.dim[2 + i] - begin[i];
  }
  const Layout last{Order::kChannelsLast};
  const dnnl_memory_desc_t weights = AnyDesc({filters.dims, static_cast<size_t>(filters.ndims)});
  const auto given = x.format == nullptr ? std::optional(last) : LayoutOf(x.format, x.dim);
  const bool keeps = given && given->Takes(y.dim);
  const dnnl_memory_desc_t wished = x.format != nullptr ? DescOf(x) : DescOf({WF_F32, x.dim, last.Format(x.dim), nullptr});
  for (const bool any : {false, true}) {
    const dnnl_memory_desc_t src = any ? AnyDesc(x.dim) : wished;
    const dnnl_memory_desc_t dst = any || !keeps ? AnyDesc(y.dim) : DescOf({WF_F32, y.dim, given->Format(y.dim), nullptr});
    dnnl_deconvolution_desc_t op{};
    if (Load()->dnnl_dilated_deconvolution_forward_desc_init(&op, dnnl_forward_inference, dnnl_deconvolution_direct, &src, &weights,
                                                             nullptr, &dst, stride, dilation, begin, end) != dnnl_success) {
      continue;
    }
    PrimitiveDesc desc = MakeDesc(&op, MakeAttr({}));
    if (desc == nullptr || ImplName(desc).starts_with("ref")) continue;
    if (LayoutOf(FormatOf(Query(desc, dnnl_query_dst_md), y.dim), y.dim)) return desc;
  }
  return nullptr;
}

}  // namespace

Made MakeConvTranspose(const Operation& operation) {
  const ConvTranspose& conv = std::get<ConvTranspose>(operation.params);
  const TensorInfo &x = operation.in[0], &w = operation.in[1], &y = operation.out[0];
  const bool has_bias = operation.in.size() > 2 && operation.in[2].dtype != 0;
  const bool constant = w.constant != nullptr && (!has_bias || operation.in[2].constant != nullptr);
  if (Load() == nullptr || !constant || x.count() == 0 || w.count() == 0 || y.count() == 0) return NotHere();
  if (GivesBlocks(conv, operation)) return MakeOfBlocks(conv, operation);
  if (x.format != nullptr && x.format->is_bf16()) return NotHere();
  const dnnl_memory_desc_t filters = SeenFilters(w, conv.group);
  const PrimitiveDesc desc = DeconvolutionOf(conv, operation, filters);
  if (desc == nullptr) return NotHere();
  const auto layout = LayoutOf(FormatOf(Query(desc, dnnl_query_dst_md), y.dim), y.dim);
  const dnnl_memory_desc_t packed = Query(desc, dnnl_query_weights_md, 0);
  auto prepared = Pack(*w.constant, filters, packed);
  if (!prepared.ok()) return prepared.status();
  Around around;
  around.tail.then = conv.then;
  if (has_bias) {  // oneDNN's own takes many times as long as the rest
    auto bias = operation.in[2].constant->Load();
    if (!bias.ok()) return bias.status();
    around.tail.bias = *std::move(bias);
    around.tail.channels = layout->ChannelsOf(y.dim);
  }
  return MakePrimitive(desc, {{DNNL_ARG_SRC, 0, Query(desc, dnnl_query_src_md), nullptr}, {DNNL_ARG_WEIGHTS, -1, packed, *prepared}},
                       operation.in.size(), y, std::move(around));
}

}  // namespace wf::kernels::onednn
