// Random workflows, run everywhere:
//
//     wf_diff run [--count N] [--seed S] [--jobs J] [--keep FOLDER] [--expect FOLDER] [--tries N]
//     wf_diff replay FILE...                    kept ones
//     wf_diff format [--count N] [--seed S]     formatted
//
// It prints a line of JSON at the end; status 1 when something differed.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include "tests/diff/child.h"
#include "tests/diff/choices.h"
#include "tests/diff/compare.h"
#include "tests/diff/shrink.h"
#include "tests/unit/compiler/format/formatted.h"

namespace wf::diff {
namespace {

constexpr unsigned kSecondsPerFile = 300, kSecondsPerWorkflow = 20;

struct Arguments {
  uint64_t seed = 1;
  size_t count = 1000, jobs = 1;
  int tries = 250;  // to make a workflow smaller; 0: it is kept as it is
  std::string keep, expect;
  std::vector<std::string> files;
};

Arguments Read(int argc, char** argv) {
  Arguments read;
  for (int i = 2; i < argc; ++i) {
    const std::string name = argv[i];
    const bool has_value = name.starts_with("--") && i + 1 < argc;
    if (name == "--seed" && has_value) {
      read.seed = std::stoull(argv[++i]);
    } else if (name == "--count" && has_value) {
      read.count = std::stoull(argv[++i]);
    } else if (name == "--jobs" && has_value) {
      read.jobs = std::stoull(argv[++i]);
    } else if (name == "--tries" && has_value) {
      read.tries = std::stoi(argv[++i]);
    } else if (name == "--keep" && has_value) {
      read.keep = argv[++i];
    } else if (name == "--expect" && has_value) {
      read.expect = argv[++i];
    } else if (!name.starts_with("--")) {
      read.files.push_back(name);
    } else {
      std::cerr << "wf_diff: what is `" << name << "`?\n";
      std::exit(2);
    }
  }
  return read;
}

// The k-th workflow of a seed is the same in whatever file it stands.
Workflow WorkflowOf(uint64_t seed, size_t k) { return Generate(static_cast<uint32_t>(k % kPerFile), Mix(Mix(seed) + k)); }

// What a comparison says through a pipe: counts, then a line per difference: workflow, then text.
std::string Told(const Comparison& comparison) {
  if (!comparison.refused.empty()) return "refused\n" + comparison.refused;
  std::string text =
      std::to_string(comparison.calls) + " " + std::to_string(comparison.failures) + " " + std::to_string(comparison.cut) + "\n";
  for (const Difference& one : comparison.differences)
    text += std::to_string(one.workflow) + " input " + std::to_string(one.input) + ": " + one.what + "\n";
  return text;
}

Said RunAlone(const Workflow& workflow, uint64_t seed) {
  return Child([&] { return Told(Compare(FileOf({workflow}), {workflow}, {.seed = seed, .schedules = 4, .expectations = {}})); },
               kSecondsPerWorkflow)
      .Wait();
}

// Empty: it agrees.
std::string WhatDiffers(const Said& said) {
  if (!said.broke.empty()) return said.broke;
  if (said.text.starts_with("refused")) return said.text;
  return said.text.substr(said.text.find('\n') + 1);
}

// Differences of one sort: a program that is refused is no smaller example of one that computes something else.
std::string SortOf(const std::string& what) {
  if (what.starts_with("refused")) return what.substr(0, what.find(' ', 10));
  const size_t colon = what.find(": ");
  return colon == std::string::npos ? what : what.substr(colon, what.find_first_of("\n:", colon + 2) - colon);
}

std::string Kept(const Workflow& workflow) {
  std::string text;
  for (const Input& input : workflow.inputs) {
    text += "// " + workflow.name + " " + input.json + "\n";
    for (const auto& [key, value] : input.metadata) text += "// with " + key + ": " + value + "\n";
  }
  return text + FileOf({workflow});
}

class Campaign {
 public:
  explicit Campaign(const Arguments& arguments) : arguments_(arguments) {}

  int Run() {
    std::deque<std::pair<size_t, Child>> running;
    for (size_t first = 0; first < arguments_.count || !running.empty();) {
      if (first < arguments_.count && running.size() < arguments_.jobs) {
        running.emplace_back(first, Start(first));
        first += kPerFile;
      } else {
        Finish(running.front().first, running.front().second.Wait());
        running.pop_front();
      }
    }
    std::printf("{\"seed\": %llu, \"workflows\": %zu, \"calls\": %zu, \"failures\": %zu, \"cut\": %zu, \"differences\": %zu}\n",
                static_cast<unsigned long long>(arguments_.seed), arguments_.count, calls_, failures_, cut_, differences_);
    return differences_ == 0 ? 0 : 1;
  }

 private:
  std::vector<Workflow> FileFrom(size_t first) const {
    std::vector<Workflow> workflows;
    for (size_t k = first; k < std::min(first + kPerFile, arguments_.count); ++k) workflows.push_back(WorkflowOf(arguments_.seed, k));
    return workflows;
  }

