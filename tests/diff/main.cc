// Random workflows, run everywhere:
//
//     wf_diff run [--count N] [--seed S] [--jobs J] [--keep FOLDER] [--expect FOLDER] [--servers] [--sorts N,N..] [--tries N]
//     wf_diff replay FILE...                    kept ones
//     wf_diff format [--count N] [--seed S]     formatted
//     wf_diff forms [--count N] [--seed S]      programs of tests/diff/forms.h, of which the compiler refuses some
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

#include "runtime/base/check.h"
#include "tests/diff/child.h"
#include "tests/diff/choices.h"
#include "tests/diff/compare.h"
#include "tests/diff/extern_host.h"
#include "tests/diff/forms.h"
#include "tests/diff/kept.h"
#include "tests/diff/models.h"
#include "tests/diff/shrink.h"
#include "tests/unit/compiler/format/formatted.h"

namespace wf::diff {
namespace {

constexpr size_t kLeastByTree = 80;  // percent of the workflows
constexpr unsigned kSecondsPerFile = 300, kSecondsPerWorkflow = 20;

struct Arguments {
  uint64_t seed = 1;
  size_t count = 1000, jobs = 1;
  int tries = 250;  // to make a workflow smaller; 0: it is kept as it is
  std::string keep, expect;
  bool servers = false;                   // beside what they owe
  std::vector<int> sorts{0, 1, 2, 3, 4};  // of machine code, of files in turn
  std::vector<std::string> files;
  std::string folder;  // where programs stand
};

std::vector<int> SortsIn(const std::string& text) {
  std::vector<int> sorts;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    sorts.push_back(std::stoi(word));
    if (sorts.back() < 0 || sorts.back() >= kNatives) throw std::out_of_range("--sorts");
  }
  return sorts;
}

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
    } else if (name == "--sorts" && has_value) {
      read.sorts = SortsIn(argv[++i]);
    } else if (name == "--servers") {
      read.servers = true;
    } else if (!name.starts_with("--")) {
      read.files.push_back(name);
    } else {
      std::cerr << "wf_diff: what is `" << name << "`?\n";
      std::exit(2);
    }
  }
  return read;
}

