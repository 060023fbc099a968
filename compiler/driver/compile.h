#pragma once

#include "compiler/driver/console.h"
#include "compiler/driver/loader.h"
#include "compiler/driver/options.h"

namespace wf::driver {

// One run of the compiler over one root file, phase by phase. Each phase takes the product of the one before it, and yields nothing after
// reporting mistakes.
// Thread: one.   Owns: sources, diagnostics, every product.   Borrows: options, console.
class Compilation {
 public:
  Compilation(std::string root, const Options& options, Console& console);

  bool Parse();
  // Where the product goes: the file of `-o`, or stdout. Reports when it cannot be written.
  void Emit(std::string_view product);
  ExitStatus Finish();  // reports

  const std::vector<Module>& modules() const { return modules_; }
  const source::SourceMap& sources() const { return sources_; }

 private:
  const std::string root_;
  const Options& options_;
  Console& console_;
  source::SourceMap sources_;
  diag::Emitter emitter_;
  std::vector<Module> modules_;
};

}  // namespace wf::driver
