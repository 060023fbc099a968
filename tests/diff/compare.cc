#include "tests/diff/compare.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "compiler/link/link.h"
#include "runtime/abi/interpret.h"
#include "runtime/abi/verify.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"
#include "tests/diff/choices.h"
#include "tests/diff/expectations.h"
#include "tests/diff/model_host.h"
#include "tests/diff/oracle.h"
#include "tests/diff/schedules.h"
#include "tests/diff/scratch.h"
#include "tests/diff/tree.h"
#include "tests/unit/compiler/sema/built.h"

namespace wf::diff {
namespace {

constexpr size_t kMostText = 8192;  // of a difference

sema::Built BuildIn(const std::string& folder, const std::string& text) {
  const std::string path = folder + "/built_" + std::to_string(getpid()) + ".wf";
  std::ofstream(path) << text;
  sema::Built built = sema::BuildFile(path);
  std::filesystem::remove(path);
  return built;
}

struct Expected {
  Ending ending;
  std::vector<Reported> known;  // more than one: which depends on what was known first
};

class File {
 public:
  File(const std::string& file, const std::vector<Workflow>& workflows, const CompareOptions& options)
      : workflows_(workflows), options_(options) {
    sema::Built built = BuildIn(options.folder, file);
    if (!built.program) {
      comparison_.refused = built.diagnostics.empty() ? "nothing was built" : built.diagnostics;
      return;
    }
    before_ = std::move(*built.program);
    checked_ = std::move(built.checked);
    tree_.emplace(*checked_, before_);
    after_ = before_;
    passes::Run(after_);
    for (int i = 0; i < kNatives; ++i)
      if (options.native == i || options.native == kAllNatives) AddNative(kSorts[i]);
  }

  Comparison Run() {
    if (!comparison_.refused.empty()) return comparison_;
    for (const auto& native : natives_) {
      hosts_.push_back(std::make_unique<ModelHost>(native->plan(), options_.folder));
      if (const base::Status verified = abi::Verify(native->plan()); !verified.ok())
        Differs(0, 0, "the plan is not sound: " + verified.message());
    }
    for (size_t w = 0; w < workflows_.size(); ++w) {
      const size_t number = NumberOf(workflows_[w].name);
      const size_t untold = untold_;
      for (size_t i = 0; i < workflows_[w].inputs.size(); ++i) RunOne(w, number, i);
      comparison_.by_tree += untold_ == untold;
    }
    for (int i = 0; i < options_.schedules; ++i) RunTogether(static_cast<uint64_t>(i));
    for (const auto& host : hosts_)
      if (!host->wrong().empty()) Differs(0, 0, host->wrong());
    if (!options_.expectations.empty()) WriteExpectations();
    if (!options_.server.empty()) LinkServer();
    return std::move(comparison_);
  }

 private:
  struct Sort {
    const char *cpu, *name;
    int opt_level;
    uint64_t part_weight;  // 0: as usual
  };
  static constexpr Sort kSorts[kNatives] = {{"x86-64-v3", "x86-64-v3", 2, 0},
                                            {"generic", "any CPU", 2, 0},
                                            {"x86-64-v3", "x86-64-v3 at -O1", 1, 0},
                                            {"x86-64-v3", "x86-64-v3 at -O0", 0, 0},
                                            {"x86-64-v3", "x86-64-v3 in parts", 2, 20},
                                            {"generic", "any CPU at -O0", 0, 0},
                                            {"x86-64-v3", "x86-64-v3 in parts at -O0", 0, 20}};
  void AddNative(const Sort& sort) {
    natives_.push_back(std::make_unique<test::Native>(after_, sort.cpu, sort.opt_level, false, sort.part_weight));
    names_.emplace_back(sort.name);
  }

  size_t NumberOf(const std::string& name) const {
    const auto found = std::find_if(before_.workflows.begin(), before_.workflows.end(), [&](const auto& one) { return one.name == name; });
    WF_CHECK(found != before_.workflows.end(), "no service publishes it", name);
    return static_cast<size_t>(found - before_.workflows.begin());
  }

  void Differs(size_t workflow, size_t input, const std::string& what) {
    comparison_.differences.push_back({workflow, input, what.size() < kMostText ? what : what.substr(0, kMostText) + " .."});
  }
  void Differs(size_t w, size_t input, const std::string& who, const Ending& wanted, const Ending& got) {
    const size_t number = NumberOf(workflows_[w].name);
    Differs(w, input, who + "\n  wanted " + ToString(before_, number, wanted) + "\n  found  " + ToString(before_, number, got));
  }

