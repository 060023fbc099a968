#pragma once

#include <set>
#include <string>

#include "compiler/base/source.h"
#include "compiler/diag/emitter.h"
#include "compiler/driver/console.h"
#include "compiler/driver/options.h"

namespace wf::driver {

// What is said of programs that may share files: each diagnostic once, in the form asked for, then how many there were.
// Thread: loop-confined.   Owns: what was said, a line each.   Borrows: options, console.
class Reports {
 public:
  Reports(const Options& options, Console& console) : options_(options), console_(console) {}
  void Add(const diag::Emitter& emitter, const source::SourceMap& sources);  // of one program
  ExitStatus Finish();                                                       // kProgramHasErrors if one is an error

 private:
  const Options& options_;
  Console& console_;
  std::set<std::string> said_;
  size_t errors_ = 0, warnings_ = 0, dropped_ = 0;  // without repeats
  bool is_cut_ = false;                             // there are more errors than were looked for
};

// The same of one program.
ExitStatus Report(const diag::Emitter& emitter, const source::SourceMap& sources, const Options& options, Console& console);

// What wfc itself says beside them, as a line of the form of the diagnostics: programs may read every line as that.
std::string SayingLine(const std::string& text, Format format);

}  // namespace wf::driver
