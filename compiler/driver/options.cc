#include "compiler/driver/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <type_traits>

#include "compiler/base/ascii.h"
#include "compiler/diag/emitter.h"
#include "runtime/base/units.h"

namespace wf::driver {
namespace {

template <typename E>
struct Word {
  std::string_view text;
  E value;
};
constexpr std::array kFormats = {Word{"text", Format::kText},       Word{"json", Format::kJson},  Word{"dot", Format::kDot},
                                 Word{"mermaid", Format::kMermaid}, Word{"svg", Format::kSvg},    Word{"sarif", Format::kSarif},
                                 Word{"github", Format::kGithub},   Word{"tap", Format::kTap},    Word{"junit", Format::kJunit},
                                 Word{"openapi", Format::kOpenApi}, Word{"proto", Format::kProto}};
constexpr std::array kColors = {Word{"auto", ColorWhen::kAuto}, Word{"always", ColorWhen::kAlways}, Word{"never", ColorWhen::kNever}};
constexpr std::array kLevels = {Word{"workflow", Level::kWorkflow}, Word{"stage", Level::kStage}, Word{"node", Level::kNode},
                                Word{"task", Level::kTask}};
constexpr std::array kEmits = {Word{"ast", Emit::kAst}, Word{"sema", Emit::kSema}, Word{"header", Emit::kHeader},
                               Word{"ir", Emit::kIr},   Word{"llvm", Emit::kLlvm}, Word{"asm", Emit::kAsm},
                               Word{"obj", Emit::kObj}, Word{"exe", Emit::kExe}};
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
template <typename T>
std::optional<T> ReadNumber(std::string_view value) {
  T number{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size() ? std::optional(number) : std::nullopt;
}
template <auto member>
bool SetTrue(Options& options, std::string_view) {
  options.*member = true;
  return true;
}
bool SetRate(Options& options, std::string_view value) {
  options.rate = ReadNumber<double>(value).value_or(0);
  return options.rate > 0 && options.rate <= 10e6;
}
bool AddHeader(Options& options, std::string_view value) {
  const bool clean = std::none_of(value.begin(), value.end(), [](unsigned char c) { return c < ' ' || c == 0x7F; });
  const size_t colon = value.find(':');
  options.headers.emplace_back(value);
  return clean && colon != 0 && colon != std::string_view::npos && value.find(' ') > colon;
}
bool TakeText(Options&, std::string_view value) { return !value.empty(); }
bool SetNothing(Options&, std::string_view) { return true; }

// How a flag's value is read, and what it may be where the flag's line does not say it all.
struct Setter {
  using Set = bool (*)(Options&, std::string_view);
  using Takes = std::string (*)();
  constexpr Setter(Set set_value, Takes takes_what = nullptr) : set(set_value), takes(takes_what) {}
  Set set;
  Takes takes;
};

constexpr int64_t kNoEnd = INT64_MAX, kLongestNs = 24 * 3600 * base::kNsPerSecond;
template <auto member, int64_t least, int64_t most>
constexpr Setter kWhole{[](Options& options, std::string_view value) {
                          const auto number = ReadNumber<int64_t>(value);
                          if (!number || *number < least || *number > most) return false;
                          options.*member = static_cast<std::remove_reference_t<decltype(options.*member)>>(*number);
                          return true;
                        },
                        [] { return fmt::format("a whole number from {}{}", least, most == kNoEnd ? "" : fmt::format(" to {}", most)); }};
// In seconds where no unit stands.
std::optional<int64_t> ReadTime(std::string_view value, int64_t least_ns) {
  const auto time_ns = base::ReadMeasure(value, base::kTimeUnits, "s");
  return time_ns && *time_ns >= least_ns && *time_ns <= kLongestNs ? time_ns : std::nullopt;
}
std::string TakesTime(int64_t least_ns) {
  return fmt::format("a time from {} to {}, as `30` (seconds) or `2m`", base::DurationText(least_ns), base::DurationText(kLongestNs));
}
template <auto member, int64_t least_ns>
constexpr Setter kTime{[](Options& options, std::string_view value) {
                         const auto time_ns = ReadTime(value, least_ns);
                         options.*member = time_ns.value_or(0);
                         return time_ns.has_value();
                       },
                       [] { return TakesTime(least_ns); }};
constexpr Setter kOptimize{kWhole<&Options::optimize, 0, 3>.set};  // "0..3" says it
// Of `wfc model`, which hands the text on.
template <int64_t least, int64_t most>
constexpr Setter kWholeText{
    [](Options&, std::string_view value) {
      const auto number = ReadNumber<int64_t>(value);
      return number && *number >= least && *number <= most;
    },
    [] { return fmt::format("a whole number from {}{}", least, most == kNoEnd ? "" : fmt::format(" to {}", most)); }};
template <int64_t least_ns>
constexpr Setter kTimeText{[](Options&, std::string_view value) { return ReadTime(value, least_ns).has_value(); },
                           [] { return TakesTime(least_ns); }};
constexpr Setter kToleranceText{[](Options&, std::string_view value) {
                                  const double number = ReadNumber<double>(value).value_or(-1);
                                  return number >= 0 && number <= 1e300;
                                },
                                [] { return std::string("a number from 0"); }};
constexpr Setter kRate{SetRate, [] { return std::string("a number above 0, at most 10000000"); }};

struct Flag {
  FlagInfo info;
  Setter setter;
};

constexpr std::array kFlags = {
#define FLAG(name, value, commands, setter, help) Flag{{name, value, commands, help}, setter},
#include "compiler/driver/flags.def"
};

const Flag* FindFlag(std::string_view name, std::string_view command) {
  const auto row =
      std::find_if(kFlags.begin(), kFlags.end(), [&](const Flag& f) { return f.info.name == name && AppliesTo(f.info, command); });
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

// Whether the value is one of the words that the flag names; a flag that also names a kind of value admits all.
bool Admits(const FlagInfo& flag, std::string_view value) {
  const auto words = WordsOf(flag);
  return words.empty() || std::find(words.begin(), words.end(), value) != words.end();
}

// What `-d` may stand for: "did you mean `--data` or `--duration`?"
std::optional<std::string> SuggestForLetter(char letter, const std::vector<std::string>& names) {
  std::string found;
  for (const std::string& name : names) {
    if (name.starts_with(std::string("--") + letter)) found += (found.empty() ? "`" : " or `") + name + '`';
  }
  return found.empty() ? std::nullopt : std::optional("did you mean " + found + '?');
}

std::string UnknownFlag(std::string_view name, std::string_view command) {
  std::vector<std::string> names;
  bool elsewhere = false;
  for (const Flag& flag : kFlags) {
    if (AppliesTo(flag.info, command)) names.emplace_back(flag.info.name);
    elsewhere = elsewhere || flag.info.name == name;
  }
  if (elsewhere) {
    const bool is_output = name == "--output" && std::find(names.begin(), names.end(), "-o") != names.end();
    return fmt::format("`{}` is no option of `wfc {}`{}", name, command, is_output ? "; did you mean `-o`" : "");
  }
  const bool is_letter = name.size() == 2 && name[1] != '-';
  const auto near = is_letter ? SuggestForLetter(name[1], names) : diag::Suggest(name, names);
  const std::string help = near ? *near
                           : command == "run" || command == "model serve"
                               ? "flags of the server come after `--`"
                               : fmt::format("`wfc {} --help` lists those that there are", command);
  return fmt::format("unknown option `{}`; {}", name, help);
}

}  // namespace

bool AppliesTo(const FlagInfo& flag, std::string_view command) {
  if (flag.commands == "*") return true;
  const std::string padded = fmt::format(" {} ", flag.commands);
  std::string name = fmt::format(" {} ", command);
  if (command.starts_with("model ")) name[6] = '-';
  return padded.find(name) != std::string::npos;
}

bool IsFlag(const std::string& argument) {
  const std::string name = Split(argument).name;
  return std::any_of(kFlags.begin(), kFlags.end(), [&](const Flag& flag) { return flag.info.name == name; });
}

std::vector<std::string_view> WordsAmong(const FlagInfo& flag) {
  const auto is_word = [](std::string_view text) {
    const auto stands = [](char c) { return (c >= 'a' && c <= 'z') || base::IsDigit(c) || c == '-'; };
    return base::IsLetter(text.empty() ? '0' : text[0]) && std::all_of(text.begin(), text.end(), stands);
  };
  std::vector<std::string_view> words;
  for (std::string_view rest = flag.value; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find('|'));
    if (is_word(word)) words.push_back(word);
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return words;
}

std::vector<std::string_view> WordsOf(const FlagInfo& flag) {
  const auto words = WordsAmong(flag);
  const auto bars = static_cast<size_t>(std::count(flag.value.begin(), flag.value.end(), '|'));
  return words.size() == bars + 1 ? words : std::vector<std::string_view>();
}

std::vector<FlagInfo> FlagsOf(std::string_view command) {
  std::vector<FlagInfo> flags;
  for (const Flag& flag : kFlags) {
    if (AppliesTo(flag.info, command)) flags.push_back(flag.info);
  }
  return flags;
}

std::optional<Options> ParseOptions(std::string_view command, const std::vector<std::string>& arguments, std::string& error) {
  Options options;
  for (size_t at = 0; at < arguments.size(); ++at) {
    const std::string& argument = arguments[at];
    if (argument == "--") {
      options.server_arguments.assign(arguments.begin() + static_cast<ptrdiff_t>(at) + 1, arguments.end());
      if (command == "run" || command == "bench" || command == "model serve") return options;
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
    if (flag->info.value.empty() && written.value) {
      error = fmt::format("`{}` takes no value", flag->info.name);
      return std::nullopt;
    }
    if (!flag->info.value.empty() && !written.value) {
      if (++at == arguments.size()) {
        error = fmt::format("`{}` needs a value: {}", flag->info.name, flag->info.value);
        return std::nullopt;
      }
      written.value = arguments[at];
    }
    if (!Admits(flag->info, written.value.value_or("")) || !flag->setter.set(options, written.value.value_or(""))) {
      const auto takes = flag->setter.takes;
      error = fmt::format("`{}` is no value of `{}`; it takes {}{}", *written.value, flag->info.name, flag->info.value,
                          takes != nullptr ? ", " + takes() : "");
      return std::nullopt;
    }
    options.flags.push_back(written.value ? fmt::format("{}={}", flag->info.name, *written.value) : std::string(flag->info.name));
  }
  return options;
}

std::string OptionsHelp(std::string_view command) {
  std::string text;
  for (const auto& [name, value, commands, help] : FlagsOf(command)) {
    const std::string_view joint = value.empty() || name == "-O" ? "" : name.starts_with("--") ? "=" : " ";
    text += fmt::format("  {:<52} {}\n", fmt::format("{}{}{}", name, joint, value), help);
  }
  return text;
}

}  // namespace wf::driver
