#include "runtime/protocol/oip/request.h"

#include <algorithm>
#include <charconv>

#include "runtime/protocol/codes.h"

namespace wf::oip {
namespace {

using json::View;

constexpr std::string_view kNoBinaryAnswer =
    "raw tensors over REST (`binary_data_output`, `binary_data`) are not built yet; answers are JSON";

template <size_t kCount>
uint32_t IndexOf(const std::string_view (&names)[kCount], wf_bytes name) {
  return static_cast<uint32_t>(std::find(std::begin(names), std::end(names), View(name)) - std::begin(names));
}

// Members of one object, each at most once; others are passed over, since clients send those of other dialects.
struct Members {
  wf_json* in;
  uint32_t seen = 0;

  // The index of the next member in `names`, or one of these.
  static constexpr int32_t kEnd = -1, kBroken = -2;
  template <size_t kCount>
  int32_t Next(const std::string_view (&names)[kCount]) {
    while (true) {
      wf_bytes name;
      const int32_t more = wf_json_member(in, &name);
      if (more != 1) return more == 0 ? kEnd : kBroken;
      const uint32_t index = IndexOf(names, name);
      if (index == kCount) {
        if (json::SkipValue(in) != 0) return kBroken;
        continue;
      }
      if ((seen >> index & 1) != 0) {
        wf_json_duplicate(in, name);
        return kBroken;
      }
      seen |= 1U << index;
      return static_cast<int32_t>(index);
    }
  }
  bool had(uint32_t index) const { return (seen >> index & 1) != 0; }
};

// The index of the port of this name, or -1.
int32_t FindPort(const wf_port* ports, uint32_t count, wf_bytes name) {
  for (uint32_t i = 0; i < count; ++i) {
    if (View(ports[i].name) == View(name)) return static_cast<int32_t>(i);
  }
  return -1;
}

wf_code UnknownPort(wf_ctx* ctx, std::string_view kind, wf_bytes name, const wf_port* ports, uint32_t count) {
  std::vector<std::string_view> names;
  for (uint32_t i = 0; i < count; ++i) names.push_back(View(ports[i].name));
  const std::string_view nearest = base::Nearest(View(name), names);
  base::TextBuilder message;
  message << "unknown " << kind << " `";
  message.Quote(View(name)) << "`";
  if (!nearest.empty()) message << "; did you mean `" << nearest << "`";
  return json::Record(ctx, code::kInputParams, message);
}

}  // namespace

wf_code InferRequest::Read(wf_ctx* scratch, const wf_plan& plan, const wf_workflow& workflow, wf_bytes body) {
  plan_ = &plan;
  workflow_ = &workflow;
  inputs_.assign(workflow.n_in, {});
  asked_.clear();
  parameters_.clear();
  id_ = {};
  timeout_ns_ = 0;
  samples_ = 1;
  stacked_ = false;
  if (wf_json_open(&in_, scratch, body) != 0 || wf_json_object(&in_) != 0 || ReadMembers() != 0 || wf_json_close(&in_) != 0)
    return WF_FAILED;
  return FindSamples() != 0 ? WF_FAILED : CheckResults();
}

wf_code InferRequest::ReadMembers() {
  constexpr std::string_view kNames[] = {"id", "parameters", "inputs", "outputs"};
  Members members{&in_};
  int32_t index = 0;
  while ((index = members.Next(kNames)) >= 0) {
    if (ReadMember(static_cast<uint32_t>(index)) != 0) return WF_FAILED;
  }
  if (index == Members::kBroken) return WF_FAILED;
  return members.had(2) || workflow_->n_in == 0 ? 0 : wf_json_missing(&in_, json::Bytes("inputs"));
}

wf_code InferRequest::ReadMember(uint32_t index) {
  wf_bytes id{};
  switch (index) {
    case 0:
      if (wf_json_string(&in_, &id) != 0) return WF_FAILED;
      if (id.len > kMaxIdBytes) return json::Refuse(&in_, "more than 1024 bytes");
      id_ = View(id);
      return 0;
    case 1:
      return ReadParameters();
    case 2:
      return ReadInputs();
    default:
      return ReadOutputs();
  }
}

wf_code InferRequest::ReadParameters() {
  if (wf_json_object(&in_) != 0) return WF_FAILED;
  int32_t more = 0;
  wf_bytes name;
  while ((more = wf_json_member(&in_, &name)) == 1) {
    const auto same = [name](const bus::Metadata& parameter) { return parameter.key == View(name); };
    if (std::any_of(parameters_.begin(), parameters_.end(), same)) return wf_json_duplicate(&in_, name);
    if (parameters_.size() == kMaxParameters) return json::Refuse(&in_, "more than 64 parameters");
    if (ReadParameter(View(name)) != 0) return WF_FAILED;
  }
  return more < 0 ? WF_FAILED : 0;
}

// Values are kept as text: strings as they are, numbers and bools as written.
wf_code InferRequest::ReadParameter(std::string_view name) {
  wf_bytes text{};
  const uint8_t next = json::Peek(&in_);
  const bool is_timeout = name == "timeout";
  if (next == '"') {
    if (is_timeout) return json::Expected(&in_, "a whole number of microseconds");
    if (wf_json_string(&in_, &text) != 0) return WF_FAILED;
  } else if (next == '{' || next == '[' || next == 'n') {
    return json::Expected(&in_, "a string, number or bool");
  } else {
    text.ptr = in_.at;
    if (json::SkipValue(&in_) != 0) return WF_FAILED;
    text.len = static_cast<uint64_t>(in_.at - text.ptr);
  }
  const std::string_view value = View(text);
  if (name == "binary_data_output" && value == "true") return NotBuilt(kNoBinaryAnswer);
  parameters_.push_back({name, value});
  if (!is_timeout) return 0;
  int64_t us = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), us);
  if (error != std::errc() || end != value.data() + value.size() || us < 0)
    return json::Refuse(&in_, "expected a whole number of microseconds");
  timeout_ns_ = std::min<int64_t>(us, INT64_MAX / 1000) * 1000;
  return 0;
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

