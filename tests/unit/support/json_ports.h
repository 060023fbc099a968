#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/abi/plan.h"
#include "runtime/abi/view.h"
#include "runtime/bus/bus.h"

// The JSON codecs of a workflow, which wfc emits as straight code, here by the tables of its plan.
namespace wf::test {

inline wf_bytes AsBytes(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

inline wf_code ReadPortsAsJson(wf_ctx* ctx, wf_bytes body, void* frame) {
  const bus::Bus& bus = *bus::Context::Of(ctx).bus;
  const wf_plan& plan = bus.plan();
  const wf_workflow& workflow = bus.workflow();
  wf_json in;
  if (wf_json_open(&in, ctx, body) != 0 || wf_json_object(&in) != 0) return WF_FAILED;
  uint32_t seen = 0;
  wf_bytes name;
  int32_t more = 0;
  const auto place = [&](uint32_t i) { return static_cast<std::byte*>(frame) + plan.slots[workflow.in[i].slot].offset; };
  while ((more = wf_json_member(&in, &name)) == 1) {
    uint32_t i = 0;
    while (i < workflow.n_in && abi::View(workflow.in[i].name) != abi::View(name)) ++i;
    if (i == workflow.n_in) return wf_json_unknown(&in, name, workflow.in, workflow.n_in);
    if ((seen >> i & 1) != 0) return wf_json_duplicate(&in, name);
    seen |= 1U << i;
    if (wf_json_value(&in, plan.types, workflow.in[i].type, place(i)) != 0) return WF_FAILED;
  }
  if (more < 0) return WF_FAILED;
  for (uint32_t i = 0; i < workflow.n_in; ++i) {
    if ((seen >> i & 1) != 0) continue;
    if (workflow.in[i].required != 0) return wf_json_missing(&in, workflow.in[i].name);
    const uint32_t size = plan.types[workflow.in[i].type].size;
    if (workflow.in[i].if_missing != nullptr)
      std::memcpy(place(i), workflow.in[i].if_missing, size);
    else
      std::memset(place(i), 0, size);
  }
  return wf_json_close(&in);
}

inline wf_code WritePortsAsJson(wf_ctx* ctx, const void* frame, wf_sink* out) {
  const bus::Bus& bus = *bus::Context::Of(ctx).bus;
  const wf_plan& plan = bus.plan();
  const wf_workflow& workflow = bus.workflow();
  for (uint32_t i = 0; i < workflow.n_out; ++i) {
    wf_put(out, AsBytes(i == 0 ? "{\"" : ",\""));
    wf_put(out, workflow.out[i].name);
    wf_put(out, AsBytes("\":"));
    const void* value = static_cast<const std::byte*>(frame) + plan.slots[workflow.out[i].slot].offset;
    if (const wf_code code = wf_json_put_value(ctx, out, plan.types, workflow.out[i].type, value); code != 0) return code;
  }
  return wf_put(out, AsBytes("}"));
}

}  // namespace wf::test
