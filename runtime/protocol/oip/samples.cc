// What the shapes of a call say: how many samples it carries, and whether each fits its parameter.
#include <algorithm>

#include "runtime/protocol/codes.h"
#include "runtime/protocol/oip/request.h"

namespace wf::oip {
namespace {

using json::View;

constexpr uint64_t kFreeElements = 65'536;  // extents of an empty tensor may say this much, however short the text

}  // namespace

// Whether the shapes carry an axis of samples. A scalar of shape [1] fits both readings, and follows the others.
wf_code InferRequest::FindSamples() {
  int32_t plain = -1, stacked = -1;  // the first input of each kind
  bool flexible = false;
  for (uint32_t i = 0; i < workflow_->n_in; ++i) {
    if (!inputs_[i].given && workflow_->in[i].required != 0) return Refuse(i, "is missing");
    if (inputs_[i].given && FindAxis(i, ShapeOf(*plan_, workflow_->in[i]), &plain, &stacked, &flexible) != 0) return WF_FAILED;
  }
  if (plain >= 0 && stacked >= 0) {
    base::TextBuilder what;
    what << "carries an axis of samples, but input `" << View(workflow_->in[plain].name) << "` does not";
    return Refuse(static_cast<uint32_t>(stacked), what.view());
  }
  stacked_ = stacked >= 0 || (flexible && plain < 0);
  for (uint32_t i = 0; i < workflow_->n_in; ++i) {
    if (inputs_[i].given && CheckShape(i, ShapeOf(*plan_, workflow_->in[i])) != 0) return WF_FAILED;
  }
  return 0;
}

wf_code InferRequest::FindAxis(uint32_t port, const Shape& shape, int32_t* plain, int32_t* stacked, bool* flexible) {
  const Input& input = inputs_[port];
  const bool scalar = shape.rank == 0;
  if (scalar && input.axes == 1 && input.extent[0] == 1) {
    *flexible = true;
    return 0;
  }
  if (input.axes == shape.rank) {
    if (*plain < 0) *plain = static_cast<int32_t>(port);
    return 0;
  }
  base::TextBuilder what;
  if (input.axes != shape.rank + 1U && !(scalar && input.axes == 2 && input.extent[1] == 1)) {
    what << "has " << input.axes << " axes, expected " << static_cast<uint32_t>(shape.rank) << " (" << View(shape.type->name)
         << "), or one more in front for samples";
    return Refuse(port, what.view());
  }
  const int64_t most = workflow_->rows_max == 0 ? kMaxSamples : std::min<int64_t>(kMaxSamples, workflow_->rows_max);
  if (input.extent[0] < 1 || input.extent[0] > most) {
    what << "carries " << input.extent[0] << " samples; a call carries 1 to " << most;
    return Refuse(port, what.view());
  }
  if (*stacked >= 0 && input.extent[0] != static_cast<int64_t>(samples_)) {
    what << "carries " << input.extent[0] << " samples, but input `" << View(workflow_->in[*stacked].name) << "` carries " << samples_;
    return Refuse(port, what.view());
  }
  samples_ = static_cast<uint32_t>(input.extent[0]);
  if (*stacked < 0) *stacked = static_cast<int32_t>(port);
  return 0;
}

wf_code InferRequest::CheckShape(uint32_t port, const Shape& shape) {
  const Input& input = inputs_[port];
  base::TextBuilder what;
  if (shape.rank == 0 && stacked_ && input.extent[0] != static_cast<int64_t>(samples_)) {  // [1] beside others of N
    what << "carries " << input.extent[0] << " samples, but the other inputs carry " << samples_;
    return Refuse(port, what.view());
  }
  for (uint32_t axis = 0; axis < shape.rank; ++axis) {
    const int64_t extent = input.extent[input.axes - shape.rank + axis];
    const int64_t expected = shape.dim == nullptr ? -1 : shape.dim[axis];
    if (expected < 0 || extent == expected) continue;
    what << "has extent " << extent << " on axis " << axis << ", expected " << expected << " (" << View(shape.type->name) << ")";
    return Refuse(port, what.view());
  }
  return CheckCount(port, shape);
}

// No shape has more elements than the text of its data can hold, so memory and time follow the text. Extents beside a 0 count too: a loop
// over the outer ones must end.
wf_code InferRequest::CheckCount(uint32_t port, const Shape& shape) {
  Input& input = inputs_[port];
  uint64_t elements = 1, extents = 1;
  const auto text = static_cast<uint64_t>(input.data_end - input.data);
  bool fits = true;
  for (uint32_t axis = 0; axis < shape.rank; ++axis) {
    const auto extent = static_cast<uint64_t>(input.extent[input.axes - shape.rank + axis]);
    elements *= extent == 0 ? 0 : 1;
    fits = fits && !__builtin_mul_overflow(extents, std::max<uint64_t>(extent, 1), &extents);
  }
  elements *= extents;
  uint64_t all = 0;
  fits = fits && extents <= std::max(text, kFreeElements) && !__builtin_mul_overflow(elements, uint64_t{samples_}, &all) && all <= text / 2;
  if (!fits) return Refuse(port, "has fewer elements in `data` than its shape says");
  input.per_sample = elements;
  return 0;
}

wf_code InferRequest::CheckResults() {
  for (uint32_t i = 0; i < n_answered(); ++i) {
    const wf_port& result = workflow_->out[answered(i)];
    const Shape shape = ResultShapeOf(*plan_, result);
    if (!shape.raw_only()) continue;
    base::TextBuilder message;
    message << "output `" << View(result.name) << "` is of datatype `" << shape.datatype
            << "`, which must be raw: JSON has no form for it; ask for other outputs";
    return json::Record(in_.ctx, code::kNotImplemented, message);
  }
  return 0;
}

}  // namespace wf::oip
