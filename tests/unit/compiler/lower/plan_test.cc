// Plans as lowered: well formed by abi::Verify, and equal to ir's own interpreter when run, from JSON to JSON.

#include <gtest/gtest.h>

#include "compiler/codegen/codegen.h"
#include "compiler/ir/scalar.h"
#include "runtime/abi/interpret.h"
#include "runtime/abi/verify.h"
#include "runtime/base/sink.h"
#include "tests/unit/compiler/lower/harness.h"

namespace wf::lower::testing {
namespace {

using ir::Builder;
using ir::DType;
using ir::OpKind;
using ir::RegionId;
using ir::SlotId;
using ir::TaskId;
using ir::TaskKind;
using ir::TypeId;
using ir::ValueId;

// Puts programs together region by region. Regions' tasks and slots must be consecutive, so a region is filled before the next is opened.
class PlanTest : public ::testing::Test {
 protected:
  ir::Program program_;

  ir::TypeTable& types() { return program_.types; }
  RegionId AddRegion(RegionId parent = RegionId::kNone) {
    program_.regions.push_back(
        {.parent = parent, .on_error = RegionId::kNone, .tasks = {}, .slots = {}, .result = SlotId::kNone, .node = ir::NodeId::kNone});
    return static_cast<RegionId>(program_.regions.size() - 1);
  }
  ir::Region& At(RegionId id) { return program_.regions[static_cast<size_t>(id)]; }
  SlotId AddSlot(RegionId region, const std::string& name, TypeId type) {
    program_.slots.push_back({.name = name, .type = type, .region = region});
    At(region).slots.push_back(static_cast<SlotId>(program_.slots.size() - 1));
    return At(region).slots.back();
  }
  ir::Task& AddTask(RegionId region, TaskKind kind, std::vector<SlotId> in, SlotId out = SlotId::kNone) {
    ir::Task task;
    task.kind = kind;
    task.region = region;
    task.in = std::move(in);
    task.out = out;
    task.node = ir::NodeId{0};
    program_.tasks.push_back(std::move(task));
    At(region).tasks.push_back(static_cast<TaskId>(program_.tasks.size() - 1));
    return program_.tasks.back();
  }
  void Body(ir::Task& task, const std::function<ValueId(Builder&)>& make) {
    Builder builder(program_, task.body);
    builder.Close(make(builder));
  }
  ir::Workflow& AddWorkflow(RegionId root) {
    ir::Workflow workflow;
    workflow.name = workflow.declared_name = "Main";
    workflow.service = "Tests";
    workflow.root = root;
    workflow.is_default = true;
    program_.workflows.push_back(std::move(workflow));
    return program_.workflows.back();
  }
  void SetUp() override {
    program_.source_name = "plan_test.wf";
    program_.nodes.push_back({.path = "Main/greet", .line = 3, .stage = ir::StageId{0}, .reads = {}});
    program_.stages.push_back({.workflow = "Main", .name = "s1", .written = false});
    program_.errors = {{.code = 100002, .name = "Later", .message = "later", .canonical_status = 5},
                       {.code = 120, .name = "First", .message = "first", .canonical_status = 3}};
  }

  // Hello(name: string = "world", times: i64, loud: bool?) -> (text: string)
  void MakeHello() {
    const TypeId text = types().String(), i64 = types().Scalar(DType::kI64), maybe = types().Optional(types().Scalar(DType::kBool));
    const RegionId root = AddRegion();
    const SlotId name = AddSlot(root, "name", text), times = AddSlot(root, "times", i64), loud = AddSlot(root, "loud", maybe),
                 out = AddSlot(root, "text", text);
    ir::Task& greet = AddTask(root, TaskKind::kRun, {name, times, loud}, out);
    greet.cost_ns_per_unit = 1;
    Body(greet, [&](Builder& b) {
      const ValueId none = b.Not(b.Emit(OpKind::kHas, b.ScalarType(DType::kBool), {b.Slot(loud)}));
      return b.Emit(OpKind::kText, text, {b.Slot(name), b.Slot(times), none}, ir::AddText(program_, "hello {} \"{}\" {}"));
    });
    AddTask(root, TaskKind::kReturn, {out});
    ir::Workflow& workflow = AddWorkflow(root);
    workflow.in = {{.name = "name", .type = text, .slot = name, .if_missing = ir::Value::Text("world"), .required = false},
                   {.name = "times", .type = i64, .slot = times, .if_missing = {}, .required = true},
                   {.name = "loud", .type = maybe, .slot = loud, .if_missing = {}, .required = false}};
    workflow.out = {{.name = "text", .type = text, .slot = out, .if_missing = {}, .required = true}};
  }

