#include "tests/unit/support/served_plan.h"

#include <charconv>
#include <cstring>
#include <string_view>

#include "runtime/abi/view.h"
#include "runtime/bus/bus.h"
#include "tests/unit/support/plan_builder.h"

namespace wf::test {
namespace {

constexpr size_t kSpaces = 20'000;  // enough to be claimed while it waits to be sent

wf_bytes Text(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }
using wf::abi::View;

wf_code ReadJson(wf_ctx* ctx, wf_bytes body, void* frame) {
  const bus::Bus& bus = *bus::Context::Of(ctx).bus;
  const wf_workflow& workflow = bus.workflow();
  wf_json in;
  if (wf_json_open(&in, ctx, body) != 0 || wf_json_object(&in) != 0) return WF_FAILED;
  bool seen[2] = {};
  wf_bytes name;
  int32_t more = 0;
  while ((more = wf_json_member(&in, &name)) == 1) {
    const int i = View(name) == View(workflow.in[0].name) ? 0 : 1;
    if (View(name) != View(workflow.in[i].name)) return wf_json_unknown(&in, name, workflow.in, workflow.n_in);
    if (seen[i]) return wf_json_duplicate(&in, name);
    seen[i] = true;
    int64_t value = 0;
    if (wf_json_scalar(&in, WF_I64, &value) != 0) return WF_FAILED;
    WriteInt(bus.plan(), workflow.in[i].slot, frame, value);
  }
  if (more < 0) return WF_FAILED;
  for (int i = 0; i < 2; ++i)
    if (!seen[i]) return wf_json_missing(&in, workflow.in[i].name);
  return wf_json_close(&in);
}

wf_code WriteJson(wf_ctx* ctx, const void* frame, wf_sink* out) {
  const bus::Bus& bus = *bus::Context::Of(ctx).bus;
  const int64_t value = ReadValue(bus.plan(), bus.workflow().out[0].slot, frame);
  wf_put(out, Text("{\"value\":"));
  if (value % 8 == 0) {
    void* const spaces = wf_alloc(ctx, kSpaces, 1);
    if (spaces == nullptr) return WF_FAILED;
    std::memset(spaces, ' ', kSpaces);
    wf_put(out, {static_cast<const uint8_t*>(spaces), kSpaces});
  }
  if (const wf_code code = wf_json_put_scalar(ctx, out, WF_I64, &value); code != 0) return code;
  return wf_put(out, Text("}"));
}

}  // namespace

ServedPlan::ServedPlan(const wf_plan& built, uint32_t inflight_max)
    : plan_(built),
      workflow_(built.workflows[0]),
      in_(workflow_.in, workflow_.in + workflow_.n_in),
      out_(workflow_.out, workflow_.out + workflow_.n_out) {
  in_[0].name = Text("a");
  in_[1].name = Text("b");
  in_[0].required = in_[1].required = 1;
  out_[0].name = Text("value");
  workflow_.in = in_.data();
  workflow_.out = out_.data();
  workflow_.read_json = ReadJson;
  workflow_.write_json = WriteJson;
  workflow_.inflight_max = inflight_max;
  plan_.workflows = &workflow_;
}

}  // namespace wf::test
