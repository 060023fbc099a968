#include <algorithm>
#include <cstdint>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {
namespace {

constexpr int64_t kOutside = -1;

// Which pixels of a mask hang together. `labels` holds for a pixel another of its component that does not stand behind it, or itself, or
// kOutside; then the number of its component, 0 outside.
class Components {
 public:
  Components(const wf_tensor& mask, int64_t* labels) : mask_(mask), labels_(labels), width_(mask.dim[1]) {}

  void JoinRow(int64_t y) {
    for (int64_t x = 0; x < width_; ++x) {
      const int64_t at = y * width_ + x;
      labels_[at] = IsIn(y, x) ? at : kOutside;
      if (labels_[at] == kOutside) continue;
      if (IsIn(y, x - 1)) Join(at, at - 1);
      for (int64_t above = x - 1; above <= x + 1; ++above) {
        if (IsIn(y - 1, above)) Join(at, at - width_ + above - x);
      }
    }
  }

  // What stands before a pixel has its number already.
  void NumberRow(int64_t y) {
    for (int64_t at = y * width_; at < (y + 1) * width_; ++at) {
      const int64_t other = labels_[at];
      labels_[at] = other == kOutside ? 0 : other == at ? ++count_ : labels_[other];
    }
  }

  void MeasureRow(int64_t y, int64_t* boxes, int64_t* areas) const {
    for (int64_t x = 0; x < width_; ++x) {
      const int64_t label = labels_[y * width_ + x];
      if (label == 0) continue;
      int64_t* const box = boxes + 4 * (label - 1);
      int64_t& area = areas[label - 1];
      if (area++ == 0) {
        box[0] = x;
        box[1] = y;
        box[2] = x + 1;
      }
      box[0] = std::min(box[0], x);
      box[2] = std::max(box[2], x + 1);
      box[3] = y + 1;
    }
  }

  int64_t count() const { return count_; }

 private:
  bool IsIn(int64_t y, int64_t x) const {
    return y >= 0 && x >= 0 && x < width_ && static_cast<const uint8_t*>(mask_.data)[y * mask_.stride[0] + x] != 0;
  }
  int64_t RootOf(int64_t at) const {
    while (labels_[at] != at) at = labels_[at] = labels_[labels_[at]];
    return at;
  }
  void Join(int64_t one, int64_t other) {
    one = RootOf(one);
    other = RootOf(other);
    labels_[std::max(one, other)] = std::min(one, other);
  }

  const wf_tensor& mask_;
  int64_t* const labels_;
  const int64_t width_;
  int64_t count_ = 0;
};

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_connected_components(wf_ctx* ctx, const wf_tensor* mask, wf_components* found) noexcept {
  using namespace wf::nodes;
  const int64_t shape[] = {mask->dim[0], mask->dim[1]};
  if (!AllocateTensor(ctx, WF_I64, shape, &found->labels)) return WF_FAILED;
  Components components(*mask, static_cast<int64_t*>(found->labels.data));
  for (int64_t y = 0; y < shape[0]; ++y) {
    if (Stopped(ctx)) return WF_FAILED;
    components.JoinRow(y);
  }
  for (int64_t y = 0; y < shape[0]; ++y) {
    if (Stopped(ctx)) return WF_FAILED;
    components.NumberRow(y);
  }
  const int64_t boxes[] = {components.count(), 4};
  if (!AllocateTensor(ctx, WF_I64, boxes, &found->boxes) || !AllocateTensor(ctx, WF_I64, {boxes, 1}, &found->areas)) return WF_FAILED;
  auto* const areas = static_cast<int64_t*>(found->areas.data);
  std::fill_n(areas, components.count(), int64_t{0});
  for (int64_t y = 0; y < shape[0]; ++y) {
    if (Stopped(ctx)) return WF_FAILED;
    components.MeasureRow(y, static_cast<int64_t*>(found->boxes.data), areas);
  }
  return 0;
}