// Gone with it.
class TemporaryFolder {
 public:
  TemporaryFolder() : path_((std::filesystem::temp_directory_path() / "wf_diff_XXXXXX").string()) {
    WF_CHECK(mkdtemp(path_.data()) != nullptr, path_);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// The k-th workflow of a seed is the same in whatever file it stands.
Workflow WorkflowOf(uint64_t seed, size_t k) { return Generate(static_cast<uint32_t>(k % kPerFile), Mix(Mix(seed) + k)); }

// What a comparison says through a pipe: counts, then a line per difference: workflow, then text.
std::string Told(const Comparison& comparison) {
  if (!comparison.refused.empty()) return "refused\n" + comparison.refused;
  std::string text = std::to_string(comparison.calls) + " " + std::to_string(comparison.failures) + " " + std::to_string(comparison.cut) +
                     " " + std::to_string(comparison.by_tree);
  for (const auto& [why, calls] : comparison.untold) text += "\t" + std::to_string(calls) + " " + why;
  text += "\n";
  for (const Difference& one : comparison.differences)
    text += std::to_string(one.workflow) + " input " + std::to_string(one.input) + ": " + one.what + "\n";
  return text;
}

Said RunFew(const std::vector<Workflow>& workflows, const CompareOptions& options) {
  return Child([&] { return Told(Compare(FileOf(workflows), workflows, options)); },
               workflows.size() == 1 ? kSecondsPerWorkflow : kSecondsPerFile)
      .Wait();
}

// As every sort of machine code, each under some schedules.
CompareOptions Everywhere(const std::string& folder, uint64_t seed) {
  return {.folder = folder, .seed = seed, .schedules = 2 * kNatives, .expectations = {}, .server = {}};
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
    std::printf("%zu of %zu workflows by the tree\n", by_tree_, arguments_.count);
    for (const auto& [why, calls] : untold_) std::printf("  not %zu calls: %s\n", calls, why.c_str());
    std::printf("{\"seed\": %llu, \"workflows\": %zu, \"calls\": %zu, \"failures\": %zu, \"cut\": %zu, \"differences\": %zu}\n",
                static_cast<unsigned long long>(arguments_.seed), arguments_.count, calls_, failures_, cut_, differences_);
    const bool is_told = arguments_.count < kPerFile || by_tree_ * 100 >= arguments_.count * kLeastByTree;
    return differences_ == 0 && is_told ? 0 : 1;
  }

 private:
  std::vector<Workflow> FileFrom(size_t first) const {
    std::vector<Workflow> workflows;
    for (size_t k = first; k < std::min(first + kPerFile, arguments_.count); ++k) workflows.push_back(WorkflowOf(arguments_.seed, k));
    return workflows;
  }

  CompareOptions OptionsOf(size_t first) const {
    const std::vector<int>& sorts = arguments_.sorts;
    return {.folder = arguments_.folder,
            .seed = Mix(arguments_.seed + first),
            .native = sorts[first / kPerFile % sorts.size()],
            .expectations = {},
            .server = {}};
  }

  Child Start(size_t first) const {
    return Child(
        [this, first] {
          CompareOptions options = OptionsOf(first);
          const std::vector<Workflow> workflows = FileFrom(first);
          const std::string file = FileOf(workflows), name = arguments_.expect + "/" + std::to_string(first);
          if (!arguments_.expect.empty()) {
            std::ofstream(name + ".wf") << file;
            options.expectations = name + ".jsonl";
            if (arguments_.servers) options.server = name + ".server";
          }
          return Told(Compare(file, workflows, options));
        },
        kSecondsPerFile);
  }

  void Finish(size_t first, const Said& said) {
    if (said.broke.empty() && !said.text.starts_with("refused")) {
      size_t calls = 0, failures = 0, cut = 0, by_tree = 0;
      std::istringstream counts(said.text.substr(0, said.text.find('\n')));
      counts >> calls >> failures >> cut >> by_tree;
      counts.get();
      for (std::string row; std::getline(counts, row, '\t');) untold_[row.substr(row.find(' ') + 1)] += std::stoul(row);
      by_tree_ += by_tree;
      calls_ += calls;
      failures_ += failures;
      cut_ += cut;
    }
    const std::string what = WhatDiffers(said);
    if (what.empty()) return;
    const size_t before = differences_;
    for (size_t k = first; k < std::min(first + kPerFile, arguments_.count); ++k) Look(k, OptionsOf(first));
    if (differences_ == before) LookTogether(first, what);
  }

  // Alone: as its file was run, then everywhere.
  void Look(size_t k, const CompareOptions& as_file) {
    const Workflow workflow = WorkflowOf(arguments_.seed, k);
    for (const CompareOptions& options : {as_file, Everywhere(arguments_.folder, k)}) {
      const std::string what = WhatDiffers(RunFew({workflow}, options));
      if (what.empty()) continue;
      ++differences_;
      std::cerr << "workflow " << k << " of seed " << arguments_.seed << ": " << what << "\n";
      const std::string sort = SortOf(what);
      if (++seen_[sort] > 3) return;
      const auto differs = [&](const Workflow& smaller) { return SortOf(WhatDiffers(RunFew({smaller}, options))) == sort; };
      return Keep(k, {{Shrink(workflow, static_cast<uint32_t>(k % kPerFile), differs, arguments_.tries)}, options});
    }
  }

  // What takes several calls under way at once: the fewest workflows that were found to differ together.
  void LookTogether(size_t first, const std::string& what) {
    ++differences_;
    std::cerr << "the file of workflows " << first << ".. differs, none of them alone:\n" << what << "\n";
    const std::string sort = SortOf(what);
    const CompareOptions options = OptionsOf(first);
    const auto differ = [&](const std::vector<Workflow>& fewer) { return SortOf(WhatDiffers(RunFew(fewer, options))) == sort; };
    Keep(first, {Fewest(FileFrom(first), differ, what == kLate ? 0 : arguments_.tries), options});
  }

  void Keep(size_t k, const KeptProgram& kept) const {
    const std::string text = ToText(kept);
    std::cerr << text << WhatDiffers(RunFew(kept.workflows, *kept.run)) << "\n";
    if (arguments_.keep.empty()) return;
    std::ofstream(arguments_.keep + "/seed_" + std::to_string(arguments_.seed) + "_" + std::to_string(k) + ".wf") << text;
  }

  const Arguments& arguments_;
  size_t calls_ = 0, failures_ = 0, cut_ = 0, differences_ = 0, by_tree_ = 0;
  std::map<std::string, size_t> untold_;  // why the tree did not tell calls
  std::map<std::string, int> seen_;
};

int Replay(const Arguments& arguments) {
  size_t differences = 0, calls = 0;
  for (const std::string& path : arguments.files) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    const KeptProgram kept = ReadKept(text.str());
    for (const Workflow& workflow : kept.workflows) calls += workflow.inputs.size();
    std::string what = kept.workflows.empty() ? "no calls" : "";
    const auto run = [&](const CompareOptions& options) {
      if (!what.empty()) return;
      what = WhatDiffers(Child([&] { return Told(Compare(text.str(), kept.workflows, options)); }, kSecondsPerFile).Wait());
    };
    if (kept.run) {
      CompareOptions options = *kept.run;
      options.folder = arguments.folder;
      run(options);
    }
    run(Everywhere(arguments.folder, 1));
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

Workflow FormsOf(uint64_t seed, size_t k) {
  constexpr uint32_t kMostAnswers = 240;
  Choices choices(Mix(Mix(seed) + k));
  std::vector<uint8_t> answers(choices.Below(kMostAnswers));
  for (uint8_t& answer : answers) answer = static_cast<uint8_t>(choices.Below(256));
  return WriteForms(answers);
}

// `wf_diff forms`. What crashes is told by its number, like what differs.
class Forms {
 public:
  explicit Forms(const Arguments& arguments) : arguments_(arguments) {}

  int Run() {
    for (size_t first = 0; first < arguments_.count; first += kPerFile) {
      const size_t last = std::min(first + kPerFile, arguments_.count);
      const Said said = Few(first, last);
      if (said.broke.empty()) {
        Add(said.text);
      } else {
        for (size_t k = first; k < last; ++k) Alone(k);
      }
    }
    std::printf("{\"seed\": %llu, \"programs\": %zu, \"refused\": %zu, \"by_tree\": %zu, \"differences\": %zu}\n",
                static_cast<unsigned long long>(arguments_.seed), arguments_.count, refused_, by_tree_, differences_);
    return differences_ == 0 && refused_ * 4 < arguments_.count * 3 ? 0 : 1;
  }

 private:
  Said Few(size_t first, size_t last) const {
    return Child(
               [&] {
                 std::string told;
                 for (size_t k = first; k < last; ++k) told += One(k);
                 return told;
               },
               kSecondsPerFile)
        .Wait();
  }
  // "refused", "by tree" or what differs, a line each.
  std::string One(size_t k) const {
    const Workflow workflow = FormsOf(arguments_.seed, k);
    const Comparison found =
        Compare(workflow.declarations, {workflow},
                {.folder = arguments_.folder, .seed = k, .schedules = 1, .native = kAtO0, .expectations = {}, .server = {}});
    if (!found.refused.empty()) return "refused\n";
    std::string told = found.by_tree != 0 ? "by tree\n" : "";
    for (const Difference& one : found.differences) {
      std::cerr << "program " << k << " of seed " << arguments_.seed << ", input " << one.input << ": " << one.what << "\n"
                << workflow.declarations << "\n";
      told += "differs\n";
    }
    return told;
  }
  void Alone(size_t k) {
    const Said said = Few(k, k + 1);
    Add(said.text);
    if (said.broke.empty()) return;
    ++differences_;
    std::cerr << "program " << k << " of seed " << arguments_.seed << ": " << said.broke << "\n"
              << FormsOf(arguments_.seed, k).declarations << "\n";
  }
  void Add(const std::string& told) {
    std::istringstream lines(told);
    for (std::string line; std::getline(lines, line);) {
      refused_ += line == "refused";
      by_tree_ += line == "by tree";
      differences_ += line == "differs";
    }
  }

  static constexpr int kAtO0 = 3;
  const Arguments& arguments_;
  size_t refused_ = 0, by_tree_ = 0, differences_ = 0;
};

}  // namespace
}  // namespace wf::diff

int main(int argc, char** argv) {
  using namespace wf::diff;
  const std::string command = argc > 1 ? argv[1] : "";
  Arguments arguments = Read(argc, argv);
  const TemporaryFolder folder;
  arguments.folder = arguments.expect.empty() ? folder.path() : arguments.expect;
  WriteFiles(arguments.folder);
  if (command == "run" || command == "replay") LoadExterns(arguments.folder);
  if (command == "run") return Campaign(arguments).Run();
  if (command == "replay") return Replay(arguments);
  if (command == "format") return Format(arguments);
  if (command == "forms") return Forms(arguments).Run();
  std::cerr << "wf_diff run|replay|format|forms\n";
  return 2;
}
