#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "compiler/driver/loader.h"
#include "compiler/ir/interpret.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/passes.h"
#include "compiler/sema/build_ir.h"
#include "compiler/sema/check.h"
#include "tests/unit/support/source_path.h"

namespace wf::sema {

// .wf text through all phases up to the verified program; `program` is empty when one of them reported something.
struct Built {
  std::optional<ir::Program> program;
  std::string diagnostics;
  std::optional<Program> checked;  // what `program` was built of
};

inline Built BuildFile(const std::string& path) {
  source::SourceMap sources;
  diag::Emitter diag;
  Built built;
  const std::vector<driver::Module> modules = driver::LoadProgram(path, {.stdlib = SourcePath("stdlib/")}, sources, diag);
  CheckInput input{.modules = {}, .sources = sources, .options = {}};
  for (const driver::Module& module : modules) input.modules.push_back({module.path, module.file.get()});
  if (!diag.has_errors()) {
    built.checked = Check(input, diag);
    if (built.checked) built.program = BuildIr(*built.checked, sources, diag);
  }
  for (const diag::Diagnostic& diagnostic : diag.Sorted())
    built.diagnostics += "WF" + std::to_string(static_cast<int>(diagnostic.code)) + " " + diagnostic.message + "\n";
  if (built.program) {
    EXPECT_EQ(ir::Verify(*built.program), std::nullopt) << ir::Print(*built.program);
  }
  return built;
}

inline Built BuildText(const std::string& text) {
  const std::string path = testing::TempDir() + "/built_" + std::to_string(::getpid()) + ".wf";
  std::ofstream(path) << text;
  Built built = BuildFile(path);
  std::filesystem::remove(path);
  return built;
}

}  // namespace wf::sema
