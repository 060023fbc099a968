#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/codegen/options.h"
#include "compiler/interface/interface.h"
#include "compiler/ir/ir.h"
#include "compiler/link/link.h"
#include "compiler/link/symbols.h"
#include "compiler/lower/options.h"
#include "compiler/lsp/analysis.h"

namespace wf::backend {

// The machine code of one program, in LLVM's form.
class Code {
 public:
  virtual ~Code() = default;
  // The object or text that the options ask for. Once, this or the other.
  virtual base::Result<std::string> Emit(codegen::Options options) = 0;
  // Objects, to be linked together. REQUIRES: `emit` is kObject.
  virtual base::Result<std::vector<std::string>> EmitObjects(codegen::Options options) = 0;
};

// Where the time of a build goes, as Chrome's trace viewer reads it: LLVM's own scopes inside of ours.
// Thread: that of the build.   Order: start; begin and end in pairs; finish.
struct Trace {
  void (*start)();
  void (*begin)(std::string_view phase);
  void (*end)();
  std::string (*finish)();  // the JSON
};

// What needs LLVM, whose loading takes longer than most commands do.
struct Functions {
  bool (*knows_cpu)(const std::string& cpu);
  std::unique_ptr<Code> (*lower)(const ir::Program& program, const lower::Options& options);  // the program stays where it is
  base::Status (*link)(const std::vector<std::string>& plan, const link::Options& options);
  base::Result<link::Symbols> (*read_symbols)(const std::string& path);
  std::string (*interface_json)(const interface::Interface& interface);
  base::Result<interface::Interface> (*interface_of_note)(std::string_view note);
  std::string (*open_api)(const interface::Interface& interface, const interface::Service& service);
  int (*serve_editor)(int in, int out, lsp::Host host);
  Trace trace;
};

extern const Functions kLinked;

// kLinked, in the program that has it. The one without begins again as the other, so nothing may have been read or said before.
const Functions& Get();

}  // namespace wf::backend
