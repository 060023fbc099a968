#include "compiler/driver/completions.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/driver/explain.h"
#include "compiler/driver/model.h"
#include "compiler/driver/options.h"

namespace wf::driver {
namespace {

enum class Files : uint8_t { kNone, kPrograms, kFolders, kAny };

// What may stand behind a command; those of `wfc model` are commands of their own here.
struct Completed {
  std::string_view name, summary;
  std::vector<FlagInfo> flags;
  std::vector<std::string> words;  // that may be arguments
  Files files;                     // that may be
  bool passes_on;                  // what stands behind `--`, which are flags of a server
};

std::vector<std::string> WordsOfArguments(std::string_view command, const std::vector<CommandInfo>& commands,
                                          const std::vector<std::string>& modules) {
  if (command == "completions") return {"bash", "zsh", "fish"};
  std::vector<std::string> words;
  if (command == "help") {
    for (const CommandInfo& one : commands) words.emplace_back(one.name);
  }
  if (command == "model") {
    for (const ModelCommand& one : ModelCommands()) words.emplace_back(one.info.name.substr(command.size() + 1));
  }
  if (command == "explain") {
    for (const ErrorPage& page : ErrorPages()) words.push_back(fmt::format("WF{:04}", page.number));
  }
  if (command == "doc") {
    words = modules;
    words.emplace_back("std");
  }
  return words;
}

Files FilesOf(const CommandInfo& command) {
  const auto names = [&](std::string_view word) { return command.arguments.find(word) != std::string_view::npos; };
  if (names("SERVER") || names("NEW") || names(".onnx")) return Files::kAny;
  if (names(".wf")) return Files::kPrograms;
  return names("FOLDER") ? Files::kFolders : Files::kNone;
}
Files FilesOf(const FlagInfo& flag) {
  if (flag.value == "FOLDER") return Files::kFolders;
  return flag.value == "FILE" || flag.value == "OLD" ? Files::kAny : Files::kNone;
}

std::vector<Completed> AllCompleted(const std::vector<CommandInfo>& commands, const std::vector<std::string>& modules) {
  std::vector<Completed> all;
  const auto add = [&](const CommandInfo& one) {
    const bool passes_on = one.arguments.find("-- FLAGS") != std::string_view::npos;
    all.push_back({one.name, one.summary, FlagsOf(one.name), WordsOfArguments(one.name, commands, modules), FilesOf(one), passes_on});
  };
  for (const CommandInfo& one : commands) add(one);
  for (const ModelCommand& one : ModelCommands()) add(one.info);
  return all;
}
bool IsOfModel(const Completed& command) { return command.name.find(' ') != std::string_view::npos; }

// Those that may stand in place of a command.
std::vector<FlagInfo> FlagsOfAll() {
  std::vector<FlagInfo> flags = FlagsOf("");
  std::erase_if(flags, [](const FlagInfo& flag) { return !flag.value.empty(); });  // they are asked, and set nothing
  return flags;
}

// For a shell's single quotes.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string NamesOf(const std::vector<FlagInfo>& flags) {
  std::string names;
  for (const FlagInfo& flag : flags) names += fmt::format("{}{}", names.empty() ? "" : " ", flag.name);
  return names;
}

std::string BashCase(const Completed& command) {
  constexpr std::string_view kFiles[] = {"", "wf", "folders", "any"};
  const auto files = [&](Files kind) { return kFiles[static_cast<size_t>(kind)]; };
  std::string values;
  for (const FlagInfo& flag : command.flags) {
    if (flag.value.empty()) continue;
    values += fmt::format("        {}) words='{}' files='{}' ;;\n", flag.name, fmt::join(WordsAmong(flag), " "), files(FilesOf(flag)));
  }
  const std::string arguments = fmt::format("words='{}' files='{}'", fmt::join(command.words, " "), files(command.files));
  return fmt::format(
      "    '{0}')\n      case \"$before\" in\n{1}        *) case \"$word\" in -*) words='{2}' ;; *) {3} ;; esac ;;\n      esac\n      ;;\n"
      "    '{0} --') {4} ;;\n",
      command.name, values, NamesOf(command.flags), arguments, command.passes_on ? "files='any'" : arguments);
}

std::string Bash(const std::vector<Completed>& commands) {
  std::string names, cases;
  for (const Completed& command : commands) {
    if (!IsOfModel(command)) names += fmt::format("{}{}", names.empty() ? "" : " ", command.name);
    cases += BashCase(command);
  }
  return fmt::format(R"(# bash completion of wfc; made by `wfc completions bash`
_wfc() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD - 1]}}" words='' files='' command="${{COMP_WORDS[1]}}" at
  if [[ "$word" == = ]]; then word=''; fi
  if [[ "$before" == = ]]; then before="${{COMP_WORDS[COMP_CWORD - 2]}}"; fi
  if [[ "$command" == model ]] && ((COMP_CWORD > 2)); then command="model ${{COMP_WORDS[2]}}"; fi
  for ((at = 2; at < COMP_CWORD; at++)); do
    if [[ "${{COMP_WORDS[at]}}" == -- ]]; then command+=' --'; break; fi
  done
  if ((COMP_CWORD == 1)); then
    words='{} {}'
  else
    case "$command" in
{}    esac
  fi
  if [[ -n "$files" ]]; then compopt -o filenames 2>/dev/null; fi
  mapfile -t COMPREPLY < <(
    compgen -W "$words" -- "$word"
    case "$files" in
      wf) compgen -f -X '!*.wf' -- "$word"; compgen -d -- "$word" ;;
      folders) compgen -d -- "$word" ;;
      any) compgen -f -- "$word" ;;
    esac)
}}
complete -F _wfc wfc
)",
                     names, NamesOf(FlagsOfAll()), cases);
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

