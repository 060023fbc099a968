#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/diff/compare.h"
#include "tests/diff/program.h"

namespace wf::diff {

// A program that differed once. As a file it begins with a line "// W0 {..}" per call, with "// with key: text" for metadata of the call
// above, and "// run SEED SCHEDULES SORT" where it was run so when it differed: which calls meet depends on that.
struct KeptProgram {
  std::vector<Workflow> workflows;
  std::optional<CompareOptions> run;
};

std::string ToText(const KeptProgram& kept);
// What its first lines say: names, inputs and the run; the whole text is the program.
KeptProgram ReadKept(const std::string& text);

}  // namespace wf::diff