  Child Start(size_t first) const {
    return Child(
        [this, first] {
          CompareOptions options{.seed = Mix(arguments_.seed + first), .expectations = {}};
          const std::vector<Workflow> workflows = FileFrom(first);
          const std::string file = FileOf(workflows), name = arguments_.expect + "/" + std::to_string(first);
          options.native = static_cast<int>(first / kPerFile % kNatives);
          if (!arguments_.expect.empty()) {
            std::ofstream(name + ".wf") << file;
            options.expectations = name + ".jsonl";
          }
          return Told(Compare(file, workflows, options));
        },
        kSecondsPerFile);
  }

  void Finish(size_t first, const Said& said) {
    if (said.broke.empty() && !said.text.starts_with("refused")) {
      size_t calls = 0, failures = 0, cut = 0;
      std::istringstream(said.text) >> calls >> failures >> cut;
      calls_ += calls;
      failures_ += failures;
      cut_ += cut;
    }
    const std::string what = WhatDiffers(said);
    if (what.empty()) return;
    const size_t before = differences_;
    for (size_t k = first; k < std::min(first + kPerFile, arguments_.count); ++k) Look(k);
    if (differences_ > before) return;
    ++differences_;
    std::cerr << "the file of workflows " << first << ".. differs, none of them alone:\n" << what << "\n";
  }

  void Look(size_t k) {
    const Workflow workflow = WorkflowOf(arguments_.seed, k);
    const std::string what = WhatDiffers(RunAlone(workflow, k));
    if (what.empty()) return;
    ++differences_;
    std::cerr << "workflow " << k << " of seed " << arguments_.seed << ": " << what << "\n";
    const std::string sort = SortOf(what);
    if (++seen_[sort] > 3) return;
    const auto differs = [&](const Workflow& smaller) { return SortOf(WhatDiffers(RunAlone(smaller, k))) == sort; };
    const Workflow small = Shrink(workflow, static_cast<uint32_t>(k % kPerFile), differs, arguments_.tries);
    std::cerr << Kept(small) << WhatDiffers(RunAlone(small, k)) << "\n";
    if (arguments_.keep.empty()) return;
    std::ofstream(arguments_.keep + "/seed_" + std::to_string(arguments_.seed) + "_" + std::to_string(k) + ".wf") << Kept(small);
  }

  const Arguments& arguments_;
  size_t calls_ = 0, failures_ = 0, cut_ = 0, differences_ = 0;
  std::map<std::string, int> seen_;
};

// Kept programs begin with a line "// W0 {..}" per call, and "// with key: text" for metadata of the call above.
std::vector<Workflow> CallsIn(const std::string& text) {
  std::vector<Workflow> workflows;
  Input* last = nullptr;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("// with ") && last != nullptr) {
      const size_t colon = line.find(": ");
      last->metadata.emplace_back(line.substr(8, colon - 8), line.substr(colon + 2));
    }
    if (!line.starts_with("// W")) continue;
    const std::string name = line.substr(3, line.find(' ', 3) - 3);
    auto at = std::find_if(workflows.begin(), workflows.end(), [&](const Workflow& one) { return one.name == name; });
    if (at == workflows.end()) at = workflows.insert(at, Workflow{.name = name, .declarations = {}, .inputs = {}, .choices = {}});
    last = &at->inputs.emplace_back(Input{.json = line.substr(4 + name.size()), .metadata = {}});
  }
  return workflows;
}

int Replay(const Arguments& arguments) {
  size_t differences = 0, calls = 0;
  for (const std::string& path : arguments.files) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    const std::vector<Workflow> workflows = CallsIn(text.str());
    for (const Workflow& workflow : workflows) calls += workflow.inputs.size();
    const Said said =
        Child([&] { return Told(Compare(text.str(), workflows, {.seed = 1, .schedules = 4, .expectations = {}})); }, kSecondsPerFile)
            .Wait();
    const std::string what = workflows.empty() ? "no calls" : WhatDiffers(said);
    if (what.empty()) continue;
    ++differences;
    std::cerr << path << ": " << what << "\n";
  }
  std::printf("{\"files\": %zu, \"calls\": %zu, \"differences\": %zu}\n", arguments.files.size(), calls, differences);
  return differences == 0 && !arguments.files.empty() ? 0 : 1;
}

int Format(const Arguments& arguments) {
  size_t broken = 0;
  for (size_t k = 0; k < arguments.count; ++k) {
    const std::string text = FileOf({WorkflowOf(arguments.seed, k)});
    const std::string what = format::FormatText(text) ? format::BrokenPromise(text) : "it does not parse";
    if (what.empty()) continue;
    ++broken;
    std::cerr << "workflow " << k << " of seed " << arguments.seed << ": " << what << "\n" << text << "\n";
  }
  std::printf("{\"formatted\": %zu, \"differences\": %zu}\n", arguments.count, broken);
  return broken == 0 ? 0 : 1;
}

}  // namespace
}  // namespace wf::diff

int main(int argc, char** argv) {
  using namespace wf::diff;
  const std::string command = argc > 1 ? argv[1] : "";
  const Arguments arguments = Read(argc, argv);
  if (command == "run") return Campaign(arguments).Run();
  if (command == "replay") return Replay(arguments);
  if (command == "format") return Format(arguments);
  std::cerr << "wf_diff run|replay|format\n";
  return 2;
}