  // The reply to a JSON body, or "code: message".
  static std::string Answer(const Loaded& loaded, const std::string& body) {
    const wf_plan& plan = loaded.plan();
    const wf_workflow& workflow = plan.workflows[0];
    Job job;
    job.plan = &plan;
    std::string padded = body + std::string(64, '\0');
    auto* frame = static_cast<char*>(job.Allocate(plan.regions[workflow.root].frame_bytes));
    const auto said = [&] { return std::to_string(job.code) + ": " + job.message; };
    if (workflow.read_json(&job.ctx, {reinterpret_cast<const uint8_t*>(padded.data()), body.size()}, frame) != 0) return said();
    abi::Hooks hooks;
    hooks.ctx = &job.ctx;
    hooks.allocate = [&](uint64_t bytes) { return job.Allocate(bytes); };
    hooks.take_failure = [&](wf_code) {
      const abi::PlanFailure failure{job.code, job.message, WF_NONE, WF_NONE};
      job.code = 0;
      return failure;
    };
    const abi::Outcome outcome = abi::Interpret(plan, workflow, frame, 0, hooks);
    if (outcome.failure.code != 0) return std::to_string(outcome.failure.code) + ": " + outcome.failure.message;
    wf_sink sink;
    if (workflow.write_json(&job.ctx, frame, &sink) != 0) return said();
    std::string reply;
    for (const base::SinkPiece& piece : sink.Pieces()) reply.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
    return reply;
  }
};

TEST_F(PlanTest, HelloAnswersFromJsonToJson) {
  MakeHello();
  const Loaded loaded(program_, "generic");
  const base::Status verified = abi::Verify(loaded.plan());
  EXPECT_TRUE(verified.ok()) << verified.message();
  EXPECT_EQ(Answer(loaded, R"({"name":"wf","times":3})"), R"({"text":"hello wf \"3\" true"})");
  EXPECT_EQ(Answer(loaded, R"({"times":-4, "loud":false})"), R"({"text":"hello world \"-4\" false"})");
  EXPECT_EQ(Answer(loaded, R"({"loud":null,"times":1,"name":"a\nb"})"), R"({"text":"hello a\nb \"1\" true"})");
}

TEST_F(PlanTest, RequestsThatDoNotFitTheSignatureAreRefused) {
  MakeHello();
  const Loaded loaded(program_, "generic");
  for (const char* body :
       {"", "[]", "{", R"({"times":1)", R"({"times":1}x)", R"({})", R"({"times":1,"times":2})", R"({"times":"1"})", R"({"times":1.5})",
        R"({"times":1,"tmies":2})", R"({"times":1,"name":3})", R"({"times":null})", R"({"":1,"times":1})"}) {
    EXPECT_EQ(Answer(loaded, body).substr(0, 6), "5000: ") << body << " gave " << Answer(loaded, body);
  }
}

TEST_F(PlanTest, TablesHoldWhatTheProgramSays) {
  MakeHello();
  program_.policies.push_back({.timeout_ns = 5,
                               .delay_ns = 6,
                               .batch_max = 7,
                               .queue_max = 8,
                               .retry = 2,
                               .buckets = {16, 32},
                               .pads = {{0, 1, 2, 4, 1}},
                               .crops = {}});
  program_.models.push_back({.name = "Digits",
                             .path = "models/digits",
                             .in = {{.name = "x", .type = types().Tensor(DType::kF32, {1, 28, -1})}},
                             .out = {{.name = "y", .type = types().Tensor(DType::kF32, {10})}},
                             .batch_axis = {0, 0},
                             .versions = {3, 4},
                             .batched = true});
  const Loaded loaded(program_, "generic");
  const wf_plan& plan = loaded.plan();
  EXPECT_EQ(plan.bytes, sizeof(wf_plan));
  EXPECT_TRUE(abi::Verify(plan).ok()) << abi::Verify(plan).message();
  const auto text = [](wf_bytes bytes) { return std::string(reinterpret_cast<const char*>(bytes.ptr), bytes.len); };
  EXPECT_EQ(text(plan.nodes[0].path), "Main/greet");
  EXPECT_EQ(plan.nodes[0].line, 3u);
  EXPECT_EQ(text(plan.stages[0].name), "s1");
  ASSERT_EQ(plan.n_errors, 2u);
  EXPECT_EQ(plan.errors[0].code, 120);
  EXPECT_EQ(text(plan.errors[1].name), "Later");
  EXPECT_EQ(plan.errors[1].status, 5u);
  ASSERT_EQ(plan.n_policies, 1u);
  EXPECT_EQ(plan.policies[0].bucket[1], 32);
  EXPECT_EQ(plan.policies[0].pad[0].div, 4);
  EXPECT_EQ(plan.policies[0].crop, nullptr);
  EXPECT_EQ(plan.policies[0].retry, 2);
  ASSERT_EQ(plan.n_models, 1u);
  EXPECT_EQ(plan.models[0].in[0].dim[2], -1);
  EXPECT_EQ(plan.models[0].versions[1], 4);
  EXPECT_EQ(plan.workflows[0].find_in({reinterpret_cast<const uint8_t*>("times"), 5}), 1);
  EXPECT_EQ(plan.workflows[0].find_in({reinterpret_cast<const uint8_t*>("time"), 4}), -1);
  EXPECT_EQ(plan.workflows[0].find_in({nullptr, 0}), -1);
  EXPECT_NE(plan.tasks[0].work, nullptr);
  for (uint32_t i = 0; i < plan.n_types; ++i) EXPECT_EQ(text(plan.types[i].name), program_.types.ToString(static_cast<TypeId>(i)));
}

