#include "runtime/abi/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <vector>

#include "tests/unit/support/plan_builder.h"
#include "tests/unit/support/plans.h"
#include "tests/unit/support/random_plan.h"

namespace wf::abi {
namespace {

// A plan whose rows may be written to.
struct Copy {
  explicit Copy(const wf_plan& from)
      : plan(from),
        workflows(from.workflows, from.workflows + from.n_workflows),
        regions(from.regions, from.regions + from.n_regions),
        tasks(from.tasks, from.tasks + from.n_tasks),
        slots(from.slots, from.slots + from.n_slots),
        nodes(from.nodes, from.nodes + from.n_nodes),
        policies(from.policies, from.policies + from.n_policies),
        models(from.models, from.models + from.n_models),
        types(from.types, from.types + from.n_types) {
    plan.workflows = workflows.data();
    plan.regions = regions.data();
    plan.tasks = tasks.data();
    plan.slots = slots.data();
    plan.nodes = nodes.data();
    plan.policies = policies.data();
    plan.models = models.data();
    plan.types = types.data();
  }
  wf_plan plan;
  std::vector<wf_workflow> workflows;
  std::vector<wf_region> regions;
  std::vector<wf_task> tasks;
  std::vector<wf_slot> slots;
  std::vector<wf_node> nodes;
  std::vector<wf_policy> policies;
  std::vector<wf_model> models;
  std::vector<wf_type> types;
};

TEST(VerifyTest, AcceptsPlansWrittenByHand) {
  EXPECT_EQ(Verify(hello_plan).message(), "");
  EXPECT_EQ(Verify(classify_plan).message(), "");
}

TEST(VerifyTest, AcceptsPlansOfEveryShape) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200; ++i) {
    test::PlanBuilder builder;
    EXPECT_EQ(Verify(test::MakeRandomPlan(builder, random, {})).message(), "");
  }
}

TEST(VerifyTest, AWorkflowThatOnlyCallsAModelNamesOneOfThePlan) {
  Copy copy(classify_plan);
  copy.workflows[0].is_model = 1;
  copy.workflows[0].model = 0;
  EXPECT_EQ(Verify(copy.plan).message(), "");
  copy.workflows[0].model = static_cast<uint16_t>(copy.plan.n_models);
  EXPECT_NE(Verify(copy.plan).message().find("workflow 0: calls a model out of range"), std::string::npos) << Verify(copy.plan).message();
}

const uint16_t kTask0[] = {0}, kTask9[] = {9}, kSlot9[] = {9};
const uint16_t kWaits[] = {0, 0, 1, 1};
const uint16_t kRing[] = {1, 2};

// Every model call pads by one row.
void PadAll(Copy& copy, const wf_pad* pads) {
  static const int64_t bucket[] = {16};
  copy.policies[0].bucket = bucket;
  copy.policies[0].pad = pads;
  copy.policies[0].n_buckets = copy.policies[0].n_pads = 1;
  for (wf_task& task : copy.tasks)
    if (task.kind == WF_MODEL) task.policy = 0;
}

struct Breakage {
  const char* rule;
  std::function<void(Copy&)> breaks;
};

constexpr wf_field kNoText{};
void BecomeRecord(wf_type* type, const wf_field& field) {
  type->kind = WF_T_RECORD;
  type->n_fields = 1;
  type->fields = &field;
}

