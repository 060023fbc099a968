#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/driver/command_info.h"
#include "compiler/driver/console.h"
#include "compiler/driver/options.h"
#include "runtime/base/status.h"

namespace wf::driver {

// `wfc model NAME`, for people who have only an ONNX file. What runs models needs kernels, which wfc starts without: those commands begin
// again as wfc-model, the program of runtime/workbench. `serve` compiles a program of one line.
struct ModelCommand {
  CommandInfo info;  // its name is "model NAME"
  int (*run)(const Options&, Console&);
};
const std::vector<ModelCommand>& ModelCommands();

// The program of a server that publishes the model at `path`. Errors: kInvalidArgument, a name that no program can say.
base::Result<std::string> ProgramServing(const std::string& path);

}  // namespace wf::driver
