#include <algorithm>
#include <cstring>

#include "runtime/base/base64.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/json/number.h"
#include "runtime/protocol/json/open_axes.h"
#include "runtime/protocol/oip/request.h"

namespace wf::oip {
namespace {

constexpr uint64_t kAlign = WF_ALIGN;
uint64_t Padded(uint64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

std::byte* PlaceOf(const bus::Bus& bus, uint32_t sample, const wf_port& port) {
  return static_cast<std::byte*>(bus.frame(sample)) + bus.plan().slots[port.slot].offset;
}

bool IsAligned(const void* data, uint64_t align) { return reinterpret_cast<uintptr_t>(data) % align == 0; }

// The first byte above 1, or null.
const uint8_t* FindNoBool(const uint8_t* bytes, uint64_t count) {
  uint8_t any = 0;
  for (uint64_t i = 0; i < count; ++i) any |= bytes[i];
  return any <= 1 ? nullptr : std::find_if(bytes, bytes + count, [](uint8_t byte) { return byte > 1; });
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

uint64_t InferRequest::fill_bytes() const {
  constexpr uint64_t kRawBytesPerByte = 16;  // copied or looked at, not converted
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < workflow_->n_in; ++i) {
    const Input& input = inputs_[i];
    const Form form = ShapeOf(*plan_, workflow_->in[i]).form;
    const bool has_parts = form == Form::kJson || form == Form::kStrings || form == Form::kByteses;  // each is read by itself
    const bool converted = has_parts || input.coding == Coding::kJson || input.coding == Coding::kTyped;
    bytes += converted ? input.data.len : input.data.len / kRawBytesPerByte;
  }
  return bytes;
}

wf_code InferRequest::Fill(bus::Bus& bus) {
  for (uint32_t i = 0; i < workflow_->n_in; ++i) {
    if (!inputs_[i].given)
      StoreMissing(bus, i);
    else if (FillPort(bus, i) != 0)
      return WF_FAILED;
  }
  for (uint32_t s = 0; s < samples_; ++s) {
    if (json::FillOpenDefaults(bus.ctx(), *plan_, *workflow_, bus.frame(s)) != 0) return WF_FAILED;
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
  Input& input = inputs_[port];
  const bool tells_none = shape.optional && shape.form != Form::kJson;  // whose text says it
  if (tells_none && shape.is_one() && input.coding == Coding::kJson) {
    input.nulls = static_cast<uint8_t*>(wf_alloc(bus.ctx(), samples_, 1));
    if (input.nulls == nullptr) return WF_FAILED;
    std::memset(input.nulls, 0, samples_);
  }
  const wf_code code = shape.dtype != 0 ? FillNumbers(bus, port, shape) : FillBytes(bus, port, shape);
  if (code != 0 || !tells_none) return code;
  for (uint32_t s = 0; s < samples_; ++s)
    PlaceOf(bus, s, row)[plan_->types[row.type].has_offset] = std::byte{input.nulls == nullptr || input.nulls[s] == 0};
  return 0;
}

wf_json InferRequest::Cursor(bus::Bus& bus, uint32_t port) const {
  const wf_bytes& data = inputs_[port].data;
  wf_json in{};
  in.ctx = bus.ctx();
  in.begin = text_;
  in.at = data.ptr;
  in.end = data.ptr + data.len;
  in.depth = 1;  // so that messages begin with the input's name
  in.path[0] = workflow_->in[port].name;
  return in;
}

// The numbers of all samples, dense; with room behind them to the next multiple of 64 bytes.
const std::byte* InferRequest::ReadNumbers(bus::Bus& bus, uint32_t port, const Shape& shape) {
  const Input& input = inputs_[port];
  const uint64_t count = input.per_sample * samples_;
  if (input.coding == Coding::kRaw) {
    const auto* const bad = shape.dtype != WF_BOOL ? nullptr : FindNoBool(input.data.ptr, input.data.len);
    if (bad == nullptr) return reinterpret_cast<const std::byte*>(input.data.ptr);
    RefuseElement(bus, port, static_cast<uint64_t>(bad - input.data.ptr), "is a bool, and neither 0 nor 1");
    return nullptr;
  }
  auto* all = static_cast<std::byte*>(wf_alloc(bus.ctx(), std::max(Padded(count * json::DtypeBytes(shape.dtype)), kAlign), kAlign));
  if (all == nullptr) return nullptr;
  if (input.coding == Coding::kTyped) return ReadTyped(bus, port, shape.dtype, count, all) == 0 ? all : nullptr;
  wf_json in = Cursor(bus, port);
  return json::ReadShaped(&in, shape.dtype, {{input.extent, input.axes}, count, input.nulls}, all) == 0 ? all : nullptr;
}

// All samples at once; then tensors and lists are views of the whole where it is aligned for them, else of a copy.
wf_code InferRequest::FillNumbers(bus::Bus& bus, uint32_t port, const Shape& shape) {
  const Input& input = inputs_[port];
  const wf_port& row = workflow_->in[port];
  const uint64_t bytes = input.per_sample * json::DtypeBytes(shape.dtype);
  const std::byte* all = ReadNumbers(bus, port, shape);
  if (all == nullptr) return WF_FAILED;
  if (shape.type->kind == WF_T_SCALAR) {
    for (uint32_t s = 0; s < samples_; ++s) std::memcpy(PlaceOf(bus, s, row), all + s * bytes, bytes);
    return 0;
  }
  if (shape.form == Form::kTensor) return StoreTensors(bus, port, shape, all);
  if (!IsAligned(all, json::DtypeBytes(shape.dtype))) {
    auto* copy = static_cast<std::byte*>(wf_alloc(bus.ctx(), bytes * samples_, kAlign));
    if (copy == nullptr) return WF_FAILED;
    all = std::copy(all, all + bytes * samples_, copy) - bytes * samples_;
  }
  for (uint32_t s = 0; s < samples_; ++s) {
    const wf_list list = {const_cast<std::byte*>(all) + s * bytes, input.per_sample};  // nobody writes to a parameter
    std::memcpy(PlaceOf(bus, s, row), &list, sizeof list);
  }
  return 0;
}

wf_code InferRequest::StoreTensors(bus::Bus& bus, uint32_t port, const Shape& shape, const std::byte* all) {
  const Input& input = inputs_[port];
  const uint64_t bytes = input.per_sample * json::DtypeBytes(shape.dtype);
  const uint64_t step = samples_ == 1 ? bytes : Padded(bytes);
  auto* blocks = const_cast<std::byte*>(all);  // nobody writes to a parameter
  if (step != bytes || !IsAligned(all, kAlign)) {
    blocks = static_cast<std::byte*>(wf_alloc(bus.ctx(), std::max(Padded(step * samples_), kAlign), kAlign));
    if (blocks == nullptr) return WF_FAILED;
    for (uint32_t s = 0; s < samples_; ++s) std::copy(all + s * bytes, all + (s + 1) * bytes, blocks + s * step);
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
    std::memcpy(PlaceOf(bus, s, workflow_->in[port]), &tensor, sizeof tensor);
  }
  return 0;
}

wf_code InferRequest::FillBytes(bus::Bus& bus, uint32_t port, const Shape& shape) {
  const Input& input = inputs_[port];
  const uint64_t count = input.per_sample * samples_;
  auto* elements = static_cast<wf_bytes*>(wf_alloc(bus.ctx(), std::max<uint64_t>(count, 1) * sizeof(wf_bytes), alignof(wf_bytes)));
  if (elements == nullptr) return WF_FAILED;
  if (ReadElements(bus, port, count, elements) != 0) return WF_FAILED;
  if (input.base64 && DecodeBase64(bus, port, count, elements) != 0) return WF_FAILED;
  const bool texts = shape.form == Form::kString || shape.form == Form::kStrings;
  if (texts && (input.base64 || input.coding != Coding::kJson) && CheckTexts(bus, port, count, elements) != 0) return WF_FAILED;
  for (uint32_t s = 0; s < samples_; ++s) {
    if (StoreBytes(bus, port, shape, s, elements + s * input.per_sample) != 0) return WF_FAILED;
  }
  return 0;
}

wf_code InferRequest::ReadElements(bus::Bus& bus, uint32_t port, uint64_t count, wf_bytes* elements) {
  const Input& input = inputs_[port];
  switch (input.coding) {
    case Coding::kJson: {
      wf_json in = Cursor(bus, port);
      return json::ReadShapedStrings(&in, {{input.extent, input.axes}, count, input.nulls}, elements);
    }
    case Coding::kRaw:
      return SplitRaw(bus, port, count, elements);
    case Coding::kWhole:
      elements[0] = input.data;
      return 0;
    case Coding::kTyped:
      return ReadTypedBytes(bus, port, count, elements);
  }
  return WF_FAILED;
}

wf_code InferRequest::SplitRaw(bus::Bus& bus, uint32_t port, uint64_t count, wf_bytes* elements) {
  const uint8_t* at = inputs_[port].data.ptr;
  const uint8_t* const end = at + inputs_[port].data.len;
  for (uint64_t i = 0; i < count; ++i) {
    uint32_t size = 0;
    if (static_cast<uint64_t>(end - at) < kLengthBytes)
      return RefuseElement(bus, port, i, "is missing: the raw data ends before its length");
    std::memcpy(&size, at, kLengthBytes);
    at += kLengthBytes;
    if (size > static_cast<uint64_t>(end - at)) {
      base::TextBuilder what;
      what << "says " << base::Counted(size, "byte") << ", but " << static_cast<uint64_t>(end - at) << " of raw data are left";
      return RefuseElement(bus, port, i, what.view());
    }
    elements[i] = {at, size};
    at += size;
  }
  if (at == end) return 0;
  base::TextBuilder message;
  message << "input `" << json::View(workflow_->in[port].name) << "` has " << base::Counted(static_cast<uint64_t>(end - at), "byte")
          << " of raw data behind its last element";
  return json::Record(bus.ctx(), code::kInputParams, message);
}

wf_code InferRequest::RefuseElement(bus::Bus& bus, uint32_t port, uint64_t element, std::string_view what) {
  base::TextBuilder message;
  message << "element " << element << " of input `" << json::View(workflow_->in[port].name) << "`";
  if (samples_ > 1) message << " (sample " << element / inputs_[port].per_sample << ")";
  message << " " << what;
  return json::Record(bus.ctx(), code::kInputParams, message);
}

wf_code InferRequest::DecodeBase64(bus::Bus& bus, uint32_t port, uint64_t count, wf_bytes* elements) {
  for (uint64_t i = 0; i < count; ++i) {
    auto* decoded = static_cast<uint8_t*>(wf_alloc(bus.ctx(), elements[i].len / 4 * 3 + 64, kAlign));
    if (decoded == nullptr) return WF_FAILED;
    const int64_t size = base::DecodeBase64(json::View(elements[i]), decoded);
    if (size < 0) return RefuseElement(bus, port, i, "is no base64 text with padding");
    elements[i] = {decoded, static_cast<uint64_t>(size)};
  }
  return 0;
}

wf_code InferRequest::CheckTexts(bus::Bus& bus, uint32_t port, uint64_t count, const wf_bytes* elements) {
  for (uint64_t i = 0; i < count; ++i) {
    if (base::IsUtf8(json::View(elements[i]))) continue;
    return RefuseElement(bus, port, i, inputs_[port].base64 ? "is a string, and its base64 holds no UTF-8" : "is a string, and no UTF-8");
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
  if (elements->len == 0) {
    base::TextBuilder what;
    what << "is empty, and no JSON of " << json::View(plan_->types[workflow_->in[port].type].name);
    return RefuseElement(bus, port, sample, what.view());
  }
  // The text of a value: with the bytes behind it that readers may touch.
  auto* text = static_cast<uint8_t*>(wf_alloc(bus.ctx(), elements->len + 64, kAlign));
  if (text == nullptr) return WF_FAILED;
  std::memcpy(text, elements->ptr, elements->len);
  std::memset(text + elements->len, 0, 64);
  wf_json in;
  if (wf_json_open(&in, bus.ctx(), {text, elements->len}) != 0) return WF_FAILED;
  in.depth = stacked_ ? 2 : 1;  // messages begin with the input's name, and the sample
  in.path[0] = workflow_->in[port].name;
  in.path[1] = {nullptr, sample + uint64_t{1}};
  if (wf_json_value(&in, plan_->types, workflow_->in[port].type, place) != 0) return WF_FAILED;
  return wf_json_close(&in);
}

}  // namespace wf::oip