  // By the interpreters, and task by task.
  void RunOne(size_t w, size_t number, size_t input) {
    expected_.resize(workflows_.size());
    expected_[w].resize(workflows_[w].inputs.size());
    Expected& expected = expected_[w][input];
    const Input& asked = workflows_[w].inputs[input];
    const std::string& json = asked.json;
    const std::vector<bus::Metadata> metadata = MetadataOf(asked);
    const std::string padded = json + std::string(64, '\0');
    for (size_t k = 0; k < natives_.size(); ++k) {
      const wf_plan& plan = natives_[k]->plan();
      const wf_workflow& workflow = plan.workflows[number];
      Scratch scratch;
      scratch.bus.plan_ = &plan;
      scratch.bus.workflow_ = &workflow;
      scratch.bus.metadata = metadata;
      void* const frame = scratch.bus.arena.Allocate(plan.regions[workflow.root].frame_bytes, 64);
      const wf_bytes body{reinterpret_cast<const uint8_t*>(padded.data()), json.size()};
      if (const wf_code code = ReadInput(scratch.bus.ctx(), plan, workflow, body, frame); code != 0)
        return Differs(w, input, "the input is refused: " + std::string(scratch.bus.main.TakeFailure(code).message) + "\n  " + json);
      if (k == 0 && !Interpret(w, number, input, Inputs(before_, number, plan, frame))) return;
      const Ending ending = TaskByTask(k, number, scratch, frame, k == 0 ? &expected.known : nullptr);
      if (!SameEnding(before_, number, expected.ending, ending)) Differs(w, input, names_[k] + ", task by task", expected.ending, ending);
    }
    ++comparison_.calls;
    comparison_.failures += expected.ending.failure.code != 0;
    calls_.push_back({number, comparison_.calls - 1, &asked});
    places_.emplace_back(w, input);
  }

  bool Interpret(size_t w, size_t number, size_t input, const std::vector<ir::Value>& inputs) {
    Expected& expected = expected_[w][input];
    const Input& asked = workflows_[w].inputs[input];
    expected.ending = Interpreted(before_, number, inputs, asked, *hosts_.front());
    const Ending after = Interpreted(after_, number, inputs, asked, *hosts_.front());
    if (expected.ending.is_cut || after.is_cut) {
      ++comparison_.cut;
      return false;
    }
    if (!SameEnding(before_, number, expected.ending, after)) Differs(w, input, "interpreted after the passes", expected.ending, after);
    AskTree(w, number, input, inputs);
    return true;
  }

  // The checked tree, from which the IR was built that all others run.
  void AskTree(size_t w, size_t number, size_t input, const std::vector<ir::Value>& inputs) {
    const Input& asked = workflows_[w].inputs[input];
    TreeAnswer answer = tree_->Answer(workflows_[w].name, inputs, asked);
    const Ending& wanted = expected_[w][input].ending;
    if (!answer.unknown.empty()) {
      ++untold_;
      ++comparison_.untold[answer.unknown];
    } else if (!Agrees(number, wanted, answer)) {
      const std::string found = !answer.broken.empty() ? answer.broken
                                : answer.codes.empty() ? ToString(before_, number, {answer.values, {}, {}})
                                                       : "failure " + ToString(answer.codes);
      Differs(w, input, "by the tree\n  wanted " + ToString(before_, number, wanted) + "\n  found  " + found);
    }
  }

  bool Agrees(size_t number, const Ending& wanted, const TreeAnswer& answer) const {
    if (!answer.broken.empty() || !answer.unknown.empty()) return false;
    const int32_t code = wanted.failure.code;
    const bool is_noted = answer.codes.contains(kNoted) && code >= code::kIndex && code <= code::kEmpty;
    if (code != 0 || !answer.codes.empty()) return is_noted || answer.codes.contains(code);
    return SameEnding(before_, number, wanted, {answer.values, wanted.annotations, {}});
  }

