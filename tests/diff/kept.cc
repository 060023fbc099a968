#include "tests/diff/kept.h"

#include <algorithm>
#include <sstream>

namespace wf::diff {

std::string ToText(const KeptProgram& kept) {
  std::string text;
  if (kept.run)
    text += "// run " + std::to_string(kept.run->seed) + " " + std::to_string(kept.run->schedules) + " " +
            std::to_string(kept.run->native) + "\n";
  for (const Workflow& workflow : kept.workflows) {
    for (const Input& input : workflow.inputs) {
      text += "// " + workflow.name + " " + input.json + "\n";
      for (const auto& [key, value] : input.metadata) text += "// with " + key + ": " + value + "\n";
    }
  }
  return text + FileOf(kept.workflows);
}

KeptProgram ReadKept(const std::string& text) {
  KeptProgram kept;
  Input* last = nullptr;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("// run ")) {
      CompareOptions& run = kept.run.emplace();
      std::istringstream(line.substr(7)) >> run.seed >> run.schedules >> run.native;
    }
    if (line.starts_with("// with ") && last != nullptr) {
      const size_t colon = line.find(": ");
      last->metadata.emplace_back(line.substr(8, colon - 8), line.substr(colon + 2));
    }
    if (!line.starts_with("// W")) continue;
    const std::string name = line.substr(3, line.find(' ', 3) - 3);
    auto at = std::find_if(kept.workflows.begin(), kept.workflows.end(), [&](const Workflow& one) { return one.name == name; });
    if (at == kept.workflows.end()) at = kept.workflows.insert(at, Workflow{.name = name, .declarations = {}, .inputs = {}, .choices = {}});
    last = &at->inputs.emplace_back(Input{.json = line.substr(4 + name.size()), .metadata = {}});
  }
  return kept;
}

}  // namespace wf::diff
