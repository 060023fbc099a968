#include "runtime/protocol/oip/request.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "runtime/protocol/json/number.h"

namespace wf::oip {

using json::View;

wf_code InferRequest::Read(wf_ctx* scratch, const wf_plan& plan, const wf_workflow& workflow, wf_bytes body) {
  plan_ = &plan;
  workflow_ = &workflow;
  inputs_.assign(workflow.n_in, {});
  wanted_.clear();
  parameters_.clear();
  id_ = {};
  timeout_ns_ = 0;
  samples_ = 1;
  stacked_ = false;
  if (wf_json_open(&in_, scratch, body) != 0 || wf_json_object(&in_) != 0 || ReadMembers() != 0 || wf_json_close(&in_) != 0)
    return WF_FAILED;
  return FindSamples();
}

wf_code InferRequest::ReadMembers() {
  constexpr std::string_view kNames[] = {"id", "parameters", "inputs", "outputs"};
  uint32_t seen = 0;
  int32_t more = 0;
  wf_bytes name;
  while ((more = wf_json_member(&in_, &name)) == 1) {
    const auto index = static_cast<uint32_t>(std::find(std::begin(kNames), std::end(kNames), View(name)) - std::begin(kNames));
    if (index == std::size(kNames)) {  // clients send members of other dialects: they mean nothing here
      if (json::SkipValue(&in_) != 0) return WF_FAILED;
      continue;
    }
    if ((seen >> index & 1) != 0) return wf_json_duplicate(&in_, name);
    seen |= 1U << index;
    wf_code code = 0;
    wf_bytes id{};
    switch (index) {
      case 0:
        code = wf_json_string(&in_, &id);
        id_ = View(id);
        break;
      case 1:
        code = ReadParameters();
        break;
      case 2:
        code = ReadInputs();
        break;
      default:
        code = ReadOutputs();
        break;
    }
    if (code != 0) return code;
  }
  if (more < 0) return WF_FAILED;
  return (seen & 4) != 0 || workflow_->n_in == 0 ? 0 : wf_json_missing(&in_, json::Bytes("inputs"));
}

// Values are kept as text: strings as they are, numbers and bools as written.
wf_code InferRequest::ReadParameters() {
  if (wf_json_object(&in_) != 0) return WF_FAILED;
  int32_t more = 0;
  wf_bytes name;
  while ((more = wf_json_member(&in_, &name)) == 1) {
    wf_bytes text{};
    if (json::Peek(&in_) == '"') {
      if (wf_json_string(&in_, &text) != 0) return WF_FAILED;
    } else {
      const uint8_t next = json::Peek(&in_);
      if (next == '{' || next == '[') return json::Expected(&in_, "a string, number or bool");
      text.ptr = in_.at;
      if (json::SkipValue(&in_) != 0) return WF_FAILED;
      text.len = static_cast<uint64_t>(in_.at - text.ptr);
    }
    parameters_.push_back({View(name), View(text)});
    if (View(name) != "timeout") continue;
    int64_t us = 0;
    const std::string_view value = View(text);
    if (std::from_chars(value.data(), value.data() + value.size(), us).ec != std::errc() || us < 0)
      return json::Refuse(&in_, "expected a whole number of microseconds");
    timeout_ns_ = std::min<int64_t>(us, INT64_MAX / 1000) * 1000;
  }
  return more < 0 ? WF_FAILED : 0;
}

wf_code InferRequest::ReadInputs() {
  if (json::EnterArray(&in_) != 0) return WF_FAILED;
  int32_t more = 0;
  uint64_t n = 0;
  while ((more = json::NextElement(&in_, n++)) == 1) {
    if (ReadInput() != 0) return WF_FAILED;
  }
  return more < 0 ? WF_FAILED : 0;
}

wf_code InferRequest::ReadShape(std::vector<int64_t>* shape) {
  if (json::EnterArray(&in_) != 0) return WF_FAILED;
  int32_t more = 0;
  while ((more = json::NextElement(&in_, shape->size())) == 1) {
    int64_t extent = 0;
    if (wf_json_scalar(&in_, WF_I64, &extent) != 0) return WF_FAILED;
    if (extent < 0) return json::Refuse(&in_, "an extent below 0");
    if (shape->size() > WF_MAX_RANK + 1) return json::Refuse(&in_, "more than 9 axes");
    shape->push_back(extent);
  }
  return more < 0 ? WF_FAILED : 0;
}

wf_code InferRequest::ReadInputParameters(bool* base64) {
  if (wf_json_object(&in_) != 0) return WF_FAILED;
  int32_t more = 0;
  wf_bytes name;
  while ((more = wf_json_member(&in_, &name)) == 1) {
    if (View(name) == "content_type" && json::Peek(&in_) == '"') {
      wf_bytes text{};
      if (wf_json_string(&in_, &text) != 0) return WF_FAILED;
      *base64 = View(text) == "base64";
    } else if (View(name) == "binary_data_size") {
      return json::Refuse(&in_, "binary tensors over REST are not built yet; send `data`");
    } else if (json::SkipValue(&in_) != 0) {
      return WF_FAILED;
    }
  }
  return more < 0 ? WF_FAILED : 0;
}

wf_code InferRequest::ReadInput() {
  Input input;
  input.given = true;
  wf_bytes name{}, datatype{};
  bool has_name = false, has_shape = false;
  if (wf_json_object(&in_) != 0) return WF_FAILED;
  int32_t more = 0;
  wf_bytes member;
  while ((more = wf_json_member(&in_, &member)) == 1) {
    wf_code code = 0;
    if (View(member) == "name") {
      code = wf_json_string(&in_, &name);
      has_name = true;
    } else if (View(member) == "datatype") {
      code = wf_json_string(&in_, &datatype);
    } else if (View(member) == "shape") {
      input.shape.clear();
      code = ReadShape(&input.shape);
      has_shape = true;
    } else if (View(member) == "parameters") {
      code = ReadInputParameters(&input.base64);
    } else if (View(member) == "data") {
      json::SkipSpace(&in_);
      input.data = in_.at;
      code = json::SkipValue(&in_);
      input.data_end = in_.at;
    } else {
      code = json::SkipValue(&in_);
    }
    if (code != 0) return code;
  }
  if (more < 0) return WF_FAILED;
  if (!has_name) return wf_json_missing(&in_, json::Bytes("name"));
  if (!has_shape) return wf_json_missing(&in_, json::Bytes("shape"));
  if (datatype.ptr == nullptr) return wf_json_missing(&in_, json::Bytes("datatype"));
  if (input.data == nullptr) return wf_json_missing(&in_, json::Bytes("data"));
  uint32_t port = 0;
  while (port < workflow_->n_in && View(workflow_->in[port].name) != View(name)) ++port;
  if (port == workflow_->n_in) {
    base::TextBuilder message;
    std::vector<std::string_view> names;
    for (uint32_t i = 0; i < workflow_->n_in; ++i) names.push_back(View(workflow_->in[i].name));
    const std::string_view nearest = base::Nearest(View(name), names);
    message << "unknown input `";
    message.Quote(View(name)) << "`";
    if (!nearest.empty()) message << "; did you mean `" << nearest << "`";
    return json::Record(in_.ctx, json::kInputParams, message);
  }
  if (inputs_[port].given) return Refuse(port, "is given twice");
  const Shape expected = ShapeOf(*plan_, workflow_->in[port]);
  if (View(datatype) != expected.datatype) {
    base::TextBuilder what;
    what << "is of datatype " << expected.datatype << ", found ";
    what.Quote(View(datatype));
    return Refuse(port, what.view());
  }
  inputs_[port] = std::move(input);
  return 0;
}

wf_code InferRequest::ReadOutputs() {
  if (json::EnterArray(&in_) != 0) return WF_FAILED;
  int32_t more = 0;
  uint64_t n = 0;
  wanted_.assign(workflow_->n_out, false);
  while ((more = json::NextElement(&in_, n++)) == 1) {
    if (wf_json_object(&in_) != 0) return WF_FAILED;
    wf_bytes member, name{};
    while ((more = wf_json_member(&in_, &member)) == 1) {
      const wf_code code = View(member) == "name" ? wf_json_string(&in_, &name) : json::SkipValue(&in_);
      if (code != 0) return code;
    }
    if (more < 0) return WF_FAILED;
    if (name.ptr == nullptr) return wf_json_missing(&in_, json::Bytes("name"));
    uint32_t port = 0;
    while (port < workflow_->n_out && View(workflow_->out[port].name) != View(name)) ++port;
    if (port == workflow_->n_out) {
      base::TextBuilder message;
      message << "unknown output `";
      message.Quote(View(name)) << "`";
      return json::Record(in_.ctx, json::kInputParams, message);
    }
    wanted_[port] = true;
  }
  if (more < 0) return WF_FAILED;
  if (n == 1) wanted_.clear();  // an empty list asks for everything, as an absent one does
  return 0;
}

wf_code InferRequest::Refuse(uint32_t port, std::string_view what) {
  base::TextBuilder message;
  message << "input `" << View(workflow_->in[port].name) << "` " << what;
  return json::Record(in_.ctx, json::kInputParams, message);
}

namespace {

bool IsOneScalar(const std::vector<int64_t>& shape) { return shape.size() == 1 && shape[0] == 1; }

}  // namespace

// Whether the shapes carry an axis of samples. A scalar of shape [1] fits both readings, and follows the others.
wf_code InferRequest::FindSamples() {
  bool any_plain = false, any_stacked = false, any_flexible = false;
  for (uint32_t i = 0; i < workflow_->n_in; ++i) {
    if (!inputs_[i].given) continue;
    const Shape shape = ShapeOf(*plan_, workflow_->in[i]);
    const std::vector<int64_t>& given = inputs_[i].shape;
    const bool scalar = shape.rank == 0;
    if (scalar && IsOneScalar(given)) {
      any_flexible = true;
    } else if (given.size() == shape.rank) {
      any_plain = true;
    } else if (given.size() == shape.rank + size_t{1} || (scalar && given.size() == 2 && given[1] == 1)) {
      if (any_stacked && given[0] != static_cast<int64_t>(samples_))
        return Refuse(i, "carries another number of samples than the inputs before it");
      if (given[0] < 1 || given[0] > kMaxSamples) return Refuse(i, "carries no sample, or more than 1024");
      samples_ = static_cast<uint32_t>(given[0]);
      any_stacked = true;
    } else {
      base::TextBuilder what;
      what << "has " << static_cast<uint64_t>(given.size()) << " axes, expected " << static_cast<uint32_t>(shape.rank)
           << ", or one more in front for samples";
      return Refuse(i, what.view());
    }
  }
  if (any_plain && any_stacked) return json::Refuse(&in_, "some inputs carry an axis of samples and others do not");
  stacked_ = any_stacked || (any_flexible && !any_plain);
  for (uint32_t i = 0; i < workflow_->n_in; ++i) {
    const wf_port& port = workflow_->in[i];
    if (!inputs_[i].given) {
      if (port.required != 0) return Refuse(i, "is missing");
      continue;
    }
    if (CheckShape(i, ShapeOf(*plan_, port)) != 0) return WF_FAILED;
  }
  return 0;
}

wf_code InferRequest::CheckShape(uint32_t port, const Shape& shape) {
  Input& input = inputs_[port];
  const bool scalar = shape.rank == 0;
  if (scalar && stacked_ && input.shape[0] != static_cast<int64_t>(samples_))
    return Refuse(port, "carries another number of samples than the others");
  const size_t first = input.shape.size() - std::min<size_t>(input.shape.size(), shape.rank);
  uint64_t elements = 1;
  for (size_t axis = 0; axis < shape.rank; ++axis) {
    const int64_t extent = input.shape[first + axis];
    const int64_t expected = shape.dim == nullptr ? -1 : shape.dim[axis];
    if (expected >= 0 && extent != expected) {
      base::TextBuilder what;
      what << "has extent " << extent << " on axis " << static_cast<uint64_t>(axis) << ", expected " << expected << " of "
           << View(shape.type->name);
      return Refuse(port, what.view());
    }
    // An element takes two bytes of text at least, so no honest shape has more than the body has bytes; this also keeps products small.
    if (__builtin_mul_overflow(elements, static_cast<uint64_t>(extent), &elements))
      return Refuse(port, "has more elements than there can be");
  }
  const auto text = static_cast<uint64_t>(input.data_end - input.data);
  if (elements > text || elements * samples_ > text) return Refuse(port, "has fewer elements in `data` than its shape says");
  input.per_sample = elements;
  return 0;
}

}  // namespace wf::oip
