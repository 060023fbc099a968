#include "compiler/driver/completions.h"

#include <fmt/format.h>

#include "compiler/driver/options.h"

namespace wf::driver {
namespace {

// The words that may stand as an argument of the command, `Wfnnnn | --list` and `FILE` being none.
std::vector<std::string_view> WordsOfArguments(const CommandInfo& command) {
  return WordsOf({.name = {}, .value = command.name == "completions" ? "bash|zsh|fish" : "", .commands = {}, .help = {}});
}

bool TakesPrograms(const CommandInfo& command) { return command.arguments.find(".wf") != std::string_view::npos; }

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
      const auto words = WordsOf(flag);
      values += words.empty() ? fmt::format("        {}) files=any ;;\n", flag.name)
                              : fmt::format("        {}) words='{}' ;;\n", flag.name, fmt::join(words, " "));
    }
    cases += fmt::format(
        "    {})\n      case \"$before\" in\n{}"
        "        *) case \"$word\" in -*) words='{}' ;; *) words='{}' files={} ;; esac ;;\n      esac\n      ;;\n",
        command.name, values, flags, fmt::join(WordsOfArguments(command), " "), TakesPrograms(command) ? "wf" : "any");
  }
  return fmt::format(R"(# bash completion of wfc; made by `wfc completions bash`
_wfc() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD - 1]}}" words='' files=''
  COMPREPLY=()
  if [[ "$word" == = ]]; then word=''; fi
  if [[ "$before" == = ]]; then before="${{COMP_WORDS[COMP_CWORD - 2]}}"; fi
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$word"))
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [[ "$files" == wf ]]; then COMPREPLY+=($(compgen -f -X '!*.wf' -- "$word") $(compgen -d -S / -- "$word")); fi
  if [[ "$files" == any && -z "$words" ]]; then COMPREPLY+=($(compgen -f -- "$word")); fi
}}
complete -o nospace -F _wfc wfc
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
    cases += fmt::format("    {})\n      _arguments", command.name);
    for (const FlagInfo& flag : FlagsOf(command.name)) {
      const auto words = WordsOf(flag);
      const std::string value =
          words.empty() ? (flag.value == "FILE" ? ":value:_files" : ":value: ") : fmt::format(":value:({})", fmt::join(words, " "));
      const bool joined = !flag.value.empty() && flag.name.starts_with("--");
      cases +=
          fmt::format(" \\\n        {}",
                      Quoted(fmt::format("{}{}[{}]{}", flag.name, joined ? "=" : "", ZshText(flag.help), flag.value.empty() ? "" : value)));
    }
    const auto words = WordsOfArguments(command);
    const std::string rest = !words.empty()           ? fmt::format("*:argument:({})", fmt::join(words, " "))
                             : TakesPrograms(command) ? "*:program:_files -g \"*.wf\""
                                                      : "*:file:_files";
    cases += fmt::format(" \\\n        {}\n      ;;\n", Quoted(rest));
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
_wfc "$@"
)",
                     names, cases);
}

std::string Fish(const std::vector<CommandInfo>& commands) {
  std::string text = "# fish completion of wfc; made by `wfc completions fish`\ncomplete -c wfc -f\n";
  for (const CommandInfo& command : commands) {
    text += fmt::format("complete -c wfc -n __fish_use_subcommand -a {} -d {}\n", command.name, Quoted(command.summary));
    const std::string here = fmt::format("complete -c wfc -n '__fish_seen_subcommand_from {}'", command.name);
    for (const FlagInfo& flag : FlagsOf(command.name)) {
      const auto words = WordsOf(flag);
      const std::string name = flag.name.starts_with("--") ? fmt::format("-l {}", flag.name.substr(2))
                               : flag.name.size() == 2     ? fmt::format("-s {}", flag.name.substr(1))
                                                           : fmt::format("-o {}", flag.name.substr(1));
      const std::string value = flag.value.empty() ? ""
                                : words.empty()    ? (flag.value == "FILE" ? " -r -F" : " -x")
                                                   : fmt::format(" -x -a '{}'", fmt::join(words, " "));
      text += fmt::format("{} {}{} -d {}\n", here, name, value, Quoted(flag.help));
    }
    const auto words = WordsOfArguments(command);
    if (!words.empty()) text += fmt::format("{} -a '{}'\n", here, fmt::join(words, " "));
    if (words.empty() && !command.arguments.empty()) text += fmt::format("{} -F\n", here);
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
