#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/check.h"
#include "runtime/base/text.h"
#include "runtime/server/settings.h"

namespace {

wf_bytes Text(const char* text) { return {reinterpret_cast<const uint8_t*>(text), std::char_traits<char>::length(text)}; }

// A node that calls a model and one with a timeout.
struct Program {
  wf_policy policies[2] = {};
  wf_task tasks[2] = {};
  wf_node nodes[2] = {};
  wf_model model = {};
  wf_plan plan = {};

  Program() {
    policies[0].batch_max = 8;
    policies[1].timeout_ns = 1'000'000;
    nodes[0].path = Text("A/m");
    nodes[1].path = Text("A/t");
    tasks[0].kind = WF_MODEL;
    tasks[1].kind = WF_ENTER;
    tasks[1].node = tasks[1].policy = 1;
    model.batched = 1;
    plan.n_tasks = plan.n_nodes = plan.n_policies = 2;
    plan.n_models = 1;
    plan.tasks = tasks;
    plan.nodes = nodes;
    plan.models = &model;
    plan.policies = policies;
  }
};

}  // namespace

// Whatever a file holds, it is told what is wrong with it, in lines that can be printed; what is accepted prints as a file that means the
// same.
int OneInput(const uint8_t* data, size_t size) {
  if (size > wf::server::kMaxConfigBytes) return 0;
  static const Program program;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const wf::server::Loaded loaded = wf::server::LoadSettings({.plan = &program.plan, .config_text = &text});
  for (const std::string& error : loaded.errors) {
    WF_CHECK(!error.empty() && wf::base::IsUtf8(error), error);
    for (const char c : error) WF_CHECK(static_cast<unsigned char>(c) >= 0x20, error);
  }
  if (!loaded.errors.empty()) return 0;
  const wf::server::RetunedPlan retuned(program.plan, loaded.settings.nodes);
  WF_CHECK(retuned.plan().n_tasks == program.plan.n_tasks);
  const std::string printed = wf::server::ConfigText(loaded.settings);
  const std::string_view again = printed;
  const wf::server::Loaded second = wf::server::LoadSettings({.plan = &program.plan, .config_text = &again});
  WF_CHECK(second.errors.empty(), second.errors.empty() ? "" : second.errors.front());
  WF_CHECK(second.settings.values == loaded.settings.values);
  return 0;
}
