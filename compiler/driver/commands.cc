#include "compiler/driver/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "compiler/backend/backend.h"
#include "compiler/base/quote.h"
#include "compiler/diag/emitter.h"
#include "compiler/diag/render.h"
#include "compiler/driver/bench.h"
#include "compiler/driver/breaking.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/completions.h"
#include "compiler/driver/doctor.h"
#include "compiler/driver/document.h"
#include "compiler/driver/explain.h"
#include "compiler/driver/export.h"
#include "compiler/driver/files.h"
#include "compiler/driver/fix.h"
#include "compiler/driver/format_files.h"
#include "compiler/driver/graph.h"
#include "compiler/driver/graph_live.h"
#include "compiler/driver/language_server.h"
#include "compiler/driver/layout.h"
#include "compiler/driver/model.h"
#include "compiler/driver/new_program.h"
#include "compiler/driver/note_text.h"
#include "compiler/driver/options.h"
#include "compiler/driver/plan.h"
#include "compiler/driver/report.h"
#include "compiler/driver/serve.h"
#include "compiler/driver/tests.h"
#include "compiler/driver/watch.h"
#include "compiler/interface/sample.h"
#include "compiler/link/inspect.h"
#include "compiler/passes/passes.h"

namespace wf::driver {
namespace {

struct Command {
  CommandInfo info;
  int (*run)(const Options&, Console&);
};
std::vector<CommandInfo> Commands();

using Purpose = Compilation::Purpose;

// Applies fixes until there are none; what a fix uncovers may have one, too.
// False: a file could not be written.
bool Fix(const std::string& input, const Options& options, Console& console) {
  constexpr int kMaxRounds = 100;  // of several mistakes in a declaration often the first alone is seen
  Options all = options;
  all.error_limit = 1'000'000;  // what is fixed does not depend on how much is shown
  Fixed total;
  for (int round = 0; round < kMaxRounds; ++round) {
    Compilation compilation(input, all, console);
    compilation.RunTo(Phase::kIr, Purpose::kCheck);
    const Fixed applied = ApplyFixes(compilation.diagnostics(), compilation.sources(), StdlibFolder(console.executable));
    for (const auto& [file, count] : applied.counts) total.counts[file] += count;
    total.not_written = applied.not_written;
    if (applied.counts.empty() || !applied.not_written.empty()) break;
  }
  for (const std::string& why : total.not_written) console.err << SayingLine(why, options.format);
  for (const auto& [file, count] : total.counts)
    console.err << SayingLine(fmt::format("{}: {} {} applied", file, count, count == 1 ? "fix" : "fixes"), options.format);
  return total.not_written.empty();
}

// False: it could not be read.
bool TakeStdin(Compilation& compilation, Console& console, diag::Emitter& emitter) {
  base::Result<std::string> text = ReadStream(*console.in, LoaderOptions{}.max_file_bytes);
  if (text.ok())
    compilation.set_root_text(*std::move(text));
  else
    emitter.Emit({}, diag::kCannotReadFile, {"<stdin>", text.status().message()});
  return !emitter.has_errors();
}

// What asks for a product behind the last phase, if anything.
std::optional<std::string> MistakeInPhases(const Options& options) {
  if (!options.emit || PhaseOf(*options.emit) <= options.stop_after) return std::nullopt;
  return "`--stop-after` ends before what `--emit` asks for is made";
}

int Check(const Options& options, Console& console) {
  if (options.inputs.empty()) return Usage(console, "`wfc check` needs a .wf file, or `-` for stdin");
  const Emit emit = options.emit.value_or(Emit::kSema);
  if (options.emit && options.format == Format::kSarif) return Usage(console, "`--emit` and `--format=sarif` both write to stdout");
  if (const auto mistake = MistakeInPhases(options)) return Usage(console, *mistake);
  const auto n_stdin = std::count(options.inputs.begin(), options.inputs.end(), "-");
  if (n_stdin > 1) return Usage(console, "`-` is stdin, which is there once");
  if (n_stdin > 0 && options.fix) return Usage(console, "`--fix` changes files, and `-` is stdin");
  int status = kFine;
  std::error_code unknown;
  diag::SarifLog sarif;
  Reports reports(options, console);
  for (const std::string& input : options.inputs) {
    const bool from_stdin = input == "-";
    if (options.fix && !Fix(input, options, console)) status = kProgramHasErrors;
    Compilation compilation(from_stdin ? "<stdin>" : input, options, console);
    if (diag::Emitter unread(1); from_stdin && !TakeStdin(compilation, console, unread)) {
      const source::SourceMap no_sources;
      sarif.Add(unread, no_sources);
      reports.Add(unread, no_sources);
      continue;
    }
    const Phase most = options.verbose ? Phase::kPasses : Phase::kIr;  // kIr: limits of size; kPasses: what is left to be checked
    const Phase last = std::min({options.stop_after, most, options.emit ? PhaseOf(emit) : most});
    const bool done = compilation.RunTo(last, Purpose::kCheck);
    const bool has_tree = compilation.products().modules.front().file != nullptr;
    if (options.verbose && done && last >= Phase::kCheck) compilation.WriteChoices();
    if (options.emit == Emit::kAst ? has_tree : options.emit.has_value() && done && last == Phase::kCheck) compilation.Write(emit);
    if (options.format == Format::kSarif) sarif.Add(compilation.diagnostics(), compilation.sources());
    reports.Add(compilation.diagnostics(), compilation.sources());
  }
  status = std::max<int>(status, reports.Finish());
  if (options.format == Format::kSarif)
    console.out << sarif.Finish({WF_VERSION, std::filesystem::current_path(unknown).string(), ErrorPageOf});
  return status;
}

bool IsPass(const std::string& name) {
  const auto passes = passes::AllPasses();
  return std::any_of(passes.begin(), passes.end(), [&](const passes::PassInfo& pass) { return pass.flag == name; });
}

// What is wrong with the options of a build, if anything.
std::optional<std::string> MistakeInBuild(const Options& options) {
  if (!backend::Get().knows_cpu(options.target_cpu))
    return fmt::format("unknown CPU `{}`; `generic`, `native` or a name such as x86-64-v3", options.target_cpu);
  const std::string& trace = options.time_trace;
  if (!trace.empty() && (IsSameFile(trace, options.output) || (options.dependencies && IsSameFile(trace, options.output + ".d"))))
    return fmt::format("`--time-trace` and `-o` would both write `{}`", trace);
  if (options.dump_after.empty() || IsPass(options.dump_after)) return std::nullopt;
  std::vector<std::string> names;
  for (const passes::PassInfo& pass : passes::AllPasses()) names.emplace_back(pass.flag);
  return fmt::format("no pass is called `{}`; there are {}", options.dump_after, fmt::join(names, ", "));
}

// REQUIRES: the options go together.
int Make(Emit emit, const Options& options, Console& console) {
  const Phase last = std::min(PhaseOf(emit), options.stop_after);
  Compilation compilation(options.inputs.front(), options, console);
  const bool done = compilation.RunTo(last, emit >= Emit::kIr ? Purpose::kServer : Purpose::kCheck);
  const bool has_tree = compilation.products().modules.front().file != nullptr;
  if (options.verbose && done && last >= Phase::kCheck) compilation.WriteChoices();
  if (last == PhaseOf(emit) && (emit == Emit::kAst ? has_tree : done)) compilation.Write(emit);
  if (!options.time_trace.empty()) compilation.WriteTrace();
  return compilation.Finish();
}

int Build(const Options& options, Console& console) {
  if (options.inputs.size() != 1) return Usage(console, "`wfc build` needs one .wf file");
  if (const auto mistake = MistakeInBuild(options)) return Usage(console, *mistake);
  if (const auto mistake = MistakeInPhases(options)) return Usage(console, *mistake);
  const Emit emit = options.emit.value_or(Emit::kExe);
  const bool makes_product = PhaseOf(emit) <= options.stop_after;
  const bool binary = emit == Emit::kExe || emit == Emit::kObj;
  if (makes_product && binary && options.output.empty()) {
    const std::string& input = options.inputs.front();
    std::string name = std::filesystem::path(input).stem().string() + (emit == Emit::kObj ? ".o" : "");
    std::error_code ignored;
    if (std::filesystem::is_directory(name, ignored)) name = std::filesystem::path(input).replace_extension().string();
    if (name.empty() || std::filesystem::is_directory(name, ignored)) name = "server";
    return Usage(console, fmt::format("`wfc build` needs `-o FILE`, as in `wfc build {} -o {}`", input, name));
  }
  const bool to_stdout = options.output == "-";
  if (to_stdout && emit == Emit::kExe) return Usage(console, "a server is written to a file, not to stdout; `-o FILE`");
  Options own = options;
  if (to_stdout) own.output.clear();
  if (!options.time_trace.empty()) backend::Get().trace.start();
  return Make(emit, own, console);
}

int ShowGraph(const Options& options, Console& console) {
  if (options.inputs.size() != 1) return Usage(console, "`wfc graph` needs one .wf file");
  Options for_diagnostics = options;
  for_diagnostics.format = Format::kText;
  Compilation compilation(options.inputs.front(), for_diagnostics, console);
  if (compilation.RunTo(Phase::kPasses, Purpose::kDrawing)) {
    Graph graph = GraphOf(*compilation.products().program);
    if (!options.from.empty()) {
      const base::Status added = AddMeasured(options.from, graph);
      if (!added.ok()) return Fail(console, added.message());
    }
    switch (options.format) {
      case Format::kText:
        console.out << GraphText(graph, options.level);
        break;
      case Format::kDot:
        console.out << GraphDot(graph, options.level);
        break;
      case Format::kMermaid:
        console.out << GraphMermaid(graph, options.level);
        break;
      case Format::kSvg:
        if (const auto drawing = GraphSvg(graph, options.level)) {
          console.out << *drawing;
        } else {
          const bool is_coarse = options.level == Level::kStage;
          compilation.Refuse(diag::kTooMuchToDraw, std::to_string(kMostSteps),
                             std::string("`--format=text`, `dot` and `json` take any program; ") +
                                 (is_coarse ? "`--level=workflow` draws no wires" : "`--level=stage` may draw less"));
        }
        break;
      case Format::kJson:
        console.out << source::SeenJson(GraphJson(graph, options.level)) << "\n";
        break;
      case Format::kSarif:
      case Format::kGithub:
      case Format::kTap:
      case Format::kJunit:
      case Format::kOpenApi:
      case Format::kProto:
        break;  // of other commands
    }
  }
  return compilation.Finish();
}

int ShowPlan(const Options& options, Console& console) {
  if (options.inputs.size() != 1) return Usage(console, "`wfc plan` needs one .wf file");
  const std::string& input = options.inputs.front();
  Options for_diagnostics = options;
  for_diagnostics.format = Format::kText;
  Compilation compilation(input, for_diagnostics, console);
  if (compilation.RunTo(Phase::kPasses, Purpose::kDrawing)) {
    const Plan plan =
        PlanOf(*compilation.products().checked, *compilation.products().program, compilation.DescribeInterface(), FolderOf(input));
    console.out << (options.format == Format::kJson ? source::SeenJson(PlanJson(plan)) : PlanText(plan));
  }
  return compilation.Finish();
}

int Inspect(const Options& options, Console& console) {
  if (options.inputs.size() != 1) return Usage(console, "`wfc inspect` needs one server");
  const std::string& input = options.inputs.front();
  const auto note = link::ReadNote(input);
  if (!note.ok()) {
    std::error_code unknown;
    const bool is_program = input.ends_with(".wf") && std::filesystem::is_regular_file(input, unknown);
    const std::string help = is_program ? fmt::format("; `wfc plan {}` says what its server will hold", input) : "";
    console.err << fmt::format("wfc: cannot inspect `{}`: {}{}\n", input, note.status().message(), help);
    return kProgramHasErrors;
  }
  console.out << (options.format == Format::kJson ? source::SeenJson(*note) + "\n" : NoteText(*note));
  return kFine;
}

int Breaking(const Options& options, Console& console) {
  if (options.against.empty()) return Usage(console, "`wfc breaking` needs `--against OLD`, a .wf file or a server");
  if (options.inputs.size() != 1) return Usage(console, "`wfc breaking` needs one .wf file or server beside that of `--against`");
  backend::Get();  // before anything is read or said
  return ReportBreaking(options, console);
}

int Export(const Options& options, Console& console) {
  if (options.inputs.size() != 1) return Usage(console, "`wfc export` needs one .wf file or server");
  if (options.format == Format::kText) return Usage(console, "`wfc export` needs `--format=openapi` or `--format=proto`");
  backend::Get();  // before anything is read or said
  return ExportService(options, console);
}

int Doc(const Options& options, Console& console) {
  if (options.inputs.size() != 1) return Usage(console, "`wfc doc` needs one .wf file or server, `std` or a module such as `std.nn`");
  return WriteReference(options, console);
}

int Run(const Options& options, Console& console) {
  if (options.inputs.size() != 1) return Usage(console, "`wfc run` needs one .wf file; flags of the server come after `--`");
  if (const auto mistake = MistakeInBuild(options)) return Usage(console, *mistake);
  if (options.watch) return Watch(options, console);
  const TemporaryFolder folder;
  if (folder.path().empty()) return Fail(console, folder.WhyNone());
  const std::string server = folder.path() + "server";
  Compilation compilation(options.inputs.front(), options, console);
  const bool built = compilation.BuildServer(server);
  const ExitStatus status = compilation.Finish();
  if (!built || status != kFine) return status;
  const interface::Interface described = compilation.DescribeInterface();
  return Serve(
      server, ServerArguments(options.inputs.front(), options.server_arguments),
      [&](const std::string& url) {
        for (const std::string& line : interface::SampleCurls(described, url)) console.out << line << std::endl;
      },
      console);
}

int RunBench(const Options& options, Console& console) {
  if (options.inputs.size() != 1) return Usage(console, "`wfc bench` needs the URL of a server, or one .wf file");
  if (const auto mistake = MistakeInBuild(options)) return Usage(console, *mistake);
  return Bench(options, console);
}

int Test(const Options& options, Console& console) {
  if (options.inputs.empty()) return Usage(console, "`wfc test` needs a .wf file");
  if (options.list && (options.format != Format::kText || !options.output.empty())) return Usage(console, "`--list` makes no report");
  if (options.list) return ListTests(options, console);
  backend::Get();  // before anything is read or said
  return RunTests(options, console);
}

int Lsp(const Options& options, Console& console) {
  if (!options.inputs.empty()) return Usage(console, "`wfc lsp` takes no files: editors send them");
  return ServeEditor(console);
}

int Explain(const Options& options, Console& console) {
  if (options.list && !options.inputs.empty()) return Usage(console, "`wfc explain --list` takes no code: it lists them all");
  if (options.list) {
    console.out << ListOfCodes();
    return kFine;
  }
  if (options.inputs.size() != 1) return Usage(console, "`wfc explain` needs one code, such as WF3001, or --list");
  const std::string& wanted = options.inputs.front();
  const auto code = static_cast<diag::Code>(ParseCode(wanted));
  const std::string page = ErrorPageOf(code), answer = AnswerOf(wanted, !page.empty());
  if (!answer.empty()) {
    console.out << answer;
    if (!page.empty()) console.out << fmt::format("`wfc explain {0}` shows the diagnostic {0}.\n", diag::CodeName(code));
    return kFine;
  }
  if (page.empty()) return Usage(console, fmt::format("no diagnostic has the code `{}`; see `wfc explain --list`", wanted));
  console.out << page;
  return kFine;
}

int Fmt(const Options& options, Console& console) {
  if (options.inputs.empty()) return Usage(console, "`wfc fmt` needs .wf files or folders, or `-` for stdin");
  if (options.write && options.check) return Usage(console, "`-w` rewrites and `--check` leaves everything as it is; give one of them");
  const bool from_stdin = std::find(options.inputs.begin(), options.inputs.end(), "-") != options.inputs.end();
  if (options.write && from_stdin) return Usage(console, "`-w` rewrites files, and `-` is none; `wfc fmt -` writes to stdout");
  const bool to_stdout = !options.write && !options.check && !options.diff;
  if (to_stdout && options.inputs.size() > 1)
    return Usage(console, "several files would run together; `-w` rewrites what differs, `--check` names it, `--diff` shows it");
  std::error_code missing;
  for (const std::string& input : options.inputs) {
    const bool is_folder = input != "-" && std::filesystem::is_directory(input, missing);
    if (is_folder && to_stdout)
      return Usage(console, "`" + input + "` is a folder; `-w` rewrites what differs, `--check` names it, `--diff` shows it");
  }
  return FormatFiles(options, console);
}

int New(const Options& options, Console& console) {
  if (options.inputs.size() != 1) return Usage(console, "`wfc new` needs the name of one folder");
  return NewProgram(options, console);
}

int Doctor(const Options& options, Console& console) {
  if (!options.inputs.empty()) return Usage(console, "`wfc doctor` takes no files");
  backend::Get();  // before anything is read or said
  return Examine(console);
}

int Completions(const Options& options, Console& console) {
  if (options.inputs.size() != 1) return Usage(console, "`wfc completions` needs one of bash, zsh, fish");
  const auto script = CompletionScript(options.inputs.front(), Commands(), LibraryModules(console));
  if (!script) return Usage(console, fmt::format("`{}` is no shell that wfc knows; bash, zsh and fish are", options.inputs.front()));
  console.out << *script;
  return kFine;
}

std::string Overview() {
  std::string text = "usage: wfc COMMAND [options]\n\n";
  for (const CommandInfo& command : Commands()) {
    text += fmt::format("  wfc {:<11} {:<22} {}\n", command.name, command.arguments, command.summary);
  }
  return text +
         "\n`wfc COMMAND --help` lists the options of a command. Exit status: 0 fine, 1 the program has errors, 2 usage, 101 a bug in "
         "wfc.\n";
}

// What other tools call a command; empty: it is none of those.
std::string_view OurWordFor(std::string_view command) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {{"init", "new"},
                                                                      {"create", "new"},
                                                                      {"validate", "check"},
                                                                      {"lint", "check"},
                                                                      {"clippy", "check"},
                                                                      {"verify", "check"},
                                                                      {"fix", "check --fix"},
                                                                      {"format", "fmt"},
                                                                      {"compile", "build"},
                                                                      {"make", "build"},
                                                                      {"apply", "run"},
                                                                      {"serve", "run"},
                                                                      {"start", "run"},
                                                                      {"dev", "run --watch"},
                                                                      {"watch", "run --watch"},
                                                                      {"show", "inspect"},
                                                                      {"docs", "doc"},
                                                                      {"diff", "breaking"},
                                                                      {"openapi", "export --format=openapi"},
                                                                      {"proto", "export --format=proto"}};
  const auto* const row = std::find_if(std::begin(kWords), std::end(kWords), [&](const auto& word) { return word.first == command; });
  return row == std::end(kWords) ? std::string_view() : row->second;
}

int UnknownCommand(const std::string& name, Console& console) {
  if (IsFlag(name)) return Usage(console, fmt::format("options stand behind the command: `wfc COMMAND {}`", name));
  std::vector<std::string> names = {"--help", "--version"};
  for (const CommandInfo& command : Commands()) names.emplace_back(command.name);
  const std::string_view ours = OurWordFor(name);
  const auto near = diag::Suggest(name, names);
  const std::string hint = !ours.empty()           ? fmt::format("that is `wfc {}` here", ours)
                           : near                  ? *near
                           : name.ends_with(".wf") ? fmt::format("`wfc check {}`?", name)
                                                   : "`wfc help` lists those that there are";
  return Usage(console, fmt::format("unknown {} `{}`; {}", name.starts_with('-') ? "option" : "command", name, hint));
}

void ListModelCommands(Console& console) {
  console.out << "usage: wfc model COMMAND [options]\nwhat can be done with an ONNX file alone\n\n";
  for (const ModelCommand& command : ModelCommands())
    console.out << fmt::format("  wfc {:<13} {:<24} {}\n", command.info.name, command.info.arguments, command.info.summary);
  console.out << "\n`wfc model COMMAND --help` lists the options of one, with examples.\n";
}

void ShowHelp(const CommandInfo& info, Console& console) {
  if (info.name == "model") return ListModelCommands(console);
  const std::string usage = fmt::format("usage: wfc {} {}", info.name, info.arguments.empty() ? "[options]" : info.arguments);
  console.out << fmt::format("{}\n{}\n\n{}\nexamples:\n{}", usage, info.summary, OptionsHelp(info.name), info.examples);
}

int UnknownModelCommand(std::string_view name, Console& console) {
  std::vector<std::string> names;
  for (const ModelCommand& command : ModelCommands()) names.emplace_back(command.info.name.substr(command.info.name.find(' ') + 1));
  const auto near = diag::Suggest(name, names);
  return Usage(console,
               fmt::format("unknown command `model {}`; {}", name, near ? *near : fmt::format("there are {}", fmt::join(names, ", "))));
}

const ModelCommand* FindModelCommand(std::string_view name) {
  const std::vector<ModelCommand>& commands = ModelCommands();
  const auto row = std::find_if(commands.begin(), commands.end(),
                                [&](const ModelCommand& one) { return one.info.name == fmt::format("model {}", name); });
  return row == commands.end() ? nullptr : &*row;
}

int Model(const Options& options, Console& console) {
  if (!options.inputs.empty()) return UnknownModelCommand(options.inputs.front(), console);
  return Usage(console, "`wfc model` needs a command; `wfc model --help` lists them");
}

int Help(const Options& options, Console& console) {
  if (options.inputs.size() == 2 && options.inputs.front() == "model") {
    const ModelCommand* const command = FindModelCommand(options.inputs[1]);
    if (command == nullptr) return UnknownModelCommand(options.inputs[1], console);
    ShowHelp(command->info, console);
    return kFine;
  }
  if (options.inputs.size() > 1) return Usage(console, "`wfc help` takes one command");
  if (options.inputs.empty()) {
    console.out << Overview();
    return kFine;
  }
  const std::string& name = options.inputs.front();
  const std::vector<CommandInfo> commands = Commands();
  const auto info = std::find_if(commands.begin(), commands.end(), [&](const CommandInfo& one) { return one.name == name; });
  if (info == commands.end()) return UnknownCommand(name, console);
  ShowHelp(*info, console);
  return kFine;
}

constexpr std::array kCommands = {
#define COMMAND(name, function, arguments, summary, examples) Command{{name, arguments, summary, examples}, function},
#include "compiler/driver/commands.def"
};

std::vector<CommandInfo> Commands() {
  std::vector<CommandInfo> commands;
  for (const Command& command : kCommands) commands.push_back(command.info);
  return commands;
}

// A command with what stands behind its name.
int RunRow(const CommandInfo& info, int (*run)(const Options&, Console&), std::vector<std::string> arguments, Console& console) {
  std::string error;
  const auto options = ParseOptions(info.name, arguments, error);
  if (!options) return Usage(console, error);
  if (options->version) {
    console.out << "wfc " WF_VERSION "\n";
    return kFine;
  }
  if (options->help) {
    ShowHelp(info, console);
    return kFine;
  }
  constexpr std::array kFiles = {"FILE", "SERVER", "OLD"};
  const bool takes_files =
      std::any_of(kFiles.begin(), kFiles.end(), [&](const char* word) { return info.arguments.find(word) != std::string_view::npos; });
  const bool takes_stdin = info.arguments.ends_with("| -");
  const bool names_stdin =
      options->against == "-" || std::find(options->inputs.begin(), options->inputs.end(), "-") != options->inputs.end();
  if (takes_files && !takes_stdin && names_stdin)
    return Usage(console, fmt::format("`wfc {}` does not read stdin, as `wfc check -` and `wfc fmt -` do; `./-` is a file", info.name));
  return run(*options, console);
}

enum class Version { kShort, kVerbose, kWithMore };

// As compilers and their kin are asked: `-V`, `-v`, `-vV`. Nothing: something else is asked; `-v` before a command is an option of it.
std::optional<Version> VersionAsked(const std::vector<std::string>& arguments) {
  const std::string& name = arguments.front();
  if (name == "-vV" || name == "-Vv") return arguments.size() == 1 ? Version::kVerbose : Version::kWithMore;
  if (name == "-v" && arguments.size() == 1) return Version::kShort;
  if (name != "--version" && name != "-version" && name != "-V" && name != "version") return std::nullopt;
  if (arguments.size() == 1) return Version::kShort;
  return arguments.size() == 2 && (arguments[1] == "--verbose" || arguments[1] == "-v") ? Version::kVerbose : Version::kWithMore;
}

}  // namespace

