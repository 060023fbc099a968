#include "compiler/driver/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "compiler/diag/emitter.h"

namespace wf::driver {
namespace {

template <typename E>
struct Word {
  std::string_view text;
  E value;
};
constexpr std::array kFormats = {Word{"text", Format::kText}, Word{"json", Format::kJson}, Word{"dot", Format::kDot}};
constexpr std::array kColors = {Word{"auto", ColorWhen::kAuto}, Word{"always", ColorWhen::kAlways}, Word{"never", ColorWhen::kNever}};
constexpr std::array kLevels = {Word{"workflow", Level::kWorkflow}, Word{"stage", Level::kStage}, Word{"node", Level::kNode},
                                Word{"task", Level::kTask}};
constexpr std::array kEmits = {Word{"ast", Emit::kAst}, Word{"sema", Emit::kSema}, Word{"ir", Emit::kIr},  Word{"llvm", Emit::kLlvm},
                               Word{"asm", Emit::kAsm}, Word{"obj", Emit::kObj},   Word{"exe", Emit::kExe}};
constexpr std::array kPhases = {Word{"parse", Phase::kParse},   Word{"check", Phase::kCheck}, Word{"ir", Phase::kIr},
                                Word{"passes", Phase::kPasses}, Word{"lower", Phase::kLower}, Word{"object", Phase::kObject},
                                Word{"link", Phase::kLink}};

// Each setter takes the value and says whether it made sense.
template <const auto& kWords, auto member>
bool SetWord(Options& options, std::string_view value) {
  const auto row = std::find_if(kWords.begin(), kWords.end(), [&](const auto& word) { return word.text == value; });
  if (row == kWords.end()) return false;
  options.*member = row->value;
  return true;
}
template <auto member>
bool SetText(Options& options, std::string_view value) {
  options.*member = value;
  return !value.empty();
}
template <auto member>
bool SetNumber(Options& options, std::string_view value) {
  auto& number = options.*member;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size();
}
template <auto member>
bool SetTrue(Options& options, std::string_view) {
  options.*member = true;
  return true;
}
bool SetOptimize(Options& options, std::string_view value) {
  return SetNumber<&Options::optimize>(options, value) && options.optimize >= 0 && options.optimize <= 3;
}

struct Flag {
  std::string_view name;                    // "--format"
  std::string_view value;                   // what stands after it; empty: nothing does
  std::string_view commands;                // where it may stand, separated by spaces; "*": everywhere
  bool (*set)(Options&, std::string_view);  // null: a later version has it
  std::string_view help;
};

constexpr std::array kFlags = {
    Flag{"-o", "FILE", "build", SetText<&Options::output>, "where the product goes"},
    Flag{"--emit", "ast|sema|ir|llvm|asm|obj|exe", "build check", SetWord<kEmits, &Options::emit>, "which product; default exe"},
    Flag{"--stop-after", "parse|check|ir|passes|lower|object|link", "build check", SetWord<kPhases, &Options::stop_after>,
         "last phase to run"},
    Flag{"--dump-after", "PASS", "build", SetText<&Options::dump_after>, "print the program as this pass leaves it"},
    Flag{"-O", "0..3", "build run", SetOptimize, "how hard to optimise; default 2"},
    Flag{"--target-cpu", "native|generic|NAME", "build run", SetText<&Options::target_cpu>, "default generic"},
    Flag{"--level", "workflow|stage|node|task", "graph", SetWord<kLevels, &Options::level>, "how fine; default node"},
    Flag{"--format", "text|json", "build check run", SetWord<kFormats, &Options::format>, "form of diagnostics"},
    Flag{"--format", "text|dot|json", "graph", SetWord<kFormats, &Options::format>, "form of the graph"},
    Flag{"--error-limit", "N", "build check run graph", SetNumber<&Options::error_limit>, "errors shown at most; default 50"},
    Flag{"--verbose", "", "build check", SetTrue<&Options::verbose>, "say what was chosen, such as batch axes"},
    Flag{"--list", "", "explain", SetTrue<&Options::list>, "every code with its message"},
    Flag{"--color", "auto|always|never", "*", SetWord<kColors, &Options::color>, "default: on a terminal; NO_COLOR, CLICOLOR_FORCE"},
    Flag{"--help", "", "*", SetTrue<&Options::help>, "this text"},
    Flag{"--version", "", "*", SetTrue<&Options::version>, "the version of wfc"},
    Flag{"--fix", "", "check", nullptr, ""},
    Flag{"--watch", "", "run", nullptr, ""},
    Flag{"--from", "URL", "graph", nullptr, ""},
    Flag{"--time-trace", "FILE", "build", nullptr, ""},
    Flag{"-MMD", "", "build", nullptr, ""},
};

bool AppliesTo(const Flag& flag, std::string_view command) {
  if (flag.commands == "*") return true;
  const std::string padded = fmt::format(" {} ", flag.commands);
  return padded.find(fmt::format(" {} ", command)) != std::string::npos;
}

const Flag* FindFlag(std::string_view name, std::string_view command) {
  const auto row = std::find_if(kFlags.begin(), kFlags.end(), [&](const Flag& f) { return f.name == name && AppliesTo(f, command); });
  return row == kFlags.end() ? nullptr : &*row;
}

struct Written {
  std::string name;
  std::optional<std::string> value;
};

// `--name=value`, `--name`, `-o`, `-O2`.
Written Split(const std::string& argument) {
  if (argument.starts_with("-O") && argument.size() > 2) return {"-O", argument.substr(2)};
  if (argument == "-h") return {"--help", {}};
  if (argument == "-V") return {"--version", {}};
  if (argument == "-v") return {"--verbose", {}};
  const size_t equals = argument.find('=');
  if (equals == std::string::npos || !argument.starts_with("--")) return {argument, {}};
  return {argument.substr(0, equals), argument.substr(equals + 1)};
}

std::string UnknownFlag(std::string_view name, std::string_view command) {
  std::vector<std::string> names;
  bool elsewhere = false;
  for (const Flag& flag : kFlags) {
    if (AppliesTo(flag, command)) names.emplace_back(flag.name);
    elsewhere = elsewhere || flag.name == name;
  }
  if (elsewhere) return fmt::format("`{}` is no option of `wfc {}`", name, command);
  const auto near = diag::Suggest(name, names);
  return fmt::format("unknown option `{}`{}", name, near ? "; " + *near : "");
}

}  // namespace

std::optional<Options> ParseOptions(std::string_view command, const std::vector<std::string>& arguments, std::string& error) {
  Options options;
  for (size_t at = 0; at < arguments.size(); ++at) {
    const std::string& argument = arguments[at];
    if (argument == "--") {
      options.server_arguments.assign(arguments.begin() + static_cast<ptrdiff_t>(at) + 1, arguments.end());
      if (command == "run") return options;
      options.inputs.insert(options.inputs.end(), options.server_arguments.begin(), options.server_arguments.end());
      return options;
    }
    if (!argument.starts_with('-') || argument == "-") {
      options.inputs.push_back(argument);
      continue;
    }
    Written written = Split(argument);
    const Flag* flag = FindFlag(written.name, command);
    if (flag == nullptr) {
      error = UnknownFlag(written.name, command);
      return std::nullopt;
    }
    if (flag->set == nullptr) {
      error = fmt::format("`{}` is not part of this version of wfc", flag->name);
      return std::nullopt;
    }
    if (flag->value.empty() && written.value) {
      error = fmt::format("`{}` takes no value", flag->name);
      return std::nullopt;
    }
    if (!flag->value.empty() && !written.value) {
      if (++at == arguments.size()) {
        error = fmt::format("`{}` needs a value: {}", flag->name, flag->value);
        return std::nullopt;
      }
      written.value = arguments[at];
    }
    const bool allowed = flag->value.find("dot") != std::string_view::npos || written.value != "dot" || flag->name != "--format";
    if (!allowed || !flag->set(options, written.value.value_or(""))) {
      error = fmt::format("`{}` is no value of `{}`; it takes {}", *written.value, flag->name, flag->value);
      return std::nullopt;
    }
  }
  return options;
}

std::string OptionsHelp(std::string_view command) {
  std::string text;
  for (const Flag& flag : kFlags) {
    if (flag.set == nullptr || !AppliesTo(flag, command)) continue;
    const std::string_view joint = flag.value.empty() || flag.name == "-O" ? "" : flag.name.starts_with("--") ? "=" : " ";
    text += fmt::format("  {:<52} {}\n", fmt::format("{}{}{}", flag.name, joint, flag.value), flag.help);
  }
  return text;
}

}  // namespace wf::driver