// What `_arguments` calls for files; empty: none.
std::string_view ZshFiles(Files files) {
  constexpr std::string_view kCalls[] = {"", "_files -g \"*.wf\"", "_files -/", "_files"};
  return kCalls[static_cast<size_t>(files)];
}

std::string ZshFlag(const FlagInfo& flag) {
  const auto words = WordsAmong(flag);
  const std::string value = flag.value.empty() ? ""
                            : words.empty()    ? fmt::format(":value:{}", FilesOf(flag) == Files::kNone ? " " : ZshFiles(FilesOf(flag)))
                                               : fmt::format(":value:({})", fmt::join(words, " "));
  const bool joined = !flag.value.empty() && flag.name.starts_with("--");
  return fmt::format("{}{}[{}]{}", flag.name, joined ? "=" : "", ZshText(flag.help), value);
}

std::string ZshArguments(const Completed& command) {
  const std::string_view files = ZshFiles(command.files);
  if (command.words.empty()) return files.empty() ? "" : fmt::format("*:file:{}", files);
  const std::string words = fmt::format("{}", fmt::join(command.words, " "));
  return files.empty() ? fmt::format("*:argument:({})", words) : fmt::format("*:argument:{{compadd -- {}; {}}}", words, files);
}

std::string Zsh(const std::vector<Completed>& commands) {
  std::string names, cases, passing, flags;
  for (const Completed& command : commands) {
    const std::string name = Quoted(command.name);
    if (!IsOfModel(command)) names += fmt::format("    {}\n", Quoted(fmt::format("{}:{}", command.name, ZshText(command.summary))));
    if (command.passes_on) passing += fmt::format("{}{}", passing.empty() ? "" : "|", name);
    cases += fmt::format("    {})\n      _arguments -S :", name);  // `:`: no option of its own follows, such as -O
    for (const FlagInfo& flag : command.flags) cases += fmt::format(" \\\n        {}", Quoted(ZshFlag(flag)));
    const std::string arguments = ZshArguments(command);
    cases += arguments.empty() ? "\n      ;;\n" : fmt::format(" \\\n        {}\n      ;;\n", Quoted(arguments));
  }
  for (const FlagInfo& flag : FlagsOfAll()) flags += fmt::format(" {}", Quoted(fmt::format("{}:{}", flag.name, ZshText(flag.help))));
  return fmt::format(R"(#compdef wfc
# zsh completion of wfc; made by `wfc completions zsh`
_wfc() {{
  local -a commands flags
  commands=(
{}  )
  flags=({})
  if ((CURRENT == 2)); then
    _describe command commands
    _describe -o flag flags
    return
  fi
  local command="${{words[2]}}"
  shift words
  ((CURRENT--))
  if [[ "$command" == model ]] && ((CURRENT > 2)); then
    command="model ${{words[2]}}"
    shift words
    ((CURRENT--))
  fi
  if ((${{words[(i)--]}} < CURRENT)); then
    case "$command" in
    {}) _files; return ;;
    esac
  fi
  case "$command" in
{}  esac
}}
if [[ "${{funcstack[1]}}" == _wfc ]]; then _wfc "$@"; else compdef _wfc wfc; fi
)",
                     names, flags, passing, cases);
}

