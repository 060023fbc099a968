#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/diag/emitter.h"
#include "compiler/driver/console.h"
#include "compiler/driver/files.h"
#include "compiler/sema/typed.h"

namespace wf::driver {

// The compiler of C++ that externs are built with: what CXX names, else the first of c++, g++, clang++ that there is. Empty: none.
std::string FindCompiler(const Console& console);

struct ExternObjects {
  bool fine = true;                              // else the reason was reported
  std::vector<std::string> objects;              // in `folder`
  std::vector<const sema::Extern*> firsts = {};  // of each object: the first extern in its source
  std::vector<std::string> files;  // sources and headers that were read, but for the system's; of a source that does not compile also
                                   // those that were looked for
  std::unique_ptr<TemporaryFolder> folder = {};
};

// Compiles the sources of the program's externs with that compiler and the flags in CXXFLAGS; what it says goes into diagnostics. No
// objects and no folder when there is no extern.
ExternObjects CompileExterns(const sema::Program& program, const source::SourceMap& sources, const Console& console,
                             diag::Emitter& emitter);

// Reports, where they are declared, externs that call what nothing defines, as the words of a linker that failed tell. False: it failed
// over something else.
bool ReportUndefined(const sema::Program& program, const ExternObjects& externs, std::string_view words, diag::Emitter& emitter);

// The same of names that a source of externs defines and another one, or the server, defines as well.
bool ReportTwice(const ExternObjects& externs, std::string_view words, diag::Emitter& emitter);

}  // namespace wf::driver