struct InferRequest::InputTexts {
  wf_bytes name, datatype;
};

wf_code InferRequest::ReadInput() {
  constexpr std::string_view kNames[] = {"name", "datatype", "shape", "data", "parameters"};
  constexpr uint32_t kRequired = 4;
  Input input;
  InputTexts texts{};
  if (wf_json_object(&in_) != 0) return WF_FAILED;
  Members members{&in_};
  int32_t index = 0;
  while ((index = members.Next(kNames)) >= 0) {
    if (ReadInputMember(static_cast<uint32_t>(index), &texts, &input) != 0) return WF_FAILED;
  }
  if (index == Members::kBroken) return WF_FAILED;
  for (uint32_t i = 0; i < kRequired; ++i) {
    if (!members.had(i)) return wf_json_missing(&in_, json::Bytes(kNames[i]));
  }
  return PlaceInput(texts, input);
}

wf_code InferRequest::ReadInputMember(uint32_t index, InputTexts* texts, Input* input) {
  switch (index) {
    case 0:
      return wf_json_string(&in_, &texts->name);
    case 1:
      return wf_json_string(&in_, &texts->datatype);
    case 2:
      return ReadExtents(input);
    case 3:
      if (json::Peek(&in_) != '[') return json::Expected(&in_, "an array");
      input->data = in_.at;
      if (json::SkipValue(&in_) != 0) return WF_FAILED;
      input->data_end = in_.at;
      return 0;
    default:
      return ReadInputParameters(&input->base64);
  }
}

wf_code InferRequest::ReadExtents(Input* input) {
  if (json::EnterArray(&in_) != 0) return WF_FAILED;
  int32_t more = 0;
  while ((more = json::NextElement(&in_, input->axes)) == 1) {
    int64_t extent = 0;
    if (input->axes == kMaxAxes) return json::Refuse(&in_, "more than 9 axes");
    if (wf_json_scalar(&in_, WF_I64, &extent) != 0) return WF_FAILED;
    if (extent < 0) return json::Refuse(&in_, "an extent below 0");
    input->extent[input->axes++] = extent;
  }
  return more < 0 ? WF_FAILED : 0;
}