std::string FishFlag(const FlagInfo& flag) {
  const auto words = WordsAmong(flag);
  const std::string_view name = flag.name;
  const std::string spelt = name.starts_with("--") ? fmt::format("-l {}", name.substr(2))
                            : name.size() == 2     ? fmt::format("-s {}", name.substr(1))
                                                   : fmt::format("-o {}", name.substr(1));
  constexpr std::string_view kFiles[] = {" -x", "", " -x -a '(__fish_complete_directories)'", " -r -F"};
  const std::string value = flag.value.empty() ? ""
                            : words.empty()    ? std::string(kFiles[static_cast<size_t>(FilesOf(flag))])
                                               : fmt::format(" -x -a '{}'", fmt::join(words, " "));
  return fmt::format(" {}{} -d {}\n", spelt, value, Quoted(flag.help));
}

// A line that offers files at the place that `here` begins with; empty: none.
std::string FishFiles(Files files, const std::string& here) {
  if (files == Files::kNone) return "";
  return here + (files == Files::kFolders ? " -a '(__fish_complete_directories)'\n" : " -F\n");
}

std::string Fish(const std::vector<Completed>& commands) {
  std::string text = R"(# fish completion of wfc; made by `wfc completions fish`
function __wfc_at -d 'Whether this is being written: no command yet, "run", "model run", or "run --", behind that'
  set -l words (commandline -opc)[2..]
  set -l at $words[1]
  if test "$at" = model
    set at (string join ' ' $words[1..2])
  end
  if contains -- -- $words
    set at "$at --"
  end
  test "$at" = "$argv"
end
complete -c wfc -f
)";
  for (const FlagInfo& flag : FlagsOfAll()) text += "complete -c wfc -n '__wfc_at \"\"'" + FishFlag(flag);
  for (const Completed& command : commands) {
    if (!IsOfModel(command)) text += fmt::format("complete -c wfc -n '__wfc_at \"\"' -a {} -d {}\n", command.name, Quoted(command.summary));
    const std::string here = fmt::format("complete -c wfc -n '__wfc_at {}'", command.name);
    const std::string behind = fmt::format("complete -c wfc -n '__wfc_at {} --'", command.name);
    for (const FlagInfo& flag : command.flags) text += here + FishFlag(flag);
    if (!command.words.empty()) text += fmt::format("{} -a '{}'\n", here, fmt::join(command.words, " "));
    text += FishFiles(command.files, here) + FishFiles(command.passes_on ? Files::kAny : command.files, behind);
  }
  return text;
}

}  // namespace

std::optional<std::string> CompletionScript(std::string_view shell, const std::vector<CommandInfo>& commands,
                                            const std::vector<std::string>& modules) {
  const std::vector<Completed> all = AllCompleted(commands, modules);
  if (shell == "bash") return Bash(all);
  if (shell == "zsh") return Zsh(all);
  if (shell == "fish") return Fish(all);
  return std::nullopt;
}

}  // namespace wf::driver
