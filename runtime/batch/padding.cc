#include "runtime/batch/padding.h"

#include <algorithm>
#include <tuple>

namespace wf::batch {
namespace {

// Nothing where it overflows or is negative.
std::optional<int64_t> ExtentAt(const wf_pad& pad, int64_t value) {
  int64_t numerator = 0;
  if (__builtin_mul_overflow(value, int64_t{pad.mul}, &numerator) || __builtin_add_overflow(numerator, int64_t{pad.add}, &numerator) ||
      numerator < 0)
    return std::nullopt;
  return numerator / pad.div;
}

bool SetAxes(std::span<const wf_pad> axes, size_t port, int64_t value, wf_tensor& tensor) {
  for (const wf_pad& axis : axes) {
    if (axis.port != port) continue;
    const auto extent = ExtentAt(axis, value);
    if (!extent) return false;
    tensor.dim[axis.axis] = *extent;
  }
  return true;
}

auto KeyOf(const wf_pad& pad) { return std::tuple(pad.port, pad.axis, pad.mul, pad.div, pad.add); }

std::strong_ordering Compare(std::span<const wf_pad> a, std::span<const wf_pad> b) {
  return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end(),
                                                [](const wf_pad& x, const wf_pad& y) { return KeyOf(x) <=> KeyOf(y); });
}

}  // namespace

std::optional<int64_t> Padding::SymbolOf(const wf_tensor* const* inputs) const {
  std::optional<int64_t> value;
  for (const wf_pad& pad : pads_) {  // an axis like w/4 does not tell w, one like 2*w+1 does
    if (value || pad.div != 1) continue;
    value = (inputs[pad.port]->dim[pad.axis] - pad.add) / pad.mul;
  }
  if (!value) return std::nullopt;
  for (const wf_pad& pad : pads_)
    if (ExtentAt(pad, *value) != inputs[pad.port]->dim[pad.axis]) return std::nullopt;
  return value;
}

size_t Padding::KindOf(const wf_tensor* const* inputs) const {
  if (!pads()) return 0;
  const auto value = SymbolOf(inputs);
  const auto exists = [&](const wf_pad& crop) { return ExtentAt(crop, *value).has_value(); };
  if (!value || !std::ranges::all_of(crops_, exists)) return kinds();
  return static_cast<size_t>(std::lower_bound(buckets_.begin(), buckets_.end(), *value) - buckets_.begin());
}

bool Padding::SetInput(size_t port, int64_t value, wf_tensor& tensor) const { return SetAxes(pads_, port, value, tensor); }
bool Padding::SetOutput(size_t port, int64_t value, wf_tensor& tensor) const { return SetAxes(crops_, port, value, tensor); }

std::strong_ordering operator<=>(const Padding& a, const Padding& b) {
  if (!a.pads() || !b.pads()) return a.pads() <=> b.pads();
  if (const auto buckets = a.buckets_ <=> b.buckets_; buckets != 0) return buckets;
  const auto pads = Compare(a.pads_, b.pads_);
  return pads != 0 ? pads : Compare(a.crops_, b.crops_);
}

}  // namespace wf::batch
