#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace wf::workbench {

enum ExitStatus : int { kFine = 0, kFailed = 1, kUsage = 2 };

// A command line as wfc hands it on, which has read it: `--name`, `--name=value`, then `--` and the other arguments.
struct Arguments {
  std::vector<std::string> paths;
  std::multimap<std::string, std::string> flags;  // by name, without dashes

  bool Has(const std::string& name) const { return flags.contains(name); }
  std::string Text(const std::string& name, const std::string& otherwise = "") const;
  std::vector<std::string> All(const std::string& name) const;
  std::optional<int64_t> Whole(const std::string& name) const;  // nothing: it is not there
  std::optional<double> Number(const std::string& name) const;
  std::optional<int64_t> TimeNs(const std::string& name) const;  // seconds where no unit stands
};
Arguments ReadArguments(const std::vector<std::string>& given);

}  // namespace wf::workbench
