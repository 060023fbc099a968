#include "runtime/workbench/commands.h"

#include <fmt/format.h>

#include <array>
#include <ostream>
#include <string_view>

#include "runtime/workbench/cases.h"

namespace wf::workbench {
namespace {

struct Command {
  std::string_view name;
  int (*run)(const Arguments&, std::ostream&, std::ostream&);
};
constexpr std::array kCommands = {Command{"inspect", Inspect}, Command{"run", RunModel}, Command{"bench", BenchModel},
                                  Command{"test", RunTests}, Command{"compare", CompareModels}};

}  // namespace

int RunTests(const Arguments& arguments, std::ostream& out, std::ostream& err) {
  if (arguments.paths.empty()) {
    err << "wfc: `wfc model test` needs a folder\n";
    return kUsage;
  }
  const std::string filter = arguments.Text("filter");
  const bool verbose = arguments.Has("verbose");
  std::array<int, 3> counts{};
  for (const std::string& path : arguments.paths) {
    const auto cases = FindCases(path);
    if (!cases.ok()) {
      err << fmt::format("wfc: {}\n", cases.status().message());
      return kFailed;
    }
    for (const Case& each : *cases) {
      if (each.name.find(filter) == std::string::npos) continue;
      const Outcome outcome = RunCase(each, {});
      ++counts[static_cast<size_t>(outcome.verdict)];
      if (outcome.verdict == Verdict::kFailed) out << fmt::format("FAIL {}: {}\n", each.name, outcome.reason) << std::flush;
      if (outcome.verdict == Verdict::kUnsupported) out << fmt::format("unsupported {}: {}\n", each.name, outcome.reason) << std::flush;
      if (outcome.verdict == Verdict::kPassed && verbose) out << fmt::format("ok {}\n", each.name) << std::flush;
    }
  }
  const auto [passed, failed, unsupported] = counts;
  out << fmt::format("{} passed, {} failed, {} unsupported\n", passed, failed, unsupported);
  return failed > 0 ? kFailed : kFine;
}

int RunCommand(const std::vector<std::string>& given, std::ostream& out, std::ostream& err) {
  const Arguments arguments = ReadArguments({given.empty() ? given.begin() : given.begin() + 1, given.end()});
  for (const Command& command : kCommands) {
    if (!given.empty() && command.name == given.front()) return command.run(arguments, out, err);
  }
  err << "wfc: `wfc model` starts this program\n";
  return kUsage;
}

}  // namespace wf::workbench
