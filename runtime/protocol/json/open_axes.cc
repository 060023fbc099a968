#include "runtime/protocol/json/open_axes.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>

#include "runtime/base/error_codes.h"
#include "runtime/protocol/json/reader.h"

namespace wf::json {
namespace {

constexpr uint64_t kFreeElements = 65'536;  // extents of an empty tensor may say this much, however short the body is

class OpenAxes {
 public:
  OpenAxes(wf_ctx* ctx, const wf_plan& plan, const wf_workflow& workflow, void* frame, bool shapes_are_stated)
      : ctx_(ctx),
        plan_(plan),
        workflow_(workflow),
        frame_(static_cast<std::byte*>(frame)),
        axes_(workflow.axes, workflow.n_axes),
        shapes_are_stated_(shapes_are_stated) {}

  wf_code Fill(uint64_t most) {
    for (const wf_axis& axis : axes_) {
      if (!IsOpen(axis)) continue;
      const std::optional<int64_t> extent = ExtentFor(axis, ValueOf(axis.symbol));
      if (!extent || *extent == 0) continue;
      wf_tensor& tensor = TensorOf(axis);
      tensor.dim[axis.axis] = *extent;
      if (!SetStrides(tensor, most)) return Refuse(axis);
    }
    return 0;
  }

 private:
  std::byte* SlotOf(const wf_axis& axis) const { return frame_ + plan_.slots[workflow_.in[axis.port].slot].offset; }
  wf_tensor& TensorOf(const wf_axis& axis) const { return *reinterpret_cast<wf_tensor*>(SlotOf(axis) + axis.offset); }

  // Behind an axis that is 0, and not of a default that says it.
  bool IsOpen(const wf_axis& axis) const {
    if (axis.axis == WF_WHOLE) return false;
    const wf_tensor& tensor = TensorOf(axis);
    if (std::find(tensor.dim, tensor.dim + axis.axis, 0) == tensor.dim + axis.axis) return false;
    const auto* const missing = static_cast<const std::byte*>(workflow_.in[axis.port].if_missing);
    const bool is_default = missing != nullptr && reinterpret_cast<const wf_tensor*>(missing + axis.offset)->data == tensor.data;
    return is_default ? axis.open_by_default != 0 : !shapes_are_stated_;
  }

  std::optional<int64_t> Said(const wf_axis& axis) const {
    if (axis.axis != WF_WHOLE) return TensorOf(axis).dim[axis.axis];
    const wf_type& type = plan_.types[workflow_.in[axis.port].type];
    uint64_t bits = 0;
    std::memcpy(&bits, SlotOf(axis), type.size);
    const bool is_signed = type.dtype == WF_I8 || type.dtype == WF_I16 || type.dtype == WF_I32;
    if (is_signed && (bits >> (type.size * 8 - 1)) != 0) return {};
    return bits <= INT64_MAX ? std::optional(static_cast<int64_t>(bits)) : std::nullopt;  // an i64 below 0 is larger
  }

  // By the first parameter that says it; else as its axes allow, and the first that is open is smallest.
  int64_t ValueOf(uint32_t symbol) const {
    int64_t least = 0, most = INT64_MAX;
    const wf_axis* first = nullptr;
    for (const wf_axis& axis : axes_) {
      if (axis.symbol != symbol) continue;
      if (axis.mul > 0 && axis.add < 0) least = std::max(least, -(axis.add + 1) / axis.mul + 1);
      if (axis.mul < 0) most = std::min(most, axis.add / -axis.mul);
      const bool is_open = IsOpen(axis);
      if (is_open && first == nullptr) first = &axis;
      const std::optional<int64_t> said = is_open ? std::nullopt : Said(axis);
      int64_t part = 0;
      if (!said || axis.mul == 0 || __builtin_sub_overflow(*said, axis.add, &part) || part % axis.mul != 0) continue;
      if (part / axis.mul >= 0) return part / axis.mul;
    }
    return first != nullptr && first->mul < 0 ? std::max(least, most) : least;
  }

  static std::optional<int64_t> ExtentFor(const wf_axis& axis, int64_t value) {
    int64_t extent = 0;
    if (__builtin_mul_overflow(value, axis.mul, &extent) || __builtin_add_overflow(extent, axis.add, &extent) || extent < 0) return {};
    return extent;
  }

  static bool SetStrides(wf_tensor& tensor, uint64_t most) {
    uint64_t stride = 1;
    for (uint32_t axis = tensor.rank; axis-- > 0;) {
      tensor.stride[axis] = static_cast<int64_t>(stride);
      if (__builtin_mul_overflow(stride, static_cast<uint64_t>(std::max<int64_t>(tensor.dim[axis], 1)), &stride) || stride > most)
        return false;
    }
    return true;
  }

  wf_code Refuse(const wf_axis& axis) {
    base::TextBuilder message;
    message << "`" << View(workflow_.in[axis.port].name) << "` is empty, and the other extents of its shape are too large";
    return Record(ctx_, code::kInputParams, message);
  }

  wf_ctx* const ctx_;
  const wf_plan& plan_;
  const wf_workflow& workflow_;
  std::byte* const frame_;
  const std::span<const wf_axis> axes_;
  const bool shapes_are_stated_;
};

}  // namespace

wf_code FillOpenAxes(wf_ctx* ctx, const wf_plan& plan, const wf_workflow& workflow, void* frame, uint64_t body_bytes) {
  return OpenAxes(ctx, plan, workflow, frame, false).Fill(std::max(body_bytes, kFreeElements));
}

wf_code FillOpenDefaults(wf_ctx* ctx, const wf_plan& plan, const wf_workflow& workflow, void* frame) {
  return OpenAxes(ctx, plan, workflow, frame, true).Fill(kFreeElements);
}

}  // namespace wf::json