wf_code InferRequest::ReadInputParameters(bool* base64) {
  constexpr std::string_view kNames[] = {"content_type", "binary_data_size"};
  if (wf_json_object(&in_) != 0) return WF_FAILED;
  Members members{&in_};
  int32_t index = 0;
  while ((index = members.Next(kNames)) >= 0) {
    wf_bytes text{};
    if (index == 1) return NotBuilt("raw tensors over REST (`binary_data_size`) are not built yet; send `data`");
    if (wf_json_string(&in_, &text) != 0) return WF_FAILED;
    *base64 = View(text) == "base64";
  }
  return index == Members::kBroken ? WF_FAILED : 0;
}

wf_code InferRequest::PlaceInput(const InputTexts& texts, const Input& input) {
  const int32_t port = FindPort(workflow_->in, workflow_->n_in, texts.name);
  if (port < 0) return UnknownPort(in_.ctx, "input", texts.name, workflow_->in, workflow_->n_in);
  const auto index = static_cast<uint32_t>(port);
  if (inputs_[index].given) return Refuse(index, "is given twice");
  const Shape expected = ShapeOf(*plan_, workflow_->in[index]);
  if (View(texts.datatype) != expected.datatype) {
    base::TextBuilder what;
    what << "is of datatype `" << expected.datatype << "`, found `";
    what.Quote(View(texts.datatype)) << "`";
    return Refuse(index, what.view());
  }
  if (expected.raw_only()) {
    base::TextBuilder message;
    message << "input `" << View(workflow_->in[index].name) << "` is of datatype `" << expected.datatype
            << "`, which must be raw: JSON has no form for it";
    return json::Record(in_.ctx, code::kNotImplemented, message);
  }
  inputs_[index] = input;
  inputs_[index].given = true;
  return 0;
}

wf_code InferRequest::ReadOutputs() {
  if (json::EnterArray(&in_) != 0) return WF_FAILED;
  int32_t more = 0;
  uint64_t n = 0;
  while ((more = json::NextElement(&in_, n++)) == 1) {
    if (ReadOutput() != 0) return WF_FAILED;
  }
  return more < 0 ? WF_FAILED : 0;
}

wf_code InferRequest::ReadOutput() {
  constexpr std::string_view kNames[] = {"name", "parameters"};
  wf_bytes name{};
  if (wf_json_object(&in_) != 0) return WF_FAILED;
  Members members{&in_};
  int32_t index = 0;
  while ((index = members.Next(kNames)) >= 0) {
    if ((index == 0 ? wf_json_string(&in_, &name) : ReadOutputParameters()) != 0) return WF_FAILED;
  }
  if (index == Members::kBroken) return WF_FAILED;
  if (!members.had(0)) return wf_json_missing(&in_, json::Bytes(kNames[0]));
  const int32_t port = FindPort(workflow_->out, workflow_->n_out, name);
  if (port < 0) return UnknownPort(in_.ctx, "output", name, workflow_->out, workflow_->n_out);
  const auto index_of_port = static_cast<uint32_t>(port);
  if (std::find(asked_.begin(), asked_.end(), index_of_port) != asked_.end()) {
    base::TextBuilder message;
    message << "output `" << View(workflow_->out[port].name) << "` is asked for twice";
    return json::Record(in_.ctx, code::kInputParams, message);
  }
  asked_.push_back(index_of_port);
  return 0;
}

// What changes the answer and is not built is refused; others say nothing.
wf_code InferRequest::ReadOutputParameters() {
  constexpr std::string_view kNames[] = {"classification", "binary_data"};
  if (wf_json_object(&in_) != 0) return WF_FAILED;
  Members members{&in_};
  int32_t index = 0;
  while ((index = members.Next(kNames)) >= 0) {
    if (index == 0) return NotBuilt("answers as classes (`classification`) are not built yet; ask for the output as it is");
    uint8_t binary = 0;
    if (wf_json_scalar(&in_, WF_BOOL, &binary) != 0) return WF_FAILED;
    if (binary != 0) return NotBuilt(kNoBinaryAnswer);
  }
  return index == Members::kBroken ? WF_FAILED : 0;
}

wf_code InferRequest::NotBuilt(std::string_view what) {
  base::TextBuilder message;
  message << what;
  return json::Record(in_.ctx, code::kNotImplemented, message);
}

wf_code InferRequest::Refuse(uint32_t port, std::string_view what) {
  base::TextBuilder message;
  message << "input `" << View(workflow_->in[port].name) << "` " << what;
  return json::Record(in_.ctx, code::kInputParams, message);
}

}  // namespace wf::oip
