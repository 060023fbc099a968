#pragma once

#include <string>
#include <vector>

#include "compiler/ir/interpret.h"
#include "runtime/bus/bus.h"
#include "tests/diff/program.h"
#include "tests/unit/support/native.h"

namespace wf::diff {

// A failure as a client sees it.
struct Reported {
  int32_t code = 0;
  std::string path, message;
  friend bool operator==(const Reported&, const Reported&) = default;
};

// How a call ends. `failure.code` 0: with these values. Annotations in textual order; those that are not certain may be missing.
struct Ending {
  std::vector<ir::Value> values;
  std::vector<ir::Annotation> annotations;
  Reported failure;
  bool is_cut = false;  // the interpreter gave up: it took more steps or memory than such a program should
};
std::string ToString(const ir::Program& program, size_t workflow, const Ending& ending);
// Bit for bit, but that one NaN is as good as another; messages too. Of each key `got` has an annotation that may be the last in `wanted`.
bool SameEnding(const ir::Program& program, size_t workflow, const Ending& wanted, const Ending& got);

class ModelHost;

// A native of the library as the runtime has it, an extern as externs.cc computes it. `result`: what the native is told.
ir::Outcome CallNative(const ir::Program& program, const std::string& symbol, std::span<const ir::Value> args, ir::TypeId result);

// What the interpreter of the compiler says; the native functions of the library are those of the runtime, and models run there, alone.
Ending Interpreted(const ir::Program& program, size_t workflow, std::vector<ir::Value> inputs, const Input& input, ModelHost& models);

// The values of a workflow's ports in a root frame.
std::vector<ir::Value> Inputs(const ir::Program& program, size_t workflow, const wf_plan& plan, const void* frame);
std::vector<ir::Value> Outputs(const ir::Program& program, size_t workflow, const wf_plan& plan, const void* frame);
std::vector<ir::Annotation> Annotations(const bus::Bus& bus);  // the last of each key
std::vector<bus::Metadata> MetadataOf(const Input& input);

}  // namespace wf::diff
