// Services Test and Slow (Sleep, at most 8 in flight).
// A plan written by hand, as wfc would emit it, for a server without wfc: strings, raw bytes, defaults, annotations, failures, large
// answers.
//
//   workflow Greet(name: string) -> (text: string)                        annotate greeted = name; fails 100001 for "nobody"
//   workflow Size(data: bytes, times: i64 = 2, note: string?) -> (size: i64, note: string?)
//   workflow Grow(count: i64) -> (bytes: bytes)                           `count` bytes by reference; 1,000,001 take 20 s to write
//   workflow Sleep(ms: i64) -> (ms: i64)                                  on the pool; looks at the stop flag

#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string_view>

#include "runtime/abi/plan.h"
#include "runtime/abi/view.h"
#include "tests/unit/support/json_ports.h"

namespace {

using wf::abi::View;
wf_bytes Text(std::string_view text) { return wf::test::AsBytes(text); }

struct OptionalString {
  wf_bytes value;
  uint8_t has;
};

enum TypeIndex : uint16_t { kString, kBytes, kI64, kOptString, kTypes };
wf_type types[kTypes] = {};

struct GreetFrame {
  uint16_t countdowns[4];
  wf_bytes name, text;
};
struct SizeFrame {
  uint16_t countdowns[4];
  wf_bytes data;
  int64_t times;
  OptionalString note;
  int64_t size;
};
struct GrowFrame {
  uint16_t countdowns[4];
  int64_t count;
  wf_bytes bytes;
};
struct SleepFrame {
  uint16_t countdowns[4];
  int64_t ms, slept;
};

enum SlotIndex : uint16_t { kName, kText, kData, kTimes, kNote, kSize, kCount, kGrown, kMs, kSlept, kSlots };
wf_slot slots[kSlots] = {};

template <typename Frame>
Frame& Of(void* const* frame) {
  return *static_cast<Frame*>(frame[0]);
}

wf_code Greet(wf_ctx* ctx, void* const* frame) {
  GreetFrame& f = Of<GreetFrame>(frame);
  if (View(f.name) == "nobody") return wf_fail(ctx, 100001, 7, Text("nobody is there"));
  wf_annotate(ctx, Text("greeted"), f.name);
  const wf_type* hole_types[] = {&types[kString]};
  const void* args[] = {&f.name};
  return wf_text(ctx, Text("hello, {}"), hole_types, args, &f.text);
}

wf_code Size(wf_ctx*, void* const* frame) {
  SizeFrame& f = Of<SizeFrame>(frame);
  f.size = static_cast<int64_t>(f.data.len) * f.times;
  return 0;
}

wf_code Grow(wf_ctx* ctx, void* const* frame) {
  GrowFrame& f = Of<GrowFrame>(frame);
  auto* out = static_cast<uint8_t*>(wf_alloc(ctx, static_cast<uint64_t>(f.count), 1));
  if (out == nullptr) return WF_FAILED;
  std::memset(out, 'g', static_cast<size_t>(f.count));
  f.bytes = {out, static_cast<uint64_t>(f.count)};
  return 0;
}

wf_code Sleep(wf_ctx* ctx, void* const* frame) {
  SleepFrame& f = Of<SleepFrame>(frame);
  for (int64_t i = 0; i < f.ms; ++i) {
    if (__atomic_load_n(ctx->stop, __ATOMIC_RELAXED) != 0) return WF_FAILED;
    usleep(1000);
  }
  f.slept = f.ms;
  return 0;
}

wf_port Port(std::string_view name, uint16_t slot, uint16_t type, bool required, const void* if_missing = nullptr) {
  return {Text(name), nullptr, if_missing, slot, type, types[type].dtype, 0, static_cast<uint8_t>(required ? 1 : 0), 0};
}

wf_code WriteGrown(wf_ctx*, const void* frame, wf_sink* out) {
  constexpr uint64_t kSlow = 1'000'001, kPart = 4096;
  const wf_bytes bytes = static_cast<const GrowFrame*>(frame)->bytes;
  wf_put(out, Text("{\"bytes\":\""));
  for (int i = 0; bytes.len == kSlow && i < 20'000; ++i) {
    if (const wf_code code = wf_put(out, {bytes.ptr, kPart}); code != 0) return code;
    usleep(1000);
  }
  wf_put(out, bytes);
  return wf_put(out, Text("\"}"));
}

constexpr int kWorkflows = 4;
wf_workflow workflows[kWorkflows] = {};

const int64_t kTwo = 2;
wf_port in_ports[kWorkflows][3], out_ports[kWorkflows][2];
wf_task tasks[2 * kWorkflows] = {};
wf_region regions[kWorkflows] = {};
wf_node nodes[kWorkflows] = {};
wf_stage stages[kWorkflows] = {};
uint16_t lists[kWorkflows][4] = {};  // first input slot, the slots returned, the return task
const uint16_t waits[2] = {0, 1};

struct Shape {
  std::string_view name;
  wf_run_fn run;
  uint16_t n_in, n_out, first_slot, n_slots, out_slot;
  uint32_t frame_bytes;
  bool blocking;
};
const Shape kShapes[kWorkflows] = {
    {"Greet", Greet, 1, 1, kName, 2, kText, sizeof(GreetFrame), false},
    {"Size", Size, 3, 2, kData, 4, kSize, sizeof(SizeFrame), false},
    {"Grow", Grow, 1, 1, kCount, 2, kGrown, sizeof(GrowFrame), false},
    {"Sleep", Sleep, 1, 1, kMs, 2, kSlept, sizeof(SleepFrame), true},
};

void FillTypesAndSlots() {
  types[kString] = {.kind = WF_T_STRING, .size = 16, .align = 8, .name = Text("string")};
  types[kBytes] = {.kind = WF_T_BYTES, .size = 16, .align = 8, .name = Text("bytes")};
  types[kI64] = {.kind = WF_T_SCALAR, .dtype = WF_I64, .size = 8, .align = 8, .name = Text("i64")};
  types[kOptString] = {.kind = WF_T_OPTIONAL,
                       .element = kString,
                       .size = sizeof(OptionalString),
                       .align = 8,
                       .has_offset = offsetof(OptionalString, has),
                       .name = Text("string?")};
  const auto slot = [](SlotIndex index, size_t offset, TypeIndex type, uint16_t region) {
    slots[index] = {static_cast<uint32_t>(offset), types[type].size, 0, type, region, WF_DYNAMIC, {}};
  };
  slot(kName, offsetof(GreetFrame, name), kString, 0);
  slot(kText, offsetof(GreetFrame, text), kString, 0);
  slot(kData, offsetof(SizeFrame, data), kBytes, 1);
  slot(kTimes, offsetof(SizeFrame, times), kI64, 1);
  slot(kNote, offsetof(SizeFrame, note), kOptString, 1);
  slot(kSize, offsetof(SizeFrame, size), kI64, 1);
  slot(kCount, offsetof(GrowFrame, count), kI64, 2);
  slot(kGrown, offsetof(GrowFrame, bytes), kBytes, 2);
  slot(kMs, offsetof(SleepFrame, ms), kI64, 3);
  slot(kSlept, offsetof(SleepFrame, slept), kI64, 3);
}

void FillPorts() {
  in_ports[0][0] = Port("name", kName, kString, true);
  out_ports[0][0] = Port("text", kText, kString, true);
  in_ports[1][0] = Port("data", kData, kBytes, true);
  in_ports[1][1] = Port("times", kTimes, kI64, false, &kTwo);
  in_ports[1][2] = Port("note", kNote, kOptString, false);
  out_ports[1][0] = Port("size", kSize, kI64, true);
  out_ports[1][1] = Port("note", kNote, kOptString, true);
  in_ports[2][0] = Port("count", kCount, kI64, true);
  out_ports[2][0] = Port("bytes", kGrown, kBytes, true);
  in_ports[3][0] = Port("ms", kMs, kI64, true);
  out_ports[3][0] = Port("ms", kSlept, kI64, true);
}

const wf_declared_error errors[] = {{100001, 5, Text("Nobody")}};

void FillWorkflow(uint16_t w) {
  const Shape& shape = kShapes[w];
  const auto run = static_cast<uint16_t>(2 * w), done = static_cast<uint16_t>(2 * w + 1);
  lists[w][0] = shape.first_slot;
  lists[w][1] = shape.out_slot;
  lists[w][2] = kNote;
  lists[w][3] = done;
  tasks[run] = {.kind = WF_RUN,
                .cost_class = shape.blocking ? uint8_t{WF_COMPUTE} : uint8_t{WF_INLINE},
                .region = w,
                .node = w,
                .policy = WF_NONE,
                .out = shape.out_slot,
                .chain = WF_NONE,
                .n_in = 1,
                .n_next = 1,
                .in = &lists[w][0],
                .next = &lists[w][3],
                .fn = {.run = shape.run},
                .cost_ns = 200,
                .flags = shape.blocking ? uint16_t{WF_BLOCKING} : uint16_t{0}};
  tasks[done] = {.kind = WF_RETURN,
                 .cost_class = WF_INLINE,
                 .region = w,
                 .node = WF_NONE,
                 .policy = WF_NONE,
                 .out = WF_NONE,
                 .chain = WF_NONE,
                 .n_in = shape.n_out,
                 .in = &lists[w][1]};
  regions[w] = {.waits = waits,
                .frame_bytes = shape.frame_bytes,
                .parent = WF_NONE,
                .first_task = run,
                .n_tasks = 2,
                .first_slot = shape.first_slot,
                .n_slots = shape.n_slots,
                .result = WF_NONE,
                .on_error = WF_NONE,
                .node = WF_NONE};
  nodes[w] = {Text(shape.name), 1, w};
  stages[w] = {Text(shape.name), Text("s1")};
  workflows[w] = {.name = Text(shape.name),
                  .service = Text(w == 3 ? "Slow" : "Test"),
                  .in = in_ports[w],
                  .out = out_ports[w],
                  .n_in = shape.n_in,
                  .n_out = shape.n_out,
                  .root = w,
                  .service_index = static_cast<uint16_t>(w == 3 ? 1 : 0),
                  .is_default = static_cast<uint16_t>(w == 0 || w == 3 ? 1 : 0),
                  .body_max = 1 << 20,
                  .inflight_max = w == 3 ? 8U : 256U,
                  .read_json = wf::test::ReadPortsAsJson,
                  .write_json = w == 2 ? WriteGrown : wf::test::WritePortsAsJson};
}

wf_plan MakePlan() {
  FillTypesAndSlots();
  FillPorts();
  for (uint16_t w = 0; w < kWorkflows; ++w) FillWorkflow(w);
  wf_plan plan = {};
  plan.bytes = sizeof plan;
  plan.n_workflows = plan.n_regions = plan.n_nodes = plan.n_stages = kWorkflows;
  plan.n_tasks = 2 * kWorkflows;
  plan.n_slots = kSlots;
  plan.n_types = kTypes;
  plan.n_errors = 1;
  plan.workflows = workflows;
  plan.regions = regions;
  plan.tasks = tasks;
  plan.slots = slots;
  plan.nodes = nodes;
  plan.stages = stages;
  plan.types = types;
  plan.errors = errors;
  return plan;
}

}  // namespace

extern "C" const wf_plan wf_plan_main = MakePlan();
