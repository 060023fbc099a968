#include "runtime/server/node_settings.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "runtime/server/settings.h"

namespace wf::server {
namespace {

wf_bytes Text(const char* text) { return {reinterpret_cast<const uint8_t*>(text), std::char_traits<char>::length(text)}; }

// A model call with `batch 32 within 2ms`, one with `batch auto` of a model without batch axis, a node with `timeout 1s`, a plain one, and
// one without a task.
struct Program {
  wf_policy policies[3] = {};
  wf_task tasks[5] = {};
  wf_node nodes[5] = {};
  wf_model models[2] = {};
  wf_plan plan = {};

  Program() {
    policies[0].batch_max = 32;
    policies[0].delay_ns = 2'000'000;
    policies[0].instances = 1;
    policies[1].timeout_ns = 1'000'000'000;
    policies[2].instances = 1;
    nodes[0].path = Text("Classify/logits");
    nodes[1].path = Text("Classify/whole");
    nodes[2].path = Text("Classify/fetch");
    nodes[3].path = Text("Classify/pixels");
    nodes[4].path = Text("Classify");
    models[0].batched = 1;
    const struct {
      uint8_t kind;
      uint16_t node, policy, target;
    } rows[] = {{WF_MODEL, 0, 0, 0}, {WF_MODEL, 1, 2, 1}, {WF_ENTER, 2, 1, 1}, {WF_RUN, 3, WF_NONE, 0}, {WF_MODEL, WF_NONE, 0, 0}};
    for (size_t i = 0; i < std::size(rows); ++i) {
      tasks[i].kind = rows[i].kind;
      tasks[i].node = rows[i].node;
      tasks[i].policy = rows[i].policy;
      tasks[i].target = rows[i].target;
    }
    plan.bytes = sizeof plan;
    plan.n_tasks = 5;
    plan.n_nodes = 5;
    plan.n_models = 2;
    plan.n_policies = 3;
    plan.tasks = tasks;
    plan.nodes = nodes;
    plan.models = models;
    plan.policies = policies;
  }
  Loaded Load(std::string_view text) const { return LoadSettings({.plan = &plan, .config_text = &text}); }
};

TEST(NodeSettings, ChangeWhatAModelCallHasAndNothingOfOthers) {
  const Program program;
  const Loaded loaded =
      program.Load("nodes:\n  Classify/logits: {batch: 64, within: 500us, instances: 2}\n  Classify/fetch:\n    timeout: 3s\n");
  ASSERT_TRUE(loaded.errors.empty()) << loaded.errors[0];
  const RetunedPlan retuned(program.plan, loaded.settings.nodes);
  const wf_plan& plan = retuned.plan();
  const wf_policy& logits = plan.policies[plan.tasks[0].policy];
  EXPECT_EQ(logits.batch_max, 64u);
  EXPECT_EQ(logits.delay_ns, 500'000);
  EXPECT_EQ(logits.instances, 2);
  EXPECT_EQ(logits.queue_max, 0u);  // still follows the batch
  EXPECT_EQ(plan.policies[plan.tasks[2].policy].timeout_ns, 3'000'000'000);
  EXPECT_EQ(plan.tasks[1].policy, program.tasks[1].policy);
  EXPECT_EQ(plan.tasks[3].policy, WF_NONE);
  EXPECT_EQ(plan.policies[plan.tasks[4].policy].batch_max, 32u);  // shared the policy before
  EXPECT_EQ(plan.n_policies, 5u);
  EXPECT_EQ(program.policies[0].batch_max, 32u);
}

TEST(NodeSettings, AQueueThatIsSetStays) {
  const Program program;
  const Loaded loaded = program.Load("nodes: {Classify/logits: {batch: 4, queue: 5}}\n");
  ASSERT_TRUE(loaded.errors.empty()) << loaded.errors[0];
  const RetunedPlan retuned(program.plan, loaded.settings.nodes);
  EXPECT_EQ(retuned.plan().policies[retuned.plan().tasks[0].policy].queue_max, 5u);
}

TEST(NodeSettings, AQueueThatHoldsNoBatchIsRefusedWhoeverSetsThem) {
  Program program;
  const auto error = [&program](std::string_view text) {
    const Loaded loaded = program.Load(text);
    return loaded.errors.empty() ? "" : loaded.errors[0];
  };
  EXPECT_EQ(error("nodes: {Classify/logits: {batch: 8, queue: 8}}\n"), "");
  EXPECT_TRUE(
      error("nodes: {Classify/logits: {batch: 8, queue: 7}}\n")
          .ends_with(": `queue` and `batch` of `Classify/logits` contradict each other: a batch of 8 never fits into a queue of 7"));
  EXPECT_TRUE(error("nodes: {Classify/logits: {queue: 31}}\n")
                  .ends_with(": a batch of 32 never fits into a queue of 31; `batch` is the program's: set it, too"));
  EXPECT_EQ(error("nodes: {Classify/logits: {batch: 4096}}\n"), "") << "the queue follows";
  EXPECT_EQ(error("nodes: {Classify/whole: {queue: 1}}\n"), "") << "the batch follows";
  program.policies[0].queue_max = 64;
  EXPECT_EQ(error("nodes: {Classify/logits: {batch: 64}}\n"), "");
  EXPECT_TRUE(error("nodes: {Classify/logits: {batch: 65}}\n")
                  .ends_with(": a batch of 65 never fits into a queue of 64; `queue` is the program's: set it, too"));
  EXPECT_EQ(error("nodes: {Classify/logits: {within: 1ms}}\n"), "");
}

TEST(NodeSettings, SizesOfPadTakeThePlaceOfThoseOfTheProgram) {
  Program program;
  const int64_t sizes[] = {8};
  const wf_pad axis{0, 1, 2, 1, -6};
  program.policies[0].bucket = sizes;
  program.policies[0].n_buckets = 1;
  program.policies[0].pad = &axis;
  program.policies[0].n_pads = 1;
  const Loaded loaded = program.Load("nodes:\n  Classify/logits:\n    pad: 3, 16\n");
  ASSERT_TRUE(loaded.errors.empty()) << loaded.errors[0];
  const RetunedPlan retuned(program.plan, loaded.settings.nodes);
  const wf_policy& policy = retuned.plan().policies[retuned.plan().tasks[0].policy];
  EXPECT_EQ(std::vector<int64_t>(policy.bucket, policy.bucket + policy.n_buckets), (std::vector<int64_t>{3, 16}));
  const Loaded refused = program.Load("nodes: {Classify/logits: {pad: 2}}\n");
  ASSERT_EQ(refused.errors.size(), 1u);
  EXPECT_TRUE(refused.errors[0].ends_with("`pad` of `Classify/logits`: at 2 an axis would be below 0")) << refused.errors[0];
}

TEST(NodeSettings, PrioritiesAreOfEveryNodeWhateverItDoes) {
  const Program program;
  const Loaded loaded = program.Load("nodes: {Classify/logits: {priority: high}, Classify/pixels: {priority: low}}\n");
  ASSERT_TRUE(loaded.errors.empty()) << loaded.errors[0];
  const RetunedPlan retuned(program.plan, loaded.settings.nodes);
  const wf_plan& plan = retuned.plan();
  EXPECT_EQ(plan.policies[plan.tasks[0].policy].priority, WF_HIGH);
  EXPECT_EQ(plan.policies[plan.tasks[0].policy].batch_max, 32u);
  EXPECT_EQ(plan.policies[plan.tasks[3].policy].priority, WF_LOW);
  EXPECT_EQ(plan.tasks[1].policy, program.tasks[1].policy);
  EXPECT_NE(ConfigText(loaded.settings).find("    priority: low\n"), std::string::npos) << ConfigText(loaded.settings);
}

TEST(NodeSettings, ArePrintedAsTheyAreWrittenAndReadAgain) {
  const Program program;
  const Loaded first = program.Load("nodes: {Classify/logits: {batch: 64, within: 0.5ms, queue: 90}, Classify/fetch: {timeout: 1.5s}}\n");
  ASSERT_TRUE(first.errors.empty()) << first.errors[0];
  const std::string printed = ConfigText(first.settings);
  EXPECT_NE(printed.find("    within: 500us\n"), std::string::npos) << printed;
  EXPECT_NE(printed.find("    timeout: 1.5s\n"), std::string::npos) << printed;
  const Loaded second = program.Load(printed);
  ASSERT_TRUE(second.errors.empty()) << second.errors[0];
  ASSERT_EQ(second.settings.nodes.size(), 2U);
  EXPECT_EQ(second.settings.nodes[0], first.settings.nodes[0]);
  EXPECT_EQ(second.settings.nodes[1], first.settings.nodes[1]);
}

TEST(NodeSettings, WhatIsInForceFollowsFromWhatIsSet) {
  const Program program;
  const Loaded loaded =
      program.Load("nodes:\n  Classify/logits: {batch: 4, priority: low}\n  Classify/whole: {queue: 3}\n  Classify/fetch: {timeout: 3s}\n");
  ASSERT_TRUE(loaded.errors.empty()) << loaded.errors[0];
  const RetunedPlan retuned(program.plan, loaded.settings.nodes);
  std::string text;
  for (const NodeSetting& node : loaded.settings.nodes) {
    text += node.path + ":";
    for (const SettingInForce& each : SettingsInForce(retuned.plan(), node))
      text += " " + std::string(each.name) + "=" + std::to_string(each.value) + (each.is_ns ? "ns" : "");
    text += "\n";
  }
  EXPECT_EQ(text,
            "Classify/logits: batch=4 within=2000000ns queue=64 instances=1 threads=1 priority=2\n"
            "Classify/whole: batch=1 within=0ns queue=3 instances=1 threads=1\n"
            "Classify/fetch: timeout=3000000000ns\n");
}

TEST(NodeSettings, AModelHasTheThreadsOfItsNodeThatAsksForMost) {
  Program program;
  program.models[0].batched = 1;
  program.tasks[1].target = 0;
  program.policies[0].threads = 2;
  program.policies[2].threads = 1;
  const auto threads = [&program](std::string_view text) {
    const Loaded loaded = program.Load(text);
    EXPECT_TRUE(loaded.errors.empty()) << loaded.errors[0];
    const RetunedPlan retuned(program.plan, loaded.settings.nodes);
    return ThreadsOf(retuned.plan(), 0);
  };
  EXPECT_EQ(threads(""), 2);
  EXPECT_EQ(threads("nodes: {Classify/whole: {threads: 4}}\n"), 4);
  EXPECT_EQ(threads("nodes: {Classify/logits: {threads: 1}}\n"), 2);  // the node without a name shares its policy and keeps it
  program.policies[0].threads = 1;
  EXPECT_EQ(threads("nodes: {Classify/logits: {threads: 3}, Classify/whole: {threads: 2}}\n"), 3);
  EXPECT_EQ(ThreadsOf(program.plan, 1), 1);
}

TEST(NodeSettings, WithoutAnyThePlanIsTheOriginal) {
  const Program program;
  const RetunedPlan retuned(program.plan, {});
  EXPECT_EQ(retuned.plan().tasks, program.plan.tasks);
  EXPECT_EQ(retuned.plan().policies, program.plan.policies);
}

TEST(NodeSettings, ANodeWithoutSettingsIsNoSuggestion) {
  const Program program;
  const Loaded loaded = program.Load("nodes: {Classif: {batch: 2}}\n");
  ASSERT_EQ(loaded.errors.size(), 1u);
  EXPECT_TRUE(loaded.errors[0].ends_with("unknown node `Classif`")) << loaded.errors[0];
}

TEST(NodeSettings, AnUnknownNodeThatIsGivenTwiceIsToldOnceBesideTheRepetition) {
  const Program program;
  const Loaded loaded = program.Load("nodes:\n  Classify/logit: {batch: 2}\n  Classify/logit: {batch: 4}\n");
  ASSERT_EQ(loaded.errors.size(), 2u);
  EXPECT_NE(loaded.errors[0].find("unknown node `Classify/logit`"), std::string::npos) << loaded.errors[0];
  EXPECT_NE(loaded.errors[1].find("is already set on line 2"), std::string::npos) << loaded.errors[1];
}

TEST(NodeSettings, WhatCannotBeAppliedIsAnErrorThatSaysSo) {
  const struct {
    std::string text, message;
  } cases[] = {
      {"nodes:\n  Classify/logit: {batch: 2}\n", "config:2: unknown node `Classify/logit`; did you mean `Classify/logits`"},
      {"nodes:\n  Classify/logits:\n    bach: 2\n", "config:3: unknown setting `bach` of a node; did you mean `batch`"},
      {"nodes: {Classify/logits: {batch: 0}}\n",
       "config:1: `nodes.Classify/logits.batch`: expected a whole number from 1 to 65536, found `0`"},
      {"nodes: {Classify/logits: {bach: [2]}}\n", "config:1: unknown setting `bach` of a node; did you mean `batch`"},
      {"nodes: {Classify/logits: {pad: 64, 128}}\n",
       "config:1: `128` is no setting of a node; several sizes are one text, as `pad: \"64, 128\"`"},
      {"nodes: {Classify/logits: {pad: {w: 64}}}\n",
       "config:1: expected sizes for `pad`, found a mapping; several sizes are one text, as `pad: \"64, 128\"`"},
      {"nodes: {Classify/logits: {bach: }}\n", "config:1: unknown setting `bach` of a node; did you mean `batch`"},
      {"nodes: {Classify: {priority: high}}\n", "config:1: unknown node `Classify`"},
      {"nodes: {Classify/logit: [2]}\n", "config:1: unknown node `Classify/logit`; did you mean `Classify/logits`"},
      {"nodes: {Classify/logits: {batch: [2]}}\n",
       "config:1: expected a value for `nodes.Classify/logits.batch`, found a list; several are one text, as \"a, b\""},
      {"nodes: {Classify/logits: [2]}\n",
       "config:1: expected a value for `nodes.Classify/logits`, found a list; several are one text, as \"a, b\""},
      {"nodes: {Classify/logits: {batch: }}\n", "config:1: `batch` has no value"},
      {"nodes: {Classify/logit: {}}\n", "config:1: unknown node `Classify/logit`; did you mean `Classify/logits`"},
      {"nodes: {Classify/logits: {batch: {}}}\n", "config:1: expected a value for `batch`, found a mapping"},
      {"nodes: {Classify/logits: {}, Classify/fetch: }\n", "config:1: the node `Classify/fetch` has no settings"},
      {"nodes: {Classify/logits: {within: 2}}\n", "`nodes.Classify/logits.within`: expected a duration from 0s to 10s, as `2s`, found `2`"},
      {"nodes: {Classify/logits: {within: 11s}}\n", "expected a duration from 0s to 10s"},
      {"nodes: {Classify/logits: {threads: 257}}\n", "`nodes.Classify/logits.threads`: expected a whole number from 1 to 256, found `257`"},
      {"nodes: {Classify/pixels: {threads: 2}}\n", "`Classify/pixels` calls no model"},
      {"nodes: {Classify/fetch: {timeout: 2h}}\n", "expected a duration from 1ms to 1h"},
      {"nodes: {Classify/logits: {queue: 1048577}}\n", "expected a whole number from 1 to 1048576"},
      {"nodes: {Classify/pixels: {priority: urgent}}\n",
       "config:1: `nodes.Classify/pixels.priority`: expected `high`, `normal` or `low`, found `urgent`"},
      {"nodes: {Classify/logits: {pad: 64}}\n",
       "the program gives `Classify/logits` no `pad`, so that its sizes cannot be changed; add one and build again"},
      {"nodes: {Classify/logits: {pad: '64, 64'}}\n", "ascending, as `64, 128`, found `64, 64`"},
      {"nodes: {Classify/logits: {pad: '8,'}}\n", "ascending, as `64, 128`, found `8,`"},
      {"nodes: {Classify/logits: 3}\n", "expected the settings of the node `Classify/logits`, found a value"},
      {"nodes: {Classify/logits: {batch: {a: 1}}}\n", "expected `nodes: {NODE: {batch: 8}}`"},
      {"nodes: 3\n", "expected `nodes: {NODE: {batch: 8}}`"},
      {"nodes: {Classify/logits: {timeout: 1s}}\n", "the program gives `Classify/logits` no `timeout`"},
      {"nodes: {Classify/pixels: {batch: 2}}\n", "`Classify/pixels` calls no model"},
      {"nodes: {Classify/whole: {batch: 2}}\n", "the model of `Classify/whole` has no batch axis"},
      {"nodes: {Classify/whole: {within: 2ms}}\n", "`Classify/whole` has `batch auto`, which never waits; set `batch` beside `within`"},
  };
  const Program program;
  for (const auto& at : cases) {
    const Loaded loaded = program.Load(at.text);
    ASSERT_FALSE(loaded.errors.empty()) << at.text;
    EXPECT_NE(loaded.errors[0].find(at.message), std::string::npos) << at.text << loaded.errors[0];
    EXPECT_EQ(loaded.exit_status(), 1);
  }
}

}  // namespace
}  // namespace wf::server
