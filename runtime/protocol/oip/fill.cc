#include <algorithm>
#include <cstring>

#include "runtime/base/error_codes.h"
#include "runtime/protocol/json/number.h"
#include "runtime/protocol/oip/request.h"

namespace wf::oip {
namespace {

constexpr uint64_t kAlign = WF_ALIGN;
uint64_t Padded(uint64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

std::byte* PlaceOf(const bus::Bus& bus, uint32_t sample, const wf_port& port) {
  return static_cast<std::byte*>(bus.frame(sample)) + bus.plan().slots[port.slot].offset;
}

bool Keep(bus::Bus& bus, std::string_view* text) {
  auto* copy = static_cast<char*>(wf_alloc(bus.ctx(), text->size() + 1, 1));
  if (copy == nullptr) return false;
  std::copy(text->begin(), text->end(), copy);
  *text = {copy, text->size()};
  return true;
}

}  // namespace

wf_code InferRequest::KeepTexts(bus::Bus& bus) {
  bool kept = Keep(bus, &id_);
  for (bus::Metadata& parameter : parameters_) kept = kept && Keep(bus, &parameter.key) && Keep(bus, &parameter.value);
  if (kept) return 0;
  id_ = {};
  parameters_.clear();
  return WF_FAILED;
}

wf_code InferRequest::Fill(bus::Bus& bus) {
  for (uint32_t i = 0; i < workflow_->n_in; ++i) {
    if (!inputs_[i].given)
      StoreMissing(bus, i);
    else if (FillPort(bus, i) != 0)
      return WF_FAILED;
  }
  return 0;
}

void InferRequest::StoreMissing(bus::Bus& bus, uint32_t port) {
  const wf_port& row = workflow_->in[port];
  const size_t size = plan_->types[row.type].size;
  for (uint32_t s = 0; s < samples_; ++s) {
    if (row.if_missing != nullptr)
      std::memcpy(PlaceOf(bus, s, row), row.if_missing, size);
    else
      std::memset(PlaceOf(bus, s, row), 0, size);
  }
}

wf_code InferRequest::FillPort(bus::Bus& bus, uint32_t port) {
  const wf_port& row = workflow_->in[port];
  const Shape shape = ShapeOf(*plan_, row);
  wf_json in = in_;
  in.ctx = bus.ctx();
  in.at = inputs_[port].data;
  in.end = inputs_[port].data_end;
  in.depth = 1;  // so that messages begin with the input's name
  in.path[0] = row.name;
  const bool numbers = shape.form == Form::kTensor || shape.form == Form::kScalars;
  const wf_code code = numbers ? FillNumbers(bus, port, shape, &in) : FillBytes(bus, port, shape, &in);
  if (code != 0 || !shape.optional) return code;
  for (uint32_t s = 0; s < samples_; ++s) PlaceOf(bus, s, row)[plan_->types[row.type].has_offset] = std::byte{1};
  return 0;
}

// All samples at once; then each tensor has its own aligned block, lists and scalars are views and copies of the whole.
wf_code InferRequest::FillNumbers(bus::Bus& bus, uint32_t port, const Shape& shape, wf_json* in) {
  const Input& input = inputs_[port];
  const wf_port& row = workflow_->in[port];
  const uint64_t bytes = input.per_sample * json::DtypeBytes(shape.dtype);
  auto* all = static_cast<std::byte*>(wf_alloc(bus.ctx(), std::max(Padded(bytes * samples_), kAlign), kAlign));
  if (all == nullptr || json::ReadShaped(in, shape.dtype, {input.extent, input.axes}, input.per_sample * samples_, all) != 0)
    return WF_FAILED;
  if (shape.type->kind == WF_T_SCALAR) {
    for (uint32_t s = 0; s < samples_; ++s) std::memcpy(PlaceOf(bus, s, row), all + s * bytes, bytes);
    return 0;
  }
  if (shape.form == Form::kScalars) {
    for (uint32_t s = 0; s < samples_; ++s) {
      const wf_list list = {all + s * bytes, input.per_sample};
      std::memcpy(PlaceOf(bus, s, row), &list, sizeof list);
    }
    return 0;
  }
  const uint64_t step = samples_ == 1 ? bytes : Padded(bytes);
  std::byte* blocks = all;
  if (step != bytes) {
    blocks = static_cast<std::byte*>(wf_alloc(bus.ctx(), step * samples_, kAlign));
    if (blocks == nullptr) return WF_FAILED;
    for (uint32_t s = 0; s < samples_; ++s) std::memcpy(blocks + s * step, all + s * bytes, bytes);
  }
  wf_tensor tensor = {};
  tensor.dtype = shape.dtype;
  tensor.rank = shape.rank;
  int64_t stride = 1;
  for (uint32_t axis = shape.rank; axis-- > 0;) {
    tensor.dim[axis] = input.extent[input.axes - shape.rank + axis];
    tensor.stride[axis] = stride;
    stride *= std::max<int64_t>(tensor.dim[axis], 1);
  }
  for (uint32_t s = 0; s < samples_; ++s) {
    tensor.data = blocks + s * step;
    std::memcpy(PlaceOf(bus, s, row), &tensor, sizeof tensor);
  }
  return 0;
}

wf_code InferRequest::FillBytes(bus::Bus& bus, uint32_t port, const Shape& shape, wf_json* in) {
  const Input& input = inputs_[port];
  const uint64_t count = input.per_sample * samples_;
  auto* elements = static_cast<wf_bytes*>(wf_alloc(bus.ctx(), std::max<uint64_t>(count, 1) * sizeof(wf_bytes), alignof(wf_bytes)));
  if (elements == nullptr || json::ReadShapedStrings(in, {input.extent, input.axes}, count, elements) != 0) return WF_FAILED;
  if (input.base64 && DecodeBase64(bus, port, shape, count, elements) != 0) return WF_FAILED;
  for (uint32_t s = 0; s < samples_; ++s) {
    if (StoreBytes(bus, port, shape, s, elements + s * input.per_sample) != 0) return WF_FAILED;
  }
  return 0;
}

wf_code InferRequest::RefuseElement(bus::Bus& bus, uint32_t port, uint64_t element, std::string_view what) {
  base::TextBuilder message;
  message << "element " << element << " of input `" << json::View(workflow_->in[port].name) << "`";
  if (samples_ > 1) message << " (sample " << element / inputs_[port].per_sample << ")";
  message << " " << what;
  return json::Record(bus.ctx(), code::kInputParams, message);
}

wf_code InferRequest::DecodeBase64(bus::Bus& bus, uint32_t port, const Shape& shape, uint64_t count, wf_bytes* elements) {
  const bool texts = shape.form == Form::kString || shape.form == Form::kStrings;
  for (uint64_t i = 0; i < count; ++i) {
    auto* decoded = static_cast<uint8_t*>(wf_alloc(bus.ctx(), elements[i].len / 4 * 3 + 64, kAlign));
    if (decoded == nullptr) return WF_FAILED;
    const int64_t size = json::DecodeBase64(json::View(elements[i]), decoded);
    if (size < 0) return RefuseElement(bus, port, i, "is no base64 text with padding");
    elements[i] = {decoded, static_cast<uint64_t>(size)};
    if (texts && !base::IsUtf8(json::View(elements[i]))) return RefuseElement(bus, port, i, "is a string, and its base64 holds no UTF-8");
  }
  return 0;
}

wf_code InferRequest::StoreBytes(bus::Bus& bus, uint32_t port, const Shape& shape, uint32_t sample, const wf_bytes* elements) {
  std::byte* place = PlaceOf(bus, sample, workflow_->in[port]);
  if (shape.form == Form::kStrings || shape.form == Form::kByteses) {
    const wf_list list = {const_cast<wf_bytes*>(elements), inputs_[port].per_sample};
    std::memcpy(place, &list, sizeof list);
    return 0;
  }
  if (shape.form == Form::kString || shape.form == Form::kBytes) {
    std::memcpy(place, elements, sizeof *elements);
    return 0;
  }
  // The text of a value: with the bytes behind it that readers may touch.
  auto* text = static_cast<uint8_t*>(wf_alloc(bus.ctx(), elements->len + 64, kAlign));
  if (text == nullptr) return WF_FAILED;
  if (elements->len != 0) std::memcpy(text, elements->ptr, elements->len);
  std::memset(text + elements->len, 0, 64);
  wf_json in;
  if (wf_json_open(&in, bus.ctx(), {text, elements->len}) != 0) return WF_FAILED;
  in.depth = stacked_ ? 2 : 1;  // messages begin with the input's name, and the sample
  in.path[0] = workflow_->in[port].name;
  in.path[1] = {nullptr, sample + uint64_t{1}};
  if (wf_json_value(&in, plan_->types, shape.type_index, place) != 0) return WF_FAILED;
  return wf_json_close(&in);
}

}  // namespace wf::oip