// Sum(xs: list<f32[n]>, pick: i64) -> (sums: list<f32>, label: string): a fan-out over the list, and one of two arms.
TEST_F(PlanTest, FanOutsAndArmsReadTheFramesAroundThem) {
  const TypeId vector = types().Tensor(DType::kF32, {-1}), vectors = types().List(vector), f32 = types().Scalar(DType::kF32),
               floats = types().List(f32);
  const TypeId i64 = types().Scalar(DType::kI64), text = types().String();
  const RegionId root = AddRegion();
  const SlotId xs = AddSlot(root, "xs", vectors), pick = AddSlot(root, "pick", i64), sums = AddSlot(root, "sums", floats),
               label = AddSlot(root, "label", text);
  const SlotId scale = AddSlot(root, "scale", f32);
  Body(AddTask(root, TaskKind::kRun, {pick}, scale), [&](Builder& b) { return b.Convert(b.Slot(pick), DType::kF32); });
  ir::Task& each = AddTask(root, TaskKind::kEach, {xs, scale}, sums);
  each.targets = {RegionId{1}};
  each.window = 8;
  Body(each, [&](Builder& b) { return b.Emit(OpKind::kListLen, i64, {b.Slot(xs)}); });
  ir::Task& select = AddTask(root, TaskKind::kSelect, {pick, scale}, label);
  select.targets = {RegionId{2}, RegionId{3}};
  Body(select,
       [&](Builder& b) { return b.Convert(b.Emit(OpKind::kLt, b.ScalarType(DType::kBool), {b.I64(5), b.Slot(pick)}), DType::kI64); });
  AddTask(root, TaskKind::kReturn, {sums, label});
  const RegionId element = AddRegion(root);
  const SlotId sum = AddSlot(element, "sum", f32);
  At(element).result = sum;
  Body(AddTask(element, TaskKind::kRun, {xs, scale}, sum), [&](Builder& b) {
    const ValueId list = b.Slot(xs), item = b.Emit(OpKind::kListGet, vector, {list, b.Emit(OpKind::kElement, i64)});
    const ValueId factor = b.Slot(scale);
    const ir::BlockId block = b.Open({i64});
    b.Close(b.Mul(b.Load(item, {b.Param(0)}), factor));
    return b.Reduce(ir::ReduceKind::kSum, DType::kF32, b.Dim(item, 0), block);
  });
  for (const char* format : {"few {}", "many {}"}) {
    const RegionId arm = AddRegion(root);
    const SlotId said = AddSlot(arm, "said", text);
    At(arm).result = said;
    Body(AddTask(arm, TaskKind::kRun, {scale}, said),
         [&](Builder& b) { return b.Emit(OpKind::kText, text, {b.Slot(scale)}, ir::AddText(program_, format)); });
  }
  ir::Workflow& workflow = AddWorkflow(root);
  workflow.in = {{.name = "xs", .type = vectors, .slot = xs, .if_missing = {}, .required = true},
                 {.name = "pick", .type = i64, .slot = pick, .if_missing = {}, .required = true}};
  workflow.out = {{.name = "sums", .type = floats, .slot = sums, .if_missing = {}, .required = true},
                  {.name = "label", .type = text, .slot = label, .if_missing = {}, .required = true}};
  const Loaded loaded(program_, "generic");
  const base::Status verified = abi::Verify(loaded.plan());
  ASSERT_TRUE(verified.ok()) << verified.message();
  EXPECT_EQ(Answer(loaded, R"({"xs":[[1,2,3],[0.5],[]],"pick":2})"), R"({"sums":[12,1,0],"label":"few 2"})");
  EXPECT_EQ(Answer(loaded, R"({"xs":[],"pick":7})"), R"({"sums":[],"label":"many 7"})");
}

TEST_F(PlanTest, SameProgramSameObject) {
  MakeHello();
  std::string first;
  for (int round = 0; round < 2; ++round) {
    llvm::LLVMContext context;
    const auto module = Lower(program_, context, {});
    llvm::SmallVector<char, 0> object;
    ASSERT_TRUE(codegen::EmitObject(*module, {}, object).ok());
    const std::string bytes(object.data(), object.size());
    EXPECT_TRUE(round == 0 || first == bytes);
    first = bytes;
  }
}

}  // namespace
}  // namespace wf::lower::testing
