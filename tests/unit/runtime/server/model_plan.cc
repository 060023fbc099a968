#include "tests/unit/runtime/server/model_plan.h"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/runtime/onnx/builder.h"
#include "tests/unit/support/json_ports.h"

namespace wf::server {
namespace {

constexpr std::string_view kFolder = "scale";
constexpr int kWidth = 4;

wf_bytes Text(std::string_view text) { return test::AsBytes(text); }

struct ScoreFrame {
  uint16_t countdowns[4];
  wf_tensor x, doubled, scaled, y;
};
struct ScaleFrame {
  uint16_t countdowns[4];
  wf_tensor x, y;
};

enum : uint16_t { kX, kDoubled, kScaled, kY, kModelX, kModelY, kSlots };
enum : uint16_t { kDouble, kCall, kHalve, kReturn, kModelCall, kModelReturn, kTasks };
enum : uint16_t { kScore, kScale, kWorkflows };  // and their regions

const int64_t width[] = {kWidth};
const wf_type types[] = {
    {.kind = WF_T_TENSOR, .dtype = WF_F32, .rank = 1, .size = sizeof(wf_tensor), .align = 8, .dim = width, .name = Text("f32[4]")}};

wf_slot Slot(size_t offset, uint16_t region, uint8_t store = WF_DYNAMIC) {
  return {static_cast<uint32_t>(offset), sizeof(wf_tensor), 0, 0, region, store, {}};
}
const wf_slot slots[kSlots] = {Slot(offsetof(ScoreFrame, x), kScore),      Slot(offsetof(ScoreFrame, doubled), kScore, WF_STAGED),
                               Slot(offsetof(ScoreFrame, scaled), kScore), Slot(offsetof(ScoreFrame, y), kScore),
                               Slot(offsetof(ScaleFrame, x), kScale),      Slot(offsetof(ScaleFrame, y), kScale)};

wf_code Times(wf_ctx* ctx, void* const* frame, uint16_t from, uint16_t to, float factor) {
  const auto tensor = [frame](uint16_t slot) {
    return reinterpret_cast<wf_tensor*>(static_cast<std::byte*>(frame[0]) + slots[slot].offset);
  };
  const wf_tensor& in = *tensor(from);
  wf_tensor& out = *tensor(to);
  out.dtype = WF_F32;
  out.rank = 1;
  out.dim[0] = in.dim[0];
  if (wf_out(ctx, frame, to) != 0) return WF_FAILED;
  for (int64_t i = 0; i < in.dim[0]; ++i) static_cast<float*>(out.data)[i] = static_cast<const float*>(in.data)[i] * factor;
  return 0;
}
wf_code Double(wf_ctx* ctx, void* const* frame) { return Times(ctx, frame, kX, kDoubled, 2); }
wf_code Halve(wf_ctx* ctx, void* const* frame) { return Times(ctx, frame, kScaled, kY, 0.5F); }

// The numbers of slots and tasks, each a list of one.
const uint16_t one[] = {0, 1, 2, 3, 4, 5};

wf_task Body(wf_run_fn run, uint16_t in, uint16_t out, uint16_t node) {
  return {.kind = WF_RUN,
          .cost_class = WF_COMPUTE,
          .region = kScore,
          .node = node,
          .policy = WF_NONE,
          .out = out,
          .chain = node == kDouble ? uint16_t{kCall} : uint16_t{WF_NONE},
          .n_in = 1,
          .n_next = 1,
          .in = &one[in],
          .next = &one[node + 1],
          .fn = {.run = run},
          .cost_ns = 300};
}
wf_task Call(uint16_t region, uint16_t in, uint16_t out, uint16_t self) {
  return {.kind = WF_MODEL,
          .cost_class = WF_COMPUTE,
          .region = region,
          .node = region == kScore ? uint16_t{kCall} : uint16_t{3},
          .policy = region == kScore ? uint16_t{0} : uint16_t{WF_NONE},
          .out = out,
          .chain = WF_NONE,
          .n_in = 1,
          .n_next = 1,
          .in = &one[in],
          .next = &one[self + 1]};
}
wf_task Return(uint16_t region, uint16_t in) {
  return {
      .kind = WF_RETURN, .region = region, .node = WF_NONE, .policy = WF_NONE, .out = WF_NONE, .chain = WF_NONE, .n_in = 1, .in = &one[in]};
}
const wf_task tasks[kTasks] = {Body(Double, kX, kDoubled, kDouble),        Call(kScore, kDoubled, kScaled, kCall),
                               Body(Halve, kScaled, kY, kHalve),           Return(kScore, kY),
                               Call(kScale, kModelX, kModelY, kModelCall), Return(kScale, kModelY)};

const uint16_t waits[] = {0, 1, 1, 1};
wf_region Region(uint32_t frame_bytes, uint16_t first_task, uint16_t n_tasks, uint16_t first_slot, uint16_t n_slots) {
  return {.waits = waits,
          .frame_bytes = frame_bytes,
          .parent = WF_NONE,
          .first_task = first_task,
          .n_tasks = n_tasks,
          .first_slot = first_slot,
          .n_slots = n_slots,
          .result = WF_NONE,
          .on_error = WF_NONE,
          .node = WF_NONE};
}
const wf_region regions[kWorkflows] = {Region(sizeof(ScoreFrame), kDouble, 4, kX, 4),
                                       Region(sizeof(ScaleFrame), kModelCall, 2, kModelX, 2)};

const wf_stage stages[] = {{Text("Score"), Text("s1")}, {Text("Scale"), Text("s1")}};
const wf_node nodes[] = {{Text("Score/doubled"), 1, 0}, {Text("Score/scaled"), 2, 0}, {Text("Score/y"), 3, 0}, {Text("Scale"), 4, 1}};
const wf_policy policies[] = {{.delay_ns = 1'000'000, .batch_max = 8, .queue_max = 4096, .instances = 2, .priority = WF_NORMAL}};

wf_port Port(std::string_view name, uint16_t slot) { return {Text(name), width, nullptr, slot, 0, WF_F32, 1, 1, 0}; }
const wf_port model_ports[] = {Port("x", WF_NONE), Port("y", WF_NONE)};
const int8_t batch_axis[] = {0, 0};
const wf_model models[] = {{.name = Text("Scale"),
                            .path = Text(kFolder),
                            .in = &model_ports[0],
                            .out = &model_ports[1],
                            .batch_axis = batch_axis,
                            .n_in = 1,
                            .n_out = 1,
                            .version_policy = WF_ALL,
                            .batched = 1,
                            .published = 1}};

const wf_port ports[kWorkflows][2] = {{Port("x", kX), Port("y", kY)}, {Port("x", kModelX), Port("y", kModelY)}};
wf_workflow Workflow(uint16_t id, std::string_view name) {
  return {.name = Text(name),
          .service = Text("Rows"),
          .in = &ports[id][0],
          .out = &ports[id][1],
          .n_in = 1,
          .n_out = 1,
          .root = id,
          .is_default = id == kScore ? uint16_t{1} : uint16_t{0},
          .is_model = id == kScale ? uint16_t{1} : uint16_t{0},
          .inflight_max = 4096,
          .read_json = test::ReadPortsAsJson,
          .write_json = test::WritePortsAsJson};
}
const wf_workflow workflows[kWorkflows] = {Workflow(kScore, "Score"), Workflow(kScale, "Scale")};

const wf_plan plan = {.bytes = sizeof(wf_plan),
                      .n_workflows = kWorkflows,
                      .n_regions = kWorkflows,
                      .n_tasks = kTasks,
                      .n_slots = kSlots,
                      .n_nodes = 4,
                      .n_stages = 2,
                      .n_policies = 1,
                      .n_models = 1,
                      .n_types = 1,
                      .workflows = workflows,
                      .regions = regions,
                      .tasks = tasks,
                      .slots = slots,
                      .nodes = nodes,
                      .stages = stages,
                      .policies = policies,
                      .models = models,
                      .types = types};

}  // namespace

const wf_plan& ModelPlan() { return plan; }

void WriteModel(const std::string& root, int count) {
  for (int version = 1; version <= count; ++version) {
    testing::Builder model;
    model.Input("x", {"batch", kWidth}).Output("y", {"batch", kWidth});
    model.Node("MatMul", {"x", "w"}, {"y"});
    std::vector<float> weights(kWidth * kWidth);
    for (size_t i = 0; i < kWidth; ++i) weights[i * (kWidth + 1)] = static_cast<float>(version + 1);
    testing::Builder::SetFloats(model.Tensor("w", {kWidth, kWidth}, onnx::pb::FLOAT), weights);
    const std::filesystem::path folder = std::filesystem::path(root) / kFolder / std::to_string(version);
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "model.onnx", std::ios::binary) << model.Bytes();
  }
}

}  // namespace wf::server