TEST(VerifyTest, NamesTheRowAndTheRule) {
  const std::vector<Breakage> table = {
      {"header 0: size is not that of wf_plan", [](Copy& c) { c.plan.bytes = 3; }},
      {"table 2: rows without an address", [](Copy& c) { c.plan.tasks = nullptr; }},
      {"type 1: unknown kind", [](Copy& c) { c.types[1].kind = 0; }},
      {"type 0: unknown dtype", [](Copy& c) { c.types[0].dtype = 99; }},
      {"type 0: rank above 8", [](Copy& c) { c.types[0].rank = 9; }},
      {"type 0: size is not that of its kind", [](Copy& c) { c.types[0].size = 8; }},
      {"type 0: alignment is not a power of two up to 64", [](Copy& c) { c.types[0].align = 48; }},
      {"type 0: element type out of range",
       [](Copy& c) {
         c.types[0].kind = WF_T_LIST;
         c.types[0].element = 7;
         c.types[0].size = 16;
       }},
      {"type 0: field whose text in JSON is not that of its name", [](Copy& c) { BecomeRecord(&c.types[0], kNoText); }},
      {"type 0: holds itself, or nests deeper than 64",
       [](Copy& c) {
         c.types[0].kind = WF_T_LIST;
         c.types[0].size = 16;
         c.types[0].element = 0;
       }},
      {"region 0: parent out of range", [](Copy& c) { c.regions[0].parent = 5; }},
      {"region 0: its parents form a ring, or nest deeper than 64", [](Copy& c) { c.regions[0].parent = 0; }},
      {"region 0: tasks out of range", [](Copy& c) { c.regions[0].n_tasks = 50; }},
      {"region 0: slots out of range", [](Copy& c) { c.regions[0].n_slots = 50; }},
      {"region 0: its result is not a slot of its own", [](Copy& c) { c.regions[0].result = 40; }},
      {"region 0: fallback region out of range", [](Copy& c) { c.regions[0].on_error = 0; }},
      {"slot 0: lies on the countdowns", [](Copy& c) { c.slots[0].offset = 0; }},
      {"slot 1: lies outside the frame", [](Copy& c) { c.slots[1].offset = 70'000; }},
      {"slot 1: offset is not aligned for its type", [](Copy& c) { c.slots[1].offset += 4; }},
      {"slot 1: size is not that of its type", [](Copy& c) { c.slots[1].size = 8; }},
      {"slot 3: element data outside the frame or not 64-aligned", [](Copy& c) { c.slots[3].data = 641; }},
      {"task 0: unknown kind", [](Copy& c) { c.tasks[0].kind = 44; }},
      {"task 0: without a body", [](Copy& c) { c.tasks[0].fn.run = nullptr; }},
      {"task 1: node out of range", [](Copy& c) { c.tasks[1].node = 77; }},
      {"task 1: policy out of range", [](Copy& c) { c.tasks[1].policy = 77; }},
      {"task 1: model out of range", [](Copy& c) { c.tasks[1].target = 4; }},
      {"task 1: a model call without a slot", [](Copy& c) { c.tasks[1].out = WF_NONE; }},
      {"task 1: reads a slot that its frames do not hold", [](Copy& c) { c.tasks[1].in = kSlot9; }},
      {"task 1: writes a slot that another task writes", [](Copy& c) { c.tasks[1].out = 1; }},
      {"task 1: writes a parameter or `err`", [](Copy& c) { c.tasks[1].out = 0; }},
      {"task 1: its `next` leaves the region", [](Copy& c) { c.tasks[1].next = kTask9; }},
      {"task 0: waits for another number of tasks than list it", [](Copy& c) { c.tasks[1].next = kTask0; }},
      {"task 1: waits for another number of tasks than list it", [](Copy& c) { c.regions[0].waits = kWaits; }},
      {"task 0: its strand goes on to a task that is not its sole successor", [](Copy& c) { c.tasks[0].chain = 2; }},
      {"task 3: returns another number of values than the workflow has results", [](Copy& c) { c.tasks[3].n_in = 0; }},
      {"model 0: batched, with an output that has no batch axis",
       [](Copy& c) {
         static const int8_t axes[] = {0, -1};
         c.models[0].batch_axis = axes;
       }},
      {"policy 0: unknown priority", [](Copy& c) { c.policies[0].priority = 3; }},
      {"workflow 0: a port's slot is not in the root region",
       [](Copy& c) {
         static wf_port port;
         port = c.workflows[0].in[0];
         port.slot = 9;
         c.workflows[0].in = &port;
       }},
  };
  for (const Breakage& row : table) {
    Copy copy(classify_plan);
    row.breaks(copy);
    EXPECT_EQ(Verify(copy.plan).message(), std::string("plan: ") + row.rule);
  }
}

TEST(VerifyTest, PadsMustFitTheModelAndTellTheirSymbol) {
  const std::pair<wf_pad, const char*> table[] = {
      {{0, 0, 1, 1, 0}, ""},
      {{9, 0, 1, 1, 0}, "plan: policy 0: pads an axis that the model does not have"},
      {{0, 7, 1, 1, 0}, "plan: policy 0: pads an axis that the model does not have"},
      {{0, 0, 1, 0, 0}, "plan: policy 0: pads an axis that the model does not have"},
      {{0, 0, 1, 4, 0}, "plan: policy 0: pads by a symbol that no input tells"},
  };
  for (const auto& [pad, text] : table) {
    Copy copy(classify_plan);
    PadAll(copy, &pad);
    EXPECT_EQ(Verify(copy.plan).message(), text);
  }
}

TEST(VerifyTest, FindsTasksThatWaitForEachOther) {
  Copy copy(classify_plan);
  static const uint16_t waits[] = {0, 2, 1, 1};
  copy.regions[0].waits = waits;
  copy.tasks[2].next = kRing;  // scores -> logits -> scores
  copy.tasks[2].n_next = 1;
  static const uint16_t three[] = {0, 2, 1, 0};
  copy.regions[0].waits = three;
  copy.tasks[0].chain = WF_NONE;
  EXPECT_EQ(Verify(copy.plan).message(), "plan: region 0: its tasks wait for each other in a ring");
}

TEST(VerifyTest, FindsAReaderThatDoesNotWait) {
  Copy copy(hello_plan);
  static const uint16_t waits[] = {0, 1, 1};
  copy.regions[0].waits = waits;
  copy.tasks[1].n_next = 0;  // greet no longer holds the return back
  EXPECT_EQ(Verify(copy.plan).message(), "plan: task 2: reads slot 1 without waiting for it");
}

}  // namespace
}  // namespace wf::abi
