// What the shapes of a call say: how many samples it carries, and whether each fits its parameter.
#include <algorithm>

#include "runtime/base/dtype.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/oip/request.h"

namespace wf::oip {
namespace {

using json::View;

constexpr uint64_t kFreeElements = 65'536;  // extents of an empty tensor may say this much, however short the data

// The most elements of BYTES, and of numbers that are not raw, that so many bytes can hold.
uint64_t MostElements(Coding coding, uint64_t bytes) {
  switch (coding) {
    case Coding::kJson:
      return bytes / 2;
    case Coding::kRaw:
      return bytes / kLengthBytes;
    case Coding::kWhole:
      return 1;
    case Coding::kTyped:
      return bytes;
  }
  return 0;
}

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
    what << "has " << input.axes << (input.axes == 1 ? " axis" : " axes") << ", expected " << static_cast<uint32_t>(shape.rank) << " ("
         << View(shape.type->name) << "), or one more in front for samples";
    return Refuse(port, what.view());
  }
  const int64_t most = MostSamples(*workflow_);
  if (input.extent[0] < 1 || input.extent[0] > most) {
    what << "carries " << input.extent[0] << (input.extent[0] == 1 ? " sample" : " samples") << "; a call carries 1 to " << most;
    return Refuse(port, what.view());
  }
  if (*stacked >= 0 && input.extent[0] != static_cast<int64_t>(samples_)) {
    what << "carries " << input.extent[0] << (input.extent[0] == 1 ? " sample" : " samples") << ", but input `"
         << View(workflow_->in[*stacked].name) << "` carries " << samples_;
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
    what << "carries " << input.extent[0] << (input.extent[0] == 1 ? " sample" : " samples") << ", but the other inputs carry " << samples_;
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

// No shape has more elements than its data can hold, so memory and time follow the bytes. Extents beside a 0 count too: a loop over the
// outer ones must end.
wf_code InferRequest::CheckCount(uint32_t port, const Shape& shape) {
  Input& input = inputs_[port];
  uint64_t extents = 1;
  bool fits = true, is_empty = false;
  for (uint32_t axis = 0; axis < shape.rank; ++axis) {
    const auto extent = static_cast<uint64_t>(input.extent[input.axes - shape.rank + axis]);
    is_empty = is_empty || extent == 0;
    fits = fits && !__builtin_mul_overflow(extents, std::max<uint64_t>(extent, 1), &extents);
  }
  const uint64_t elements = is_empty ? 0 : extents;
  uint64_t all = 0;
  fits = fits && extents <= std::max(input.data.len, kFreeElements) && !__builtin_mul_overflow(elements, uint64_t{samples_}, &all);
  if (fits && input.coding == Coding::kRaw && shape.dtype != 0) return CheckRawBytes(port, shape, elements, all);
  if (!fits && is_empty) return Refuse(port, "is empty, and the other extents of its shape are too large");
  if (!fits || all > MostElements(input.coding, input.data.len)) return Refuse(port, "has fewer elements in its data than its shape says");
  if (input.coding == Coding::kWhole && all != 1) return Refuse(port, "is one element as a raw body");
  input.per_sample = elements;
  return 0;
}

wf_code InferRequest::CheckRawBytes(uint32_t port, const Shape& shape, uint64_t per_sample, uint64_t all) {
  Input& input = inputs_[port];
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(all, static_cast<uint64_t>(base::DTypeSize(shape.dtype)), &bytes) || bytes != input.data.len) {
    base::TextBuilder what;
    what << "has " << base::Counted(input.data.len, "byte") << " of raw data, but its shape says " << base::Counted(all, "element")
         << " of " << shape.datatype;
    return Refuse(port, what.view());
  }
  input.per_sample = per_sample;
  return 0;
}

// What nobody can be answered is refused before anything runs.
wf_code InferRequest::CheckResults() {
  for (uint32_t i = 0; i < n_answered(); ++i) {
    const AskedOutput asked = answered(i);
    const wf_port& result = workflow_->out[asked.result];
    const Shape shape = ResultShapeOf(*plan_, result);
    const bool no_classes = asked.classes != 0 && shape.dtype == 0, no_text = asked.classes == 0 && shape.raw_only() && !is_binary(asked);
    if (!no_classes && !no_text) continue;
    base::TextBuilder message;
    message << "output `" << View(result.name) << "` is of datatype `" << shape.datatype << "`"
            << (no_classes ? ", which has no classes" : ", which must be raw; ask for it with `binary_data`, or for other outputs");
    return json::Record(ctx_, code::kInputParams, message);
  }
  return 0;
}

}  // namespace wf::oip
