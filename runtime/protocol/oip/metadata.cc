#include "runtime/protocol/oip/metadata.h"

#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/oip/ports.h"

namespace wf::oip {
namespace {

void Put(wf_sink* out, std::string_view text) { out->Put(text.data(), text.size()); }

void PutPorts(const wf_plan& plan, const wf_port* ports, uint32_t count, wf_sink* out) {
  for (uint32_t i = 0; i < count; ++i) {
    const Shape shape = ShapeOf(plan, ports[i]);
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

void WriteServerMetadata(wf_sink* out) { Put(out, "{\"name\":\"wf\",\"version\":\"0.1.0\",\"extensions\":[\"parameters\"]}"); }

void WriteModelMetadata(const wf_plan& plan, const wf_workflow& workflow, std::string_view name, wf_sink* out) {
  Put(out, "{\"name\":");
  json::PutString(out, name);
  Put(out, ",\"versions\":[\"1\"],\"platform\":\"wf\",\"inputs\":[");
  PutPorts(plan, workflow.in, workflow.n_in, out);
  Put(out, "],\"outputs\":[");
  PutPorts(plan, workflow.out, workflow.n_out, out);
  Put(out, "]}");
}

void WriteModelReady(std::string_view name, bool ready, wf_sink* out) {
  Put(out, "{\"name\":");
  json::PutString(out, name);
  Put(out, ready ? ",\"ready\":true}" : ",\"ready\":false}");
}

void WriteError(int32_t code, std::string_view message, wf_sink* out) {
  Put(out, "{\"error\":");
  json::PutString(out, message);
  base::TextBuilder rest;
  rest << ",\"code\":" << static_cast<int64_t>(code) << "}\n";
  Put(out, rest.view());
}

}  // namespace wf::oip
