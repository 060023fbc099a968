#include "runtime/protocol/oip/metadata.h"

#include <algorithm>
#include <cmath>

#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/oip/ports.h"
#include "runtime/protocol/oip/request.h"

namespace wf::oip {
namespace {

// A number as the text that the protocol wants for versions.
class VersionText {
 public:
  explicit VersionText(int64_t version) { text_ << version; }
  std::string_view view() const { return text_.view(); }

 private:
  base::TextBuilder text_;
};

using ReadShape = Shape (*)(const wf_plan&, const wf_port&);

int64_t ExtentOf(const Shape& shape, uint32_t axis) { return shape.dim == nullptr ? int64_t{-1} : shape.dim[axis]; }

// Inputs without axes are told as `[-1, 1]`, one of the two shapes that they may come in and that of the configuration: clients that drop
// the axis of samples (perf_analyzer) take an empty shape for a mistake. Outputs are told as they are answered.
void PutPorts(Fields& fields, Key key, const wf_plan& plan, std::span<const wf_port> ports, ReadShape shape_of) {
  const bool inputs = key.name == "inputs";
  fields.BeginList(key);
  for (const wf_port& port : ports) {
    const Shape shape = shape_of(plan, port);
    int64_t extents[kMaxAxes] = {-1, 1};
    for (uint32_t axis = 0; axis < shape.rank; ++axis) extents[axis + 1] = ExtentOf(shape, axis);
    const uint32_t axes = inputs ? std::max<uint32_t>(shape.rank, 1) : shape.rank;
    fields.BeginElement();
    fields.Text({"name", 1}, json::View(port.name));
    fields.Text({"datatype", 2}, shape.datatype);
    fields.Integers({"shape", 3}, {extents, axes + 1});
    fields.EndElement();
  }
  fields.EndList();
}

struct ConfigType {
  std::string_view datatype, name;
  uint32_t number;
};

// Of the enumeration DataType of model configurations.
ConfigType ConfigTypeOf(std::string_view datatype) {
  constexpr ConfigType kTypes[] = {
      {"BOOL", "TYPE_BOOL", 1},     {"UINT8", "TYPE_UINT8", 2}, {"UINT16", "TYPE_UINT16", 3}, {"UINT32", "TYPE_UINT32", 4},
      {"UINT64", "TYPE_UINT64", 5}, {"INT8", "TYPE_INT8", 6},   {"INT16", "TYPE_INT16", 7},   {"INT32", "TYPE_INT32", 8},
      {"INT64", "TYPE_INT64", 9},   {"FP16", "TYPE_FP16", 10},  {"FP32", "TYPE_FP32", 11},    {"FP64", "TYPE_FP64", 12},
      {"BYTES", "TYPE_STRING", 13}, {"BF16", "TYPE_BF16", 14},
  };
  const auto* const found =
      std::find_if(std::begin(kTypes), std::end(kTypes), [datatype](const ConfigType& row) { return row.datatype == datatype; });
  return found == std::end(kTypes) ? ConfigType{datatype, "TYPE_INVALID", 0} : *found;
}

struct ConfigPorts {
  Key key;
  uint32_t dims;  // the field's number
  bool inputs;
};

void PutConfigPorts(Fields& fields, const ConfigPorts& kind, const wf_plan& plan, std::span<const wf_port> ports, ReadShape shape_of) {
  fields.BeginList(kind.key);
  for (const wf_port& port : ports) {
    const Shape shape = shape_of(plan, port);
    const ConfigType type = ConfigTypeOf(shape.datatype);
    int64_t extents[WF_MAX_RANK] = {1};
    for (uint32_t axis = 0; axis < shape.rank; ++axis) extents[axis] = ExtentOf(shape, axis);
    fields.BeginElement();
    fields.Text({"name", 1}, json::View(port.name));
    fields.Choice({"data_type", 2}, type.name, type.number);
    fields.Integers({"dims", kind.dims}, {extents, std::max<uint32_t>(shape.rank, 1)});
    if (shape.rank == 0) {
      fields.Begin({"reshape", 5});
      fields.Integers({"shape", 1}, {});
      fields.End();
    }
    if (kind.inputs && port.required == 0) fields.Bool({"optional", 8}, true);
    fields.EndElement();
  }
  fields.EndList();
}

int64_t Rounded(double count) { return std::llround(count); }

void PutDuration(Fields& fields, Key key, const Statistics::Duration& duration) {
  fields.Begin(key);
  fields.Integer({"count", 1}, static_cast<int64_t>(duration.count));
  fields.Integer({"ns", 2}, static_cast<int64_t>(duration.ns));
  fields.End();
}

}  // namespace

void PutServerMetadata(Fields& fields) {
  // By Triton's names. Not among them: `sequence`, `schedule_policy` (a call has no priority), shared memory, `unload_dependents`.
  constexpr std::string_view kExtensions[] = {"binary_tensor_data", "classification", "logging",    "model_configuration",
                                              "model_repository",   "parameters",     "statistics", "trace"};
  fields.Text({"name", 1}, "wf");
  fields.Text({"version", 2}, WF_VERSION);
  fields.Texts({"extensions", 3}, kExtensions);
}

void PutModelReady(Fields& fields, std::string_view name, bool ready) {
  fields.Text({"name"}, name);
  fields.Bool({"ready", 1}, ready);
}

void PutModelMetadata(Fields& fields, const wf_plan& plan, const ModelFacts& model) {
  const wf_workflow& workflow = *model.workflow;
  fields.Text({"name", 1}, model.name);
  std::vector<VersionText> versions(model.versions.begin(), model.versions.end());
  std::vector<std::string_view> texts;
  for (const VersionText& version : versions) texts.push_back(version.view());
  fields.Texts({"versions", 2}, texts);
  fields.Text({"platform", 3}, "wf");
  PutPorts(fields, {"inputs", 4}, plan, {workflow.in, workflow.n_in}, ShapeOf);
  PutPorts(fields, {"outputs", 5}, plan, {workflow.out, workflow.n_out}, ResultShapeOf);
}

void PutModelConfig(Fields& fields, const wf_plan& plan, const ModelFacts& model) {
  const wf_workflow& workflow = *model.workflow;
  fields.Text({"name", 1}, model.name);
  fields.Text({"platform", 2}, "wf");
  fields.Text({"backend", 17}, "wf");
  fields.Begin({"version_policy", 3});
  fields.Begin({"specific", 3});
  fields.Integers({"versions", 1}, model.versions);
  fields.End();
  fields.End();
  fields.Integer({"max_batch_size", 4}, MostSamples(workflow));
  PutConfigPorts(fields, {{"input", 5}, 4, true}, plan, {workflow.in, workflow.n_in}, ShapeOf);
  PutConfigPorts(fields, {{"output", 6}, 3, false}, plan, {workflow.out, workflow.n_out}, ResultShapeOf);
}

// Every call that succeeds counts in each part, as Triton has it: perf_analyzer looks for the version whose queue grows, and ends where the
// counts of the parts differ.
void PutStatistics(Fields& fields, std::string_view name, int64_t version, const Statistics& statistics) {
  const uint64_t calls = statistics.success.count;
  Statistics::Parts all = statistics.of_others;
  for (const auto& [samples, parts] : statistics.by_samples) all.Add(parts);
  fields.BeginElement();
  fields.Text({"name", 1}, name);
  fields.Text({"version", 2}, VersionText(version).view());
  fields.Integer({"last_inference", 3}, static_cast<int64_t>(statistics.last_ms));
  fields.Integer({"inference_count", 4}, static_cast<int64_t>(statistics.inferences));
  fields.Integer({"execution_count", 5}, Rounded(all.count));
  fields.Begin({"inference_stats", 6});
  PutDuration(fields, {"success", 1}, statistics.success);
  PutDuration(fields, {"fail", 2}, statistics.fail);
  PutDuration(fields, {"queue", 3}, {calls, statistics.queue_ns});
  PutDuration(fields, {"compute_input", 4}, {calls, all.input_ns});
  PutDuration(fields, {"compute_infer", 5}, {calls, statistics.compute_ns});
  PutDuration(fields, {"compute_output", 6}, {calls, all.output_ns});
  PutDuration(fields, {"cache_hit", 7}, {});  // there is no cache of answers
  PutDuration(fields, {"cache_miss", 8}, {});
  fields.End();
  fields.BeginList({"batch_stats", 7});
  for (const auto& [samples, parts] : statistics.by_samples) {
    fields.BeginElement();
    const auto count = static_cast<uint64_t>(Rounded(parts.count));
    fields.Integer({"batch_size", 1}, samples);
    PutDuration(fields, {"compute_input", 2}, {count, parts.input_ns});
    PutDuration(fields, {"compute_infer", 3}, {count, parts.compute_ns});
    PutDuration(fields, {"compute_output", 4}, {count, parts.output_ns});
    fields.EndElement();
  }
  fields.EndList();
  fields.EndElement();
}

void PutIndex(Fields& fields, const ModelFacts& model) {
  for (const int64_t version : model.versions) {
    fields.BeginElement();
    fields.Text({"name", 1}, model.name);
    fields.Text({"version", 2}, VersionText(version).view());
    fields.Text({"state", 3}, model.ready ? "READY" : "UNAVAILABLE");
    fields.Text({"reason", 4}, model.ready ? "" : "the server starts or stops");
    fields.EndElement();
  }
}

void WriteError(const protocol::ErrorText& error, wf_sink* out) {
  out->Put("{\"error\":");
  json::PutString(out, error.text());
  base::TextBuilder code;
  code << ",\"code\":" << static_cast<int64_t>(error.code) << ",\"name\":";
  out->Put(code.view());
  json::PutString(out, error.name);
  out->Put(",\"path\":");
  json::PutString(out, error.path);
  base::TextBuilder ids;
  ids << ",\"data_id\":" << error.data_id << ",\"log_id\":";
  out->Put(ids.view());
  json::PutString(out, error.log_id);
  out->Put("}\n");
}

int OipStatus(base::StatusCode code) {
  switch (code) {
    case base::kOk:
      return 200;
    case base::kCancelled:
    case base::kInvalidArgument:
    case base::kAborted:
    case base::kAlreadyExists:
    case base::kFailedPrecondition:
    case base::kOutOfRange:
      return 400;
    case base::kUnauthenticated:
      return 401;
    case base::kPermissionDenied:
      return 403;
    case base::kNotFound:
      return 404;
    case base::kDataLoss:
    case base::kInternal:
    case base::kUnknown:
      return 500;
    case base::kUnimplemented:
      return 501;
    case base::kDeadlineExceeded:
    case base::kResourceExhausted:
    case base::kUnavailable:
      return 503;
  }
  return 500;
}

}  // namespace wf::oip
