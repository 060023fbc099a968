#include "compiler/driver/completions.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/explain.h"
#include "compiler/driver/model.h"
#include "compiler/driver/options.h"

namespace wf::driver {
namespace {

// The words that may stand as an argument of the command, `FILE` being none.
std::vector<std::string> WordsOfArguments(const CommandInfo& command, const std::vector<CommandInfo>& commands) {
  if (command.name == "completions") return {"bash", "zsh", "fish"};
  std::vector<std::string> words;
  if (command.name == "help") {
    for (const CommandInfo& one : commands) words.emplace_back(one.name);
  }
  if (command.name == "model") {
    for (const ModelCommand& one : ModelCommands()) words.emplace_back(one.info.name.substr(command.name.size() + 1));
  }
  if (command.name == "explain") {
    for (const ErrorPage& page : ErrorPages()) words.push_back(fmt::format("WF{:04}", page.number));
  }
  return words;
}

enum class Files : uint8_t { kNone, kPrograms, kAny };

Files FilesOf(const CommandInfo& command) {
  const auto names = [&](std::string_view word) { return command.arguments.find(word) != std::string_view::npos; };
  if (names("SERVER") || names("OLD") || command.name == "model") return Files::kAny;
  return names(".wf") ? Files::kPrograms : Files::kNone;
}
bool TakesFile(const FlagInfo& flag) { return flag.value == "FILE" || flag.value == "OLD"; }

// What may stand behind the flag as it is spelt here, other values beside it or not: of `native|generic|NAME` the first two.
std::vector<std::string_view> Offered(const FlagInfo& flag) {
  std::vector<std::string_view> words;
  for (std::string_view rest = flag.value; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find('|'));
    if (std::all_of(word.begin(), word.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; })) words.push_back(word);
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  }
  return words;
}

// For a shell's single quotes.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string Bash(const std::vector<CommandInfo>& commands) {
  std::string names, cases;
  for (const CommandInfo& command : commands) {
    names += fmt::format("{}{}", names.empty() ? "" : " ", command.name);
    std::string flags, values;
    for (const FlagInfo& flag : FlagsOf(command.name)) {
      flags += fmt::format("{}{}", flags.empty() ? "" : " ", flag.name);
      if (flag.value.empty()) continue;
      values += TakesFile(flag) ? fmt::format("        {}) files=any ;;\n", flag.name)
                                : fmt::format("        {}) words='{}' ;;\n", flag.name, fmt::join(Offered(flag), " "));
    }
    constexpr std::string_view kFiles[] = {"", "wf", "any"};
    cases += fmt::format(
        "    {})\n      case \"$before\" in\n{}"
        "        *) case \"$word\" in -*) words='{}' ;; *) words='{}' files='{}' ;; esac ;;\n      esac\n      ;;\n",
        command.name, values, flags, fmt::join(WordsOfArguments(command, commands), " "), kFiles[static_cast<size_t>(FilesOf(command))]);
  }
  return fmt::format(R"(# bash completion of wfc; made by `wfc completions bash`
_wfc() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD - 1]}}" words='' files=''
  if [[ "$word" == = ]]; then word=''; fi
  if [[ "$before" == = ]]; then before="${{COMP_WORDS[COMP_CWORD - 2]}}"; fi
  if ((COMP_CWORD == 1)); then
    words='{} --help --version'
  else
    case "${{COMP_WORDS[1]}}" in
{}    esac
  fi
  if [[ -n "$files" ]]; then compopt -o filenames 2>/dev/null; fi
  mapfile -t COMPREPLY < <(
    compgen -W "$words" -- "$word"
    case "$files" in
      wf) compgen -f -X '!*.wf' -- "$word"; compgen -d -- "$word" ;;
      any) compgen -f -- "$word" ;;
    esac)
}}
complete -F _wfc wfc
)",
                     names, cases);
}

// For a description in `_arguments` and `_describe`: `:`, `[` and `]` have a meaning there.
std::string ZshText(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == ':' || c == '[' || c == ']') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string Zsh(const std::vector<CommandInfo>& commands) {
  std::string names, cases;
  for (const CommandInfo& command : commands) {
    names += fmt::format("    {}\n", Quoted(fmt::format("{}:{}", command.name, ZshText(command.summary))));
    cases += fmt::format("    {})\n      _arguments :", command.name);  // `:`: no option of its own follows, such as -O
    for (const FlagInfo& flag : FlagsOf(command.name)) {
      const auto words = Offered(flag);
      const std::string value =
          words.empty() ? (TakesFile(flag) ? ":value:_files" : ":value: ") : fmt::format(":value:({})", fmt::join(words, " "));
      const bool joined = !flag.value.empty() && flag.name.starts_with("--");
      cases +=
          fmt::format(" \\\n        {}",
                      Quoted(fmt::format("{}{}[{}]{}", flag.name, joined ? "=" : "", ZshText(flag.help), flag.value.empty() ? "" : value)));
    }
    const auto words = WordsOfArguments(command, commands);
    const Files files = FilesOf(command);
    const std::string rest = !words.empty()              ? fmt::format("*:argument:({})", fmt::join(words, " "))
                             : files == Files::kPrograms ? "*:program:_files -g \"*.wf\""
                             : files == Files::kAny      ? "*:file:_files"
                                                         : "";
    cases += rest.empty() ? "\n      ;;\n" : fmt::format(" \\\n        {}\n      ;;\n", Quoted(rest));
  }
  return fmt::format(R"(#compdef wfc
# zsh completion of wfc; made by `wfc completions zsh`
_wfc() {{
  local -a commands
  commands=(
{}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command="${{words[2]}}"
  shift words
  ((CURRENT--))
  case "$command" in
{}  esac
}}
if [[ "${{funcstack[1]}}" == _wfc ]]; then _wfc "$@"; else compdef _wfc wfc; fi
)",
                     names, cases);
}

std::string Fish(const std::vector<CommandInfo>& commands) {
  std::string text = "# fish completion of wfc; made by `wfc completions fish`\ncomplete -c wfc -f\n";
  for (const CommandInfo& command : commands) {
    text += fmt::format("complete -c wfc -n __fish_use_subcommand -a {} -d {}\n", command.name, Quoted(command.summary));
    const std::string here = fmt::format("complete -c wfc -n '__fish_seen_subcommand_from {}'", command.name);
    for (const FlagInfo& flag : FlagsOf(command.name)) {
      const auto words = Offered(flag);
      const std::string name = flag.name.starts_with("--") ? fmt::format("-l {}", flag.name.substr(2))
                               : flag.name.size() == 2     ? fmt::format("-s {}", flag.name.substr(1))
                                                           : fmt::format("-o {}", flag.name.substr(1));
      const std::string value = flag.value.empty() ? ""
                                : words.empty()    ? (TakesFile(flag) ? " -r -F" : " -x")
                                                   : fmt::format(" -x -a '{}'", fmt::join(words, " "));
      text += fmt::format("{} {}{} -d {}\n", here, name, value, Quoted(flag.help));
    }
    const auto words = WordsOfArguments(command, commands);
    if (!words.empty()) text += fmt::format("{} -a '{}'\n", here, fmt::join(words, " "));
    if (FilesOf(command) != Files::kNone) text += fmt::format("{} -F\n", here);
  }
  return text;
}

}  // namespace

std::optional<std::string> CompletionScript(std::string_view shell, const std::vector<CommandInfo>& commands) {
  if (shell == "bash") return Bash(commands);
  if (shell == "zsh") return Zsh(commands);
  if (shell == "fish") return Fish(commands);
  return std::nullopt;
}

}  // namespace wf::driver
