#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/base/source.h"
#include "compiler/diag/emitter.h"
#include "compiler/driver/parsed_files.h"

namespace wf::driver {

// One file of the program.
struct Module {
  std::string path;                       // as imports name it: "std.image"; empty for the root
  std::shared_ptr<const ast::File> file;  // null: not read or not parsed, which is reported
};

using Overlay = std::function<std::optional<std::string>(const std::string& name)>;  // texts that stand in place of files

struct LoaderOptions {
  std::string stdlib;  // folder of `import std.x`, with its slash
  std::string folder;  // from which the other imports count, with its slash; empty: the root's own
  size_t max_file_bytes = size_t{16} << 20;
  size_t max_program_bytes = size_t{32} << 20;  // of all files
  size_t max_modules = 1000;
  std::function<void(const std::string&)> on_read;  // may be null; before a file is looked at, there or not
  bool needed_alone = false;         // of the standard library, what the program can name; names near others are then not all there
  const Overlay* overlay = nullptr;  // may be null
  ParsedFiles* parsed = nullptr;     // may be null; of earlier programs, outlives the call
};

// Reads and parses `root` and everything it imports: `import a.b` is a/b.wf beside the root or in the folder, `import std.x` is x.wf of the
// standard library. modules[0] is the root; the others follow in the order they are first imported, `std.prelude` last if the library has
// one. Reports files that cannot be read and imports that run in a circle. Bounds: max_modules files of max_file_bytes, max_program_bytes
// together.
std::vector<Module> LoadProgram(const std::string& root, const LoaderOptions& options, source::SourceMap& sources, diag::Emitter& emitter);

}  // namespace wf::driver
