#include "runtime/workbench/arguments.h"

#include <algorithm>
#include <charconv>

#include "runtime/base/units.h"

namespace wf::workbench {

std::string Arguments::Text(const std::string& name, const std::string& otherwise) const {
  const std::vector<std::string> values = All(name);
  return values.empty() ? otherwise : values.back();
}

std::vector<std::string> Arguments::All(const std::string& name) const {
  std::vector<std::string> values;
  const auto [begin, end] = flags.equal_range(name);
  for (auto each = begin; each != end; ++each) values.push_back(each->second);
  return values;
}

namespace {

template <typename T>
std::optional<T> Read(const std::string& text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<int64_t> Arguments::Whole(const std::string& name) const { return Read<int64_t>(Text(name)); }
std::optional<double> Arguments::Number(const std::string& name) const { return Read<double>(Text(name)); }
std::optional<int64_t> Arguments::TimeNs(const std::string& name) const { return base::ReadMeasure(Text(name), base::kTimeUnits, "s"); }

Arguments ReadArguments(const std::vector<std::string>& given) {
  Arguments arguments;
  bool only_paths = false;
  for (const std::string& argument : given) {
    if (only_paths || !argument.starts_with("--")) {
      arguments.paths.push_back(argument);
      continue;
    }
    only_paths = argument == "--";
    const size_t equals = std::min(argument.find('='), argument.size());
    if (!only_paths) arguments.flags.emplace(argument.substr(2, equals - 2), equals == argument.size() ? "" : argument.substr(equals + 1));
  }
  return arguments;
}

}  // namespace wf::workbench
