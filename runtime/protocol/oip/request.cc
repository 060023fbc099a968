#include "runtime/protocol/oip/request.h"

#include <algorithm>
#include <charconv>

#include "runtime/base/error_codes.h"
#include "runtime/protocol/codes.h"

namespace wf::oip {
namespace {

using json::View;

// The index of the port of this name, or -1.
int32_t FindPort(const wf_port* ports, uint32_t count, std::string_view name) {
  for (uint32_t i = 0; i < count; ++i) {
    if (View(ports[i].name) == name) return static_cast<int32_t>(i);
  }
  return -1;
}

wf_code UnknownPort(wf_ctx* ctx, std::string_view kind, std::string_view name, const wf_port* ports, uint32_t count) {
  std::vector<std::string_view> names;
  for (uint32_t i = 0; i < count; ++i) names.push_back(View(ports[i].name));
  const std::string_view nearest = base::Nearest(name, names);
  base::TextBuilder message;
  message << "unknown " << kind << " `";
  message.Quote(name) << "`";
  if (!nearest.empty()) message << "; did you mean `" << nearest << "`";
  return json::Record(ctx, code::kInputParams, message);
}

// Does the value of a parameter of sequences ask for one?
bool AsksForSequence(std::string_view name, std::string_view value) {
  if (name == "sequence_id") return !value.empty() && value != "0";
  return (name == "sequence_start" || name == "sequence_end") && value == "true";
}

}  // namespace

void InferRequest::Begin(wf_ctx* scratch, const wf_plan& plan, const wf_workflow& workflow, const uint8_t* text) {
  ctx_ = scratch;
  plan_ = &plan;
  workflow_ = &workflow;
  text_ = text;
  inputs_.assign(workflow.n_in, {});
  asked_.clear();
  parameters_.clear();
  parameter_bytes_ = 0;
  id_ = {};
  timeout_ns_ = 0;
  samples_ = 1;
  stacked_ = binary_ = false;
}

wf_code InferRequest::Finish() { return FindSamples() != 0 ? WF_FAILED : CheckResults(); }

wf_code InferRequest::SetId(std::string_view id) {
  if (id.size() > kMaxIdBytes) return Fail("`id`: more than 1024 bytes");
  id_ = id;
  return 0;
}

wf_code InferRequest::AddParameter(std::string_view name, std::string_view value, bool quoted) {
  if (std::ranges::find(parameters_, name, &bus::Metadata::key) == parameters_.end()) return SetParameter(name, value, quoted);
  base::TextBuilder message;
  message << "parameter `";
  message.Quote(name) << "` is given twice";
  return Fail(message.view());
}

wf_code InferRequest::SetParameter(std::string_view name, std::string_view value, bool quoted) {
  const auto earlier = std::ranges::find(parameters_, name, &bus::Metadata::key);
  if (earlier == parameters_.end()) {
    if (parameters_.size() == kMaxParameters) return Fail("more than 64 parameters");
    parameter_bytes_ += name.size() + value.size();
    parameters_.push_back({name, value});
  } else {
    parameter_bytes_ += value.size() - earlier->value.size();
    earlier->value = value;
  }
  if (parameter_bytes_ > kMaxParameterBytes) return Fail("parameters of more than 65536 bytes; a longer text is an input");
  if (AsksForSequence(name, value)) return NotBuilt("sequences are not built: every call stands alone");
  if (name == "binary_data_output") {
    if (quoted || (value != "true" && value != "false")) return Fail("parameter `binary_data_output` is no bool");
    binary_ = value == "true";
  }
  return name == "timeout" ? ReadTimeout(value, quoted) : 0;
}

wf_code InferRequest::ReadTimeout(std::string_view value, bool quoted) {
  uint64_t us = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), us);
  if (quoted || error != std::errc() || end != value.data() + value.size())
    return Fail("parameter `timeout`: expected a whole number of microseconds");
  timeout_ns_ = static_cast<int64_t>(std::min<uint64_t>(us, INT64_MAX / 1000)) * 1000;
  return 0;
}

wf_code InferRequest::AddInput(const GivenInput& given) {
  const int32_t port = FindPort(workflow_->in, workflow_->n_in, given.name);
  if (port < 0) return UnknownPort(ctx_, "input", given.name, workflow_->in, workflow_->n_in);
  const auto index = static_cast<uint32_t>(port);
  if (inputs_[index].given) return Refuse(index, "is given twice");
  const Shape expected = ShapeOf(*plan_, workflow_->in[index]);
  base::TextBuilder what;
  if (given.datatype != expected.datatype) {
    what << "is of datatype `" << expected.datatype << "`, found `";
    what.Quote(given.datatype) << "`";
    return Refuse(index, what.view());
  }
  if (std::any_of(given.extent, given.extent + given.axes, [](int64_t extent) { return extent < 0; }))
    return Refuse(index, "has an extent below 0");
  if (expected.raw_only() && given.coding != Coding::kRaw) {
    what << "is of datatype `" << expected.datatype << "`, which must be raw: nothing else has a form for it";
    return Refuse(index, what.view());
  }
  inputs_[index] = {given, true, 1};
  inputs_[index].name = inputs_[index].datatype = {};  // of the scratch memory
  return 0;
}

wf_code InferRequest::AddOutput(std::string_view name, AskedOutput asked) {
  const int32_t port = FindPort(workflow_->out, workflow_->n_out, name);
  if (port < 0) return UnknownPort(ctx_, "output", name, workflow_->out, workflow_->n_out);
  asked.result = static_cast<uint32_t>(port);
  for (const AskedOutput& other : asked_) {
    if (other.result != asked.result) continue;
    base::TextBuilder message;
    message << "output `" << View(workflow_->out[port].name) << "` is asked for twice";
    return Fail(message.view());
  }
  asked_.push_back(asked);
  return 0;
}

wf_code InferRequest::NotBuilt(std::string_view what) {
  base::TextBuilder message;
  message << what;
  return json::Record(ctx_, code::kNotImplemented, message);
}

wf_code InferRequest::Fail(std::string_view what) {
  base::TextBuilder message;
  message << what;
  return json::Record(ctx_, code::kInputParams, message);
}

wf_code InferRequest::Refuse(uint32_t port, std::string_view what) {
  base::TextBuilder message;
  message << "input `" << View(workflow_->in[port].name) << "` " << what;
  return json::Record(ctx_, code::kInputParams, message);
}

}  // namespace wf::oip
