#include "compiler/driver/compile.h"

#include "compiler/driver/layout.h"
#include "compiler/driver/report.h"

namespace wf::driver {

Compilation::Compilation(std::string root, const Options& options, Console& console)
    : root_(std::move(root)), options_(options), console_(console), emitter_(options.error_limit) {}

bool Compilation::Parse() {
  modules_ = LoadProgram(root_, {.stdlib = StdlibFolder(console_.executable)}, sources_, emitter_);
  return !emitter_.has_errors();
}

ExitStatus Compilation::Finish() { return Report(emitter_, sources_, options_, console_); }

}  // namespace wf::driver
