#include "tests/diff/extern_host.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "compiler/driver/extern_objects.h"
#include "compiler/driver/loader.h"
#include "compiler/link/lld.h"
#include "compiler/sema/check.h"
#include "runtime/base/check.h"
#include "tests/diff/child.h"
#include "tests/diff/externs.h"
#include "tests/unit/support/source_path.h"

namespace wf::diff {
namespace {

constexpr unsigned kMostSeconds = 60;

// What is wrong; empty: `object` and `shared` are there.
std::string Compile(const std::string& program, const std::string& object, const std::string& shared) {
  source::SourceMap sources;
  diag::Emitter diag;
  const std::vector<driver::Module> modules = driver::LoadProgram(program, {.stdlib = SourcePath("stdlib/")}, sources, diag);
  sema::CheckInput input{.modules = {}, .sources = sources, .options = {}};
  for (const driver::Module& module : modules) input.modules.push_back({module.path, module.file.get()});
  const std::optional<sema::Program> checked = sema::Check(input, diag);
  const driver::Console console{
      .out = std::cout, .err = std::cerr, .environment = [](const char* name) { return std::getenv(name); }, .executable = {}};
  driver::ExternObjects made;
  if (checked) made = driver::CompileExterns(*checked, sources, console, diag);
  std::string wrong;
  for (const diag::Diagnostic& one : diag.Sorted()) wrong += one.message + "\n";
  if (!made.fine || made.objects.size() != 1) return wrong;
  std::filesystem::copy_file(made.objects[0], object, std::filesystem::copy_options::overwrite_existing);
  return link::RunLld({"-shared", "--eh-frame-hdr", "-z", "lazy", "--threads=1", "-o", shared, object}).message();
}

}  // namespace

void LoadExterns(const std::string& folder) {
  const std::string program = folder + "/externs.wf", shared = folder + "/externs.so";
  std::filesystem::copy_file(SourcePath("tests/diff/cpp/externs.cc"), folder + "/externs.cc",
                             std::filesystem::copy_options::overwrite_existing);
  std::ofstream(program) << DeclarationOfExterns();
  // By a child: where lld 19 has linked C++ and links again, something damages the heap.
  const Said said = Child([&] { return Compile(program, folder + "/externs.o", shared); }, kMostSeconds).Wait();
  WF_CHECK(said.broke.empty() && said.text.empty(), said.broke, said.text);
  std::filesystem::remove(program);
  WF_CHECK(dlopen(shared.c_str(), RTLD_LAZY | RTLD_GLOBAL) != nullptr, dlerror());
}

}  // namespace wf::diff
