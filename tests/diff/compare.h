#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/diff/program.h"

namespace wf::diff {

struct Difference {
  size_t workflow = 0, input = 0;  // indices
  std::string what;
};

struct Comparison {
  std::string refused;  // what the compiler says about the file, when it does not take it
  std::vector<Difference> differences;
  size_t calls = 0, failures = 0, cut = 0;  // cut: the interpreter gave up, so nothing was compared
  size_t by_tree = 0;                       // workflows of which the checked tree told each call that was compared
  std::map<std::string, size_t> untold;     // why it did not tell others, by call
};

constexpr int kAllNatives = -1, kNatives = 7;
struct CompareOptions {
  std::string folder = {};  // where programs stand: it holds what WriteFiles wrote
  uint64_t seed = 1;
  int schedules = 3;         // simulated processes in which all calls are in flight together
  int native = kAllNatives;  // or the number of one sort, below kNatives
  std::string expectations;  // a file that receives the calls and what must come back, for a server; empty: none
  std::string server;        // a file that receives a server, linked from the object that ran here; empty: none
};

// Runs every input of every workflow of one file: by the interpreter before and after the passes, and as machine code (for x86-64-v3, and
// for any CPU, which takes the loops for v4 where it can), task by task and under random schedules. All must agree, bit for bit.
Comparison Compare(const std::string& file, const std::vector<Workflow>& workflows, const CompareOptions& options);

}  // namespace wf::diff