  Ending TaskByTask(size_t native, size_t number, Scratch& scratch, void* frame, std::vector<Reported>* known) {
    const wf_plan& plan = natives_[native]->plan();
    abi::Hooks hooks;
    hooks.model = [&](uint64_t, uint16_t task, const wf_tensor* const* in, wf_tensor* const* out) {
      const Reported failed = hosts_[native]->Call(plan.tasks[task].target, in, out, hooks.allocate);
      return abi::PlanFailure{failed.code, failed.message, WF_NONE, WF_NONE};
    };
    hooks.ctx = scratch.bus.ctx();
    hooks.allocate = [&](uint64_t bytes) { return scratch.bus.arena.Allocate(bytes, 64); };
    hooks.take_failure = [&](wf_code returned) {
      const bus::Failure& failure = scratch.bus.main.TakeFailure(returned);
      return abi::PlanFailure{failure.code, std::string(failure.message), WF_NONE, WF_NONE};
    };
    const auto reported = [](const abi::PlanFailure& failure) { return Reported{failure.code, failure.path, failure.message}; };
    const abi::Outcome outcome = abi::Interpret(plan, plan.workflows[number], frame, 0, hooks);
    if (outcome.failure.code == 0) return {Outputs(before_, number, plan, frame), Annotations(scratch.bus), {}};
    if (known != nullptr) {
      known->push_back(reported(outcome.failure));
      for (const abi::PlanFailure& failure : outcome.known) known->push_back(reported(failure));
    }
    return {{}, {}, reported(outcome.failure)};
  }

  // All calls at once.
  void RunTogether(uint64_t round) {
    const test::Native& native = *natives_[round % natives_.size()];
    ModelHost& host = *hosts_[round % natives_.size()];
    size_t answered = 0;
    const std::string broken =
        RunScheduled(native.plan(), calls_, Mix(options_.seed + round), host,
                     [&](const Call& call, const Reported& reported, const bus::Bus& bus, bool waits) {
                       ++answered;
                       const auto [w, input] = places_[call.input];
                       const Expected& expected = expected_[w][input];
                       const Ending ending = reported.code == 0
                                                 ? Ending{Outputs(before_, call.workflow, native.plan(), bus.frame()), Annotations(bus), {}}
                                                 : Ending{{}, {}, reported};
                       const bool is_known = waits && reported.code != 0 && expected.ending.failure.code != 0 &&
                                             std::find(expected.known.begin(), expected.known.end(), reported) != expected.known.end();
                       if (is_known || SameEnding(before_, call.workflow, expected.ending, ending)) return;
                       std::string who = "scheduled";
                       for (const Reported& one : expected.known)
                         who += "\n  known  " + ToString(before_, call.workflow, Ending{{}, {}, one});
                       Differs(w, input, who, expected.ending, ending);
                     });
    if (!broken.empty()) Differs(0, 0, "scheduled: " + broken);
    if (broken.empty() && answered != calls_.size()) Differs(0, 0, "scheduled: some calls were not answered");
  }

  void WriteExpectations() const {
    std::ofstream out(options_.expectations);
    for (size_t i = 0; i < calls_.size(); ++i) {
      const auto [w, input] = places_[i];
      const Expected& expected = expected_[w][input];
      out << Expectation(before_, calls_[i].workflow, *calls_[i].asked, expected.ending, expected.known) << "\n";
    }
  }

  void LinkServer() const {
    const base::Status linked = link::Link(natives_.front()->objects(),
                                           {.output = options_.server, .runtime_dir = {}, .objects = {options_.folder + "/externs.o"}});
    WF_CHECK(linked.ok(), linked.message());
  }

  const std::vector<Workflow>& workflows_;
  const CompareOptions& options_;
  std::optional<sema::Program> checked_;
  ir::Program before_, after_;
  std::optional<Tree> tree_;
  size_t untold_ = 0;  // calls
  std::vector<std::unique_ptr<test::Native>> natives_;
  std::vector<std::unique_ptr<ModelHost>> hosts_;  // of their plans
  std::vector<std::string> names_;                 // of them
  std::vector<std::vector<Expected>> expected_;    // by workflow and input
  std::vector<Call> calls_;
  std::vector<std::pair<size_t, size_t>> places_;  // of a call: workflow and input
  Comparison comparison_;
};

}  // namespace

Comparison Compare(const std::string& file, const std::vector<Workflow>& workflows, const CompareOptions& options) {
  return File(file, workflows, options).Run();
}

}  // namespace wf::diff
