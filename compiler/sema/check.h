#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/base/source.h"
#include "compiler/diag/emitter.h"
#include "compiler/ir/interpret.h"
#include "compiler/sema/typed.h"

namespace wf::sema {

class Folded;
class Sink;

// One parsed file and the path by which others import it.
struct SourceModule {
  std::string path;                 // "std.image", "util.boxes"; empty for the root
  const ast::File* file = nullptr;  // null: it could not be read or did not parse, which has been reported; its users stay silent
};

// Calls a native whose arguments are constants, with what it may take of memory; see ir::Hooks.
using Natives = std::function<ir::Outcome(const ir::TypeTable& types, const std::string& symbol, std::span<const ir::Value> args,
                                          ir::TypeId type, uint64_t max_bytes)>;

struct CheckOptions {
  bool without_service = false;                      // workflows of a program that has no service count as published (graph, plan)
  bool require_service = false;                      // a program that publishes nothing is an error (build, run)
  bool without_externs = false;                      // what they are written in need not be there
  uint64_t max_embedded_bytes = uint64_t{64} << 20;  // of one file() lines() json()
  std::function<void(const std::string&)> on_read;   // may be null; before a file or a folder is looked at, there or not
  Natives natives;                                   // may be null: constants then call none
};

// What Check reads. Files are found by import path: modules[0] is the root, the rest in any order; an import whose path is not among them
// is reported. A module "std.prelude" is in scope everywhere. Paths of models and embedded files are relative to the .wf that names them,
// as the source map names it.
struct CheckInput {
  std::vector<SourceModule> modules;
  const source::SourceMap& sources;
  CheckOptions options;
  Sink* sink = nullptr;      // hears what names mean, for editors
  Folded* folded = nullptr;  // what constants of earlier checks came to
  std::string folder;        // of the program: imports counted from it, and what is embedded stands in it; empty: the root's own
};

// Names, types, shapes, settings and the graph of every module; reports each mistake once. Nothing after an error.
// Thread: any, one at a time per emitter.   Errors: into `diag`.   Bounds: depth of expressions kMaxDepth (reported), time linear but for
// the instances of std functions.
std::optional<Program> Check(const CheckInput& input, diag::Emitter& diag);

// A stable listing, for --emit=sema and tests.
std::string Print(const Program& program);

}  // namespace wf::sema
