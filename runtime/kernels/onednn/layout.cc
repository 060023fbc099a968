#include "runtime/kernels/onednn/layout.h"

#include <algorithm>

#include "runtime/kernels/onednn/library.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/walk.h"

namespace wf::kernels::onednn {

bool Layout::Takes(const std::vector<int64_t>& dim) const { return dim.size() >= 3 && dim[1] % block == 0; }

std::vector<int64_t> Layout::Seen(const std::vector<int64_t>& dim) const {
  if (order == Order::kRowMajor) return dim;
  std::vector<int64_t> seen = {dim[0]};
  if (order == Order::kBlocked) seen.push_back(dim[1] / block);
  seen.insert(seen.end(), dim.begin() + 2, dim.end());
  seen.push_back(order == Order::kBlocked ? block : dim[1]);
  return seen;
}

size_t Layout::Axis(size_t axis, size_t rank) const {
  if (order != Order::kChannelsLast || axis == 0) return axis;
  return axis == 1 ? rank - 1 : axis - 1;
}

Channels Layout::ChannelsOf(const std::vector<int64_t>& dim) const {
  const int64_t plane = CountOf(std::span(dim).subspan(2));
  if (order == Order::kChannelsLast) return {dim[0] * plane, 1, 1, dim[1]};
  return {dim[0], dim[1] / block, plane, block};
}

FormatRef Layout::Format(const std::vector<int64_t>& dim) const {
  if (order == Order::kRowMajor) return nullptr;
  const std::vector<int64_t> stride = StridesOf(Seen(dim));
  dnnl_memory_desc_t desc = AnyDesc(dim);
  desc.format_kind = dnnl_blocked;
  dnnl_blocking_desc_t& blocking = desc.format_desc.blocking;
  for (size_t axis = 0; axis < dim.size(); ++axis) blocking.strides[axis] = stride[Axis(axis, dim.size())];
  if (order == Order::kBlocked) {
    blocking.inner_nblks = 1;
    blocking.inner_blks[0] = block;
    blocking.inner_idxs[0] = 1;
  }
  return FormatOf(desc, dim);
}

std::optional<Layout> LayoutOf(const FormatRef& format, const std::vector<int64_t>& dim) {
  if (dim.size() < 3) return std::nullopt;
  if (format == nullptr) return Layout{};
  const auto* of_library = dynamic_cast<const DnnlFormat*>(format.get());
  if (of_library == nullptr || of_library->desc().format_kind != dnnl_blocked) return std::nullopt;
  const dnnl_blocking_desc_t& blocking = of_library->desc().format_desc.blocking;
  const Layout layout = blocking.inner_nblks == 0 ? Layout{Order::kChannelsLast} : Layout{Order::kBlocked, blocking.inner_blks[0]};
  if (!layout.Takes(dim)) return std::nullopt;
  const FormatRef same = layout.Format(dim);
  return SameFormat(same, format) ? std::optional(layout) : std::nullopt;
}

FormatRef RowMajor(const std::vector<int64_t>& dim, uint8_t dtype) { return FormatOf(PlainDesc(dim, TypeOf(dtype)), dim); }

FormatRef ChannelsLast(const std::vector<int64_t>& dim, uint8_t dtype) {
  const FormatRef last = Layout{Order::kChannelsLast}.Format(dim);
  return last == nullptr ? RowMajor(dim, dtype) : FormatFor({WF_F32, dim, last, nullptr}, dtype);  // null: of one point each
}

}  // namespace wf::kernels::onednn
