#include "runtime/protocol/oip/metadata.h"

#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/oip/ports.h"

namespace wf::oip {
namespace {

void Put(wf_sink* out, std::string_view text) { out->Put(text.data(), text.size()); }

using ReadShape = Shape (*)(const wf_plan&, const wf_port&);

void PutPorts(const wf_plan& plan, const wf_port* ports, uint32_t count, ReadShape shape_of, wf_sink* out) {
  for (uint32_t i = 0; i < count; ++i) {
    const Shape shape = shape_of(plan, ports[i]);
    Put(out, i == 0 ? "{\"name\":" : ",{\"name\":");
    json::PutString(out, json::View(ports[i].name));
    Put(out, ",\"datatype\":\"");
    Put(out, shape.datatype);
    Put(out, "\",\"shape\":[-1");
    for (uint32_t axis = 0; axis < shape.rank; ++axis) {
      base::TextBuilder extent;
      extent << "," << (shape.dim == nullptr ? int64_t{-1} : shape.dim[axis]);
      Put(out, extent.view());
    }
    Put(out, "]}");
  }
}

}  // namespace

void WriteServerMetadata(wf_sink* out) { Put(out, "{\"name\":\"wf\",\"version\":\"" WF_VERSION "\",\"extensions\":[\"parameters\"]}"); }

void WriteModelMetadata(const wf_plan& plan, const wf_workflow& workflow, std::string_view name, std::span<const int64_t> versions,
                        wf_sink* out) {
  Put(out, "{\"name\":");
  json::PutString(out, name);
  Put(out, ",\"versions\":[");
  for (size_t i = 0; i < versions.size(); ++i) {
    base::TextBuilder number;
    number << (i == 0 ? "\"" : ",\"") << versions[i] << "\"";
    Put(out, number.view());
  }
  Put(out, "],\"platform\":\"wf\",\"inputs\":[");
  PutPorts(plan, workflow.in, workflow.n_in, ShapeOf, out);
  Put(out, "],\"outputs\":[");
  PutPorts(plan, workflow.out, workflow.n_out, ResultShapeOf, out);
  Put(out, "]}");
}

void WriteModelReady(std::string_view name, bool ready, wf_sink* out) {
  Put(out, "{\"name\":");
  json::PutString(out, name);
  Put(out, ready ? ",\"ready\":true}" : ",\"ready\":false}");
}

void WriteHealth(std::string_view what, bool good, wf_sink* out) {
  Put(out, "{");
  json::PutString(out, what);
  Put(out, good ? ":true}" : ":false}");
}

void WriteError(const protocol::ErrorText& error, wf_sink* out) {
  Put(out, "{\"error\":");
  json::PutString(out, error.message.empty() ? error.name : error.message);
  base::TextBuilder code;
  code << ",\"code\":" << static_cast<int64_t>(error.code) << ",\"name\":";
  Put(out, code.view());
  json::PutString(out, error.name);
  Put(out, ",\"path\":");
  json::PutString(out, error.path);
  base::TextBuilder ids;
  ids << ",\"data_id\":" << error.data_id << ",\"log_id\":";
  Put(out, ids.view());
  json::PutString(out, error.log_id);
  Put(out, "}\n");
}

int OipStatus(base::StatusCode code) {
  switch (code) {
    case base::kOk:
      return 200;
    case base::kCancelled:
    case base::kInvalidArgument:
    case base::kAlreadyExists:
    case base::kFailedPrecondition:
    case base::kOutOfRange:
      return 400;
    case base::kPermissionDenied:
      return 403;
    case base::kNotFound:
      return 404;
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