int RunWfc(const std::vector<std::string>& arguments, Console& console) {
  if (arguments.empty()) {
    console.err << Overview();
    return kUsage;
  }
  const std::string& name = arguments.front();
  if (name == "--help" || name == "-h") {
    Options options;
    options.inputs.assign(arguments.begin() + 1, arguments.end());
    return Help(options, console);
  }
  if (const auto version = VersionAsked(arguments)) {
    if (*version == Version::kWithMore) return Usage(console, "`wfc --version` takes nothing but `--verbose`");
    console.out << (*version == Version::kVerbose ? VersionDetails(console.executable) : "wfc " WF_VERSION "\n");
    return kFine;
  }
  const auto command = std::find_if(kCommands.begin(), kCommands.end(), [&](const Command& c) { return c.info.name == name; });
  if (command == kCommands.end()) return UnknownCommand(name, console);
  if (name == "model" && arguments.size() > 1) {
    const ModelCommand* const of_model = FindModelCommand(arguments[1]);
    if (of_model != nullptr) return RunRow(of_model->info, of_model->run, {arguments.begin() + 2, arguments.end()}, console);
    if (!arguments[1].starts_with('-')) return UnknownModelCommand(arguments[1], console);
  }
  return RunRow(command->info, command->run, {arguments.begin() + 1, arguments.end()}, console);
}

}  // namespace wf::driver
