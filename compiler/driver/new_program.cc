#include "compiler/driver/new_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "compiler/base/ascii.h"
#include "compiler/driver/files.h"
#include "runtime/base/system_error.h"

namespace wf::driver {
namespace {

// The folder's own name as a name of the language; empty when it is none. One that begins with `-` would be taken for a flag, with `_` for
// something unused.
std::string ProgramName(const std::string& folder) {
  std::string name = std::filesystem::path(folder).filename().string();
  std::replace(name.begin(), name.end(), '-', '_');
  const auto may_follow = [](char c) { return base::IsLetter(c) || base::IsDigit(c) || c == '_'; };
  const bool good = !name.empty() && base::IsLetter(name[0]) && std::all_of(name.begin(), name.end(), may_follow);
  return good ? name : "";
}

std::string Filled(std::string_view text, const std::string& name) {
  constexpr std::string_view kHole = "@NAME@";
  std::string filled;
  for (size_t hole = text.find(kHole); hole != std::string_view::npos; hole = text.find(kHole)) {
    filled.append(text.substr(0, hole)).append(name);
    text.remove_prefix(hole + kHole.size());
  }
  return filled.append(text);
}

std::string WhyNot(const std::error_code& error, const std::filesystem::path& folder) {
  return base::StatusOfCreation(error.value(), folder.string()).message();
}

// The folder, which this has made, goes again, so that the next attempt does not find it there.
int GiveUp(Console& console, const std::filesystem::path& folder, const std::string& why) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return Fail(console, why);
}

int WriteProgram(const std::filesystem::path& folder, const std::string& name, const Options& options, Console& console) {
  for (const TemplateFile& file : TemplateFiles()) {
    if (file.folder != options.template_name) continue;
    const std::filesystem::path path = folder / Filled(file.name, name), parent = path.parent_path();
    std::error_code error;
    std::filesystem::create_directories(parent, error);
    if (error) return GiveUp(console, folder, fmt::format("cannot make the folder `{}`: {}", parent.string(), WhyNot(error, parent)));
    const bool binary = file.text.find('\0') != std::string_view::npos;
    const base::Status status = WriteFile(path.string(), binary ? std::string(file.text) : Filled(file.text, name));
    if (!status.ok()) return GiveUp(console, folder, fmt::format("cannot write `{}`: {}", path.string(), status.message()));
    console.out << path.string() << "\n";
  }
  return kFine;
}

}  // namespace

int NewProgram(const Options& options, Console& console) {
  if (options.inputs.front().empty()) return Fail(console, "the name of the folder is empty; `wfc new greeter` makes `greeter`", kUsage);
  const std::filesystem::path folder = std::filesystem::path(options.inputs.front() + "/").parent_path();
  const std::string name = ProgramName(folder.string());
  if (name.empty())
    return Fail(
        console,
        fmt::format("`{}` is no name for a program; a letter begins it, letters, digits, `_` and `-` follow", options.inputs.front()),
        kUsage);
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  error.clear();
  const bool is_new = std::filesystem::create_directory(folder, error);
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(std::filesystem::symlink_status(folder, ignored));
  if (!is_new && is_there) return Fail(console, fmt::format("`{}` exists already", folder.string()));
  if (!is_new) return Fail(console, fmt::format("cannot make the folder `{}`: {}", folder.string(), WhyNot(error, folder)));
  if (const int status = WriteProgram(folder, name, options, console); status != kFine) return status;
  console.out << fmt::format("\ntry: wfc run {}/{}.wf\n", folder.string(), name);
  return kFine;
}

}  // namespace wf::driver
