#include "compiler/driver/compile.h"

#include "compiler/driver/files.h"
#include "compiler/driver/layout.h"
#include "compiler/driver/report.h"

namespace wf::driver {

Compilation::Compilation(std::string root, const Options& options, Console& console)
    : root_(std::move(root)), options_(options), console_(console), emitter_(options.error_limit) {}

bool Compilation::Parse() {
  modules_ = LoadProgram(root_, {.stdlib = StdlibFolder(console_.executable)}, sources_, emitter_);
  return !emitter_.has_errors();
}

void Compilation::Emit(std::string_view product) {
  if (options_.output.empty()) {
    console_.out << product;
    return;
  }
  const base::Status status = WriteFile(options_.output, product);
  if (!status.ok()) emitter_.Emit({}, diag::kCannotWriteFile, {options_.output, status.message()});
}

ExitStatus Compilation::Finish() { return Report(emitter_, sources_, options_, console_); }

}  // namespace wf::driver
