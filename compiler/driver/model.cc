#include "compiler/driver/model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "compiler/backend/backend.h"
#include "compiler/base/ascii.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/files.h"
#include "compiler/driver/serve.h"
#include "compiler/interface/sample.h"
#include "runtime/base/system_error.h"
#include "runtime/onnx/infer.h"
#include "runtime/onnx/reader.h"
#include "runtime/onnx/signature.h"

namespace wf::driver {
namespace {

// Begins again as the program that has kernels. The command line was read here, so that there is one table of flags.
int BeginAgain(const char* command, const Options& options, Console& console) {
  const std::filesystem::path own = console.executable;
  const std::string program = own.parent_path().parent_path() / "lib/wfc-model";
  std::vector<std::string> arguments = {program, command};
  arguments.insert(arguments.end(), options.flags.begin(), options.flags.end());
  arguments.emplace_back("--");
  arguments.insert(arguments.end(), options.inputs.begin(), options.inputs.end());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  console.out.flush();
  execv(program.c_str(), pointers.data());
  return Fail(console, fmt::format("cannot start `{}`, which runs models: {}", program, base::TextOfErrno(errno)));
}

int InspectModel(const Options& options, Console& console) {
  if (options.inputs.size() != 1) return Usage(console, "`wfc model inspect` needs one ONNX file");
  return BeginAgain("inspect", options, console);
}

int RunModel(const Options& options, Console& console) {
  if (options.inputs.empty()) return Usage(console, "`wfc model run` needs an ONNX file, and inputs behind it or `--random=SEED`");
  return BeginAgain("run", options, console);
}

int BenchModel(const Options& options, Console& console) {
  if (options.inputs.size() != 1) return Usage(console, "`wfc model bench` needs one ONNX file");
  return BeginAgain("bench", options, console);
}

int TestModels(const Options& options, Console& console) {
  if (options.inputs.empty()) return Usage(console, "`wfc model test` needs a folder with a model.onnx and its data, or of such folders");
  return BeginAgain("test", options, console);
}

int CompareModels(const Options& options, Console& console) {
  if (options.inputs.empty() || options.inputs.size() > 2)
    return Usage(console, "`wfc model compare` needs two ONNX files, or one and `--precision=bf16`");
  return BeginAgain("compare", options, console);
}

// The least of some extents that the nodes take for what the file leaves open, as a window that is larger than 1; 1 where none is known.
int64_t LeastExtent(const onnx::Model& model) {
  constexpr int64_t kMost = 64;
  const auto axes = onnx::ChooseBatchAxis(model.signature, &model.graph);
  for (int64_t extent = 1; extent <= kMost; extent *= 2) {
    std::vector<onnx::Port> ports = model.signature.inputs;
    for (size_t i = 0; i < ports.size(); ++i) {
      for (size_t axis = 0; axis < ports[i].dim.size(); ++axis) {
        const bool counts_samples = axes.ok() && axes->axis[i] == static_cast<int>(axis);
        if (counts_samples || !ports[i].dim[axis].is_constant()) ports[i].dim[axis] = onnx::Dim(counts_samples ? 1 : extent);
      }
    }
    if (onnx::InferShapes(model.graph, ports, model.path).ok()) return extent;
  }
  return 1;
}

// That the file cannot be served by itself, with the code of what a program is told that names it.
std::string WhyNotServed(const std::string& path, const base::Status& refused) {
  const auto declared = onnx::ReadDeclared(path);
  const bool has_sequences = declared.ok() && std::any_of(declared->inputs.begin(), declared->inputs.end(),
                                                          [](const onnx::DeclaredPort& input) { return input.is_sequence; });
  return fmt::format("{}{} (WF6001)", refused.message(), has_sequences ? ", which a program has that `wfc run` serves" : "");
}

int ServeModel(const Options& options, Console& console) {
  if (options.inputs.size() != 1) return Usage(console, "`wfc model serve` needs one ONNX file; flags of the server come after `--`");
  backend::Get();  // before anything is read or said
  std::string path = options.inputs.front();
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  std::error_code unknown;
  int64_t least = 1;
  if (!std::filesystem::is_directory(path, unknown)) {  // a folder holds versions; the compiler looks for them
    const auto model = onnx::ReadModel(path);
    if (!model.ok()) return Fail(console, WhyNotServed(path, model.status()));
    least = LeastExtent(*model);
  }
  const auto program = ProgramServing(path);
  if (!program.ok()) return Fail(console, program.status().message());
  const TemporaryFolder folder;
  if (folder.path().empty()) return Fail(console, folder.WhyNone());
  const std::string server = folder.path() + "server", root = path + ".wf";  // a name for messages, beside the file
  Compilation compilation(root, options, console);
  compilation.set_root_text(*program);
  const bool built = compilation.BuildServer(server);
  const ExitStatus status = compilation.Finish();
  if (!built || status != kFine) return status;
  const interface::Interface described = compilation.DescribeInterface();
  return Serve(
      server, ServerArguments(root, options.server_arguments),
      [&](const std::string& url) {
        for (const std::string& line : interface::SampleCurls(described, url, least)) console.out << line << std::endl;
      },
      console);
}

}  // namespace

base::Result<std::string> ProgramServing(const std::string& path) {
  const std::filesystem::path file = std::filesystem::path(path).lexically_normal();
  const std::string name = file.has_filename() ? file.filename() : file.parent_path().filename();
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < ' ' || std::string_view("\"\\{}$").find(c) != std::string_view::npos)
      return base::Status(base::kInvalidArgument,
                          fmt::format("`{}`: a name with `{}` cannot be written in a program; rename the file", path, c));
  }
  std::string called = name.ends_with(".onnx") ? name.substr(0, name.size() - 5) : name;
  for (char& c : called) c = base::IsLetter(c) || base::IsDigit(c) ? c : '_';
  if (called.empty() || !base::IsLetter(called[0])) called = "Model_" + called;
  if (called[0] >= 'a') called[0] = static_cast<char>(called[0] - 'a' + 'A');  // no word of the language begins so
  return fmt::format("model {0} = onnx(\"{1}\");\n\nservice Serve{0} {{\n  model {0};\n}}\n", called, name);
}

const std::vector<ModelCommand>& ModelCommands() {
  static const std::vector<ModelCommand> commands = {
#define COMMAND(name, function, arguments, summary, examples) ModelCommand{{name, arguments, summary, examples}, function},
#include "compiler/driver/model_commands.def"
  };
  return commands;
}

}  // namespace wf::driver
