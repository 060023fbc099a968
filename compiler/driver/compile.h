#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/backend/backend.h"
#include "compiler/diag/emitter.h"
#include "compiler/driver/console.h"
#include "compiler/driver/loader.h"
#include "compiler/driver/options.h"
#include "compiler/interface/interface.h"
#include "compiler/ir/ir.h"
#include "compiler/sema/build_ir.h"
#include "compiler/sema/typed.h"
#include "runtime/base/replace_file.h"

namespace wf::driver {

// What one run of the compiler makes, phase by phase; what a phase has not made yet is empty.
struct Products {
  std::vector<Module> modules;           // Parse
  std::optional<sema::Program> checked;  // Check
  std::optional<ir::Program> program;    // BuildIr; RunPasses changes it
  std::unique_ptr<backend::Code> code;   // Lower
  std::vector<std::string> objects;      // EmitObject: of the plan; one of them, or a text, where it is what is asked for
};

// One run of the compiler over one root file. Each phase takes what the one before made; false: it has reported why it made
// nothing. Behind the IR nothing is wrong with a program any more.
// Thread: one.   Owns: sources, diagnostics, products.   Borrows: options, console.
class Compilation {
 public:
  enum class Purpose { kCheck, kDrawing, kServer };  // a server must publish something, a drawing have a workflow

  Compilation(std::string root, const Options& options, Console& console);

  // Called before a file that the program is made of is looked at.
  void set_on_read(std::function<void(const std::string&)> on_read) { on_read_ = std::move(on_read); }

  // What the root says, which is then no file.
  void set_root_text(std::string text) { root_text_ = std::move(text); }

  // Every phase up to `last`, in order, as far as there are no errors.
  bool RunTo(Phase last, Purpose purpose);

  // All of them, and Link: the server at `output`.
  bool BuildServer(const std::string& output);

  // For `wfc test`, after RunTo(kCheck): the IR whose workflows are these tests; `found`: what is wrong with them alone. Then an object.
  bool BuildTestIr(const sema::TestBuild& build, diag::Emitter& found);
  void CompileTests();

  // Writes the product that `--emit` names, to the file of `-o` or to stdout. REQUIRES: RunTo has made it.
  void Write(Emit emit);
  void WriteChoices();  // of a program that passed Check
  void WriteTrace();    // of `--time-trace`, to its file; none where the program is not known to the end
  ExitStatus Finish();  // reports what there is to report

  // An error of what is asked for, of no place in the program.
  void Refuse(diag::Code code, const std::string& argument, const std::string& help);

  // Links the object into a server.
  bool Link(const std::string& output);
  base::Status LinkTo(const base::Place& place, const std::vector<std::string>& objects) const;

  interface::Interface DescribeInterface() const;  // of a program that passed Check

  const Products& products() const { return products_; }
  const source::SourceMap& sources() const { return sources_; }
  const diag::Emitter& diagnostics() const { return emitter_; }
  std::vector<std::string> Inputs() const;  // files that the program is made of, as far as it was read

 private:
  bool RunFront(Phase last, Purpose purpose);
  bool Parse();
  bool Check(Purpose purpose);
  bool BuildIr();
  bool Verified();
  bool CallsNoRemote(diag::Code code);
  bool CheckRemotes(Phase last, Purpose purpose);
  void RunPasses();
  void Lower();
  void EmitObject();
  void WriteText(std::string_view text);
  bool MayWriteAll();  // the product and the trace; reports why not
  bool WriteDependencies(const std::string& output);

  const std::string root_;
  const Options& options_;
  Console& console_;
  source::SourceMap sources_;
  diag::Emitter emitter_;
  Products products_;
  std::vector<std::string> extern_files_;  // that externs were compiled from
  std::function<void(const std::string&)> on_read_;
  std::optional<std::string> root_text_;
  bool has_passed_ = false;     // the program is what the passes left
  bool whole_library_ = false;  // read all of it, not what the program can name
};

// The phase that makes a product.
Phase PhaseOf(Emit emit);

}  // namespace wf::driver
