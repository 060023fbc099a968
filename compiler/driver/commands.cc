#include "compiler/driver/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/ast/printer.h"
#include "compiler/diag/emitter.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/explain.h"
#include "compiler/driver/options.h"

namespace wf::driver {
namespace {

struct Command {
  std::string_view name, arguments, summary;
  int (*run)(const Options&, Console&);  // null: a later version has it
};

int Usage(Console& console, std::string_view message) {
  console.err << "wfc: " << message << "\n";
  return kUsage;
}

int Check(const Options& options, Console& console) {
  if (options.inputs.empty()) return Usage(console, "`wfc check` needs a .wf file");
  if (options.emit && *options.emit != Emit::kAst) return Usage(console, "`wfc check` emits `ast`");
  int status = kFine;
  for (const std::string& input : options.inputs) {
    Compilation compilation(input, options, console);
    compilation.Parse();
    const auto& root = compilation.modules().front().file;
    if (options.emit == Emit::kAst && root != nullptr) console.out << ast::Print(*root, compilation.sources());
    status = std::max<int>(status, compilation.Finish());
  }
  return status;
}

int Build(const Options& options, Console& console) {
  if (options.inputs.size() != 1) return Usage(console, "`wfc build` needs one .wf file");
  if (options.emit != Emit::kAst) return Usage(console, "this version of wfc builds `--emit=ast` only");
  Compilation compilation(options.inputs.front(), options, console);
  compilation.Parse();
  const auto& root = compilation.modules().front().file;
  if (root != nullptr) compilation.Emit(ast::Print(*root, compilation.sources()));
  return compilation.Finish();
}

int Explain(const Options& options, Console& console) {
  if (options.list) {
    console.out << ListOfCodes();
    return kFine;
  }
  if (options.inputs.size() != 1) return Usage(console, "`wfc explain` needs one code, such as WF3001, or --list");
  const int number = ParseCode(options.inputs.front());
  const auto pages = ErrorPages();
  const auto page = std::find_if(pages.begin(), pages.end(), [&](const ErrorPage& p) { return p.number == number; });
  if (page == pages.end())
    return Usage(console, fmt::format("no diagnostic has the code `{}`; see `wfc explain --list`", options.inputs.front()));
  console.out << page->text;
  return kFine;
}

constexpr std::array kCommands = {
    Command{"check", "FILE.wf...", "say what is wrong, make nothing", Check},
    Command{"explain", "WFnnnn | --list", "the page of a diagnostic", Explain},
    Command{"build", "FILE.wf -o SERVER", "compile and link a server", Build},
    Command{"run", "FILE.wf [-- FLAGS]", "build to a temporary place and serve", nullptr},
    Command{"graph", "FILE.wf", "show workflows, stages, nodes or tasks", nullptr},
    Command{"inspect", "SERVER", "what a built server contains", nullptr},
    Command{"test", "", "", nullptr},
    Command{"fmt", "", "", nullptr},
    Command{"bench", "", "", nullptr},
    Command{"lsp", "", "", nullptr},
    Command{"new", "", "", nullptr},
    Command{"doctor", "", "", nullptr},
    Command{"completions", "", "", nullptr},
    Command{"plan", "", "", nullptr},
    Command{"breaking", "", "", nullptr},
    Command{"export", "", "", nullptr},
    Command{"doc", "", "", nullptr},
    Command{"model", "", "", nullptr},
};

std::string Help() {
  std::string text = "usage: wfc COMMAND [options]\n\n";
  for (const Command& command : kCommands) {
    if (command.run != nullptr) text += fmt::format("  wfc {:<9} {:<22} {}\n", command.name, command.arguments, command.summary);
  }
  return text +
         "\n`wfc COMMAND --help` lists the options of a command. Exit status: 0 fine, 1 the program has errors, 2 usage, 101 a bug in "
         "wfc.\n";
}

int UnknownCommand(const std::string& name, Console& console) {
  std::vector<std::string> names;
  for (const Command& command : kCommands) {
    if (command.run != nullptr) names.emplace_back(command.name);
  }
  const auto near = diag::Suggest(name, names);
  const bool file = name.ends_with(".wf");
  const std::string hint = near ? "; " + *near : file ? fmt::format("; `wfc check {}`?", name) : "";
  return Usage(console, fmt::format("unknown command `{}`{}", name, hint));
}

}  // namespace

int RunWfc(const std::vector<std::string>& arguments, Console& console) {
  if (arguments.empty()) {
    console.err << Help();
    return kUsage;
  }
  const std::string& name = arguments.front();
  if (name == "--help" || name == "-h" || name == "help") {
    console.out << Help();
    return kFine;
  }
  if (name == "--version" || name == "-V") {
    console.out << "wfc " WF_VERSION "\n";
    return kFine;
  }
  const auto command = std::find_if(kCommands.begin(), kCommands.end(), [&](const Command& c) { return c.name == name; });
  if (command == kCommands.end()) return UnknownCommand(name, console);
  if (command->run == nullptr) return Usage(console, fmt::format("`wfc {}` is not part of this version of wfc", name));
  std::string error;
  const auto options = ParseOptions(name, {arguments.begin() + 1, arguments.end()}, error);
  if (!options) return Usage(console, error);
  if (options->version) {
    console.out << "wfc " WF_VERSION "\n";
    return kFine;
  }
  if (options->help) {
    console.out << fmt::format("usage: wfc {} {}\n{}\n\n{}", command->name, command->arguments, command->summary, OptionsHelp(name));
    return kFine;
  }
  return command->run(*options, console);
}

}  // namespace wf::driver
