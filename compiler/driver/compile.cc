// From text to a server: Parse, Check, BuildIr, RunPasses, Lower, EmitObject, Link.

#include "compiler/driver/compile.h"

#include <algorithm>

#include "compiler/ast/printer.h"
#include "compiler/backend/backend.h"
#include "compiler/driver/choices.h"
#include "compiler/driver/dependencies.h"
#include "compiler/driver/extern_header.h"
#include "compiler/driver/extern_objects.h"
#include "compiler/driver/files.h"
#include "compiler/driver/graph.h"
#include "compiler/driver/layout.h"
#include "compiler/driver/report.h"
#include "compiler/driver/trace.h"
#include "compiler/interface/describe.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/passes.h"
#include "compiler/sema/check.h"
#include "runtime/base/check.h"

namespace wf::driver {

constexpr size_t kMaxServerBytes = size_t{1} << 30;

Compilation::Compilation(std::string root, const Options& options, Console& console)
    : root_(std::move(root)), options_(options), console_(console), emitter_(options.error_limit) {}

bool Compilation::Parse() {
  const TraceScope trace(options_, "Parse");
  const Overlay overlay = [&](const std::string& name) { return name == root_ ? root_text_ : std::nullopt; };
  const LoaderOptions loading{.stdlib = StdlibFolder(console_.executable),
                              .on_read = on_read_,
                              .needed_alone = !whole_library_,
                              .overlay = root_text_ ? &overlay : nullptr};
  products_.modules = LoadProgram(root_, loading, sources_, emitter_);
  return products_.modules.front().file != nullptr;
}

bool Compilation::Check(Purpose purpose) {
  const TraceScope trace(options_, "Check");
  sema::CheckInput input{.modules = {}, .sources = sources_};
  input.options.without_service = purpose == Purpose::kDrawing;
  input.options.require_service = purpose != Purpose::kCheck;
  input.options.without_externs = options_.emit == Emit::kHeader;  // they are written with it
  input.options.on_read = on_read_;
  input.options.natives = console_.natives;
  for (const Module& module : products_.modules) input.modules.push_back({module.path, module.file.get()});
  products_.checked = sema::Check(input, emitter_);
  return products_.checked.has_value() && !emitter_.has_errors();
}

bool Compilation::BuildIr() {
  const TraceScope trace(options_, "BuildIr");
  products_.program = sema::BuildIr(*products_.checked, sources_, emitter_);
  return Verified();
}

bool Compilation::BuildTestIr(const sema::TestBuild& build, diag::Emitter& found) {
  products_.program = sema::BuildTests(*products_.checked, build, sources_, found);
  return Verified();
}

void Compilation::CompileTests() {
  RunPasses();
  Lower();
  EmitObject();
}

bool Compilation::Verified() {
  if (!products_.program) return false;
  const auto broken = ir::Verify(*products_.program);
  WF_CHECK(!broken, *broken);
  return true;
}

// Reports those that are called: nothing is made of them yet.
bool Compilation::CallsNoRemote(diag::Code code) {
  bool fine = true;
  for (const ir::Task& task : products_.program->tasks) {
    if (task.kind != ir::TaskKind::kRemote) continue;
    const sema::Remote& remote = products_.checked->remotes[task.remote];
    emitter_.Emit(remote.span, code, {"`remote`"}).Help("in a test, `stub " + remote.name + "(..) = ..` stands for it");
    fine = false;
  }
  return fine;
}

// A program that is only checked may call them.
bool Compilation::CheckRemotes(Phase last, Purpose purpose) {
  if (last >= Phase::kLower) return CallsNoRemote(diag::kNotBuiltYet);
  if (purpose == Purpose::kCheck) CallsNoRemote(diag::kRemoteCalled);
  return true;
}

void Compilation::RunPasses() {
  const TraceScope trace(options_, "RunPasses");
  const std::span<const passes::PassInfo> all = passes::AllPasses();
  size_t number = 0;
  std::optional<TraceScope> pass_trace(std::in_place, options_, all.front().flag);
  passes::Run(*products_.program, [&](std::string_view pass, const ir::Program& program) {
    pass_trace.reset();
    if (pass == options_.dump_after) console_.out << ir::Print(program);
    if (++number < all.size()) pass_trace.emplace(options_, all[number].flag);
  });
  has_passed_ = true;
}

interface::Interface Compilation::DescribeInterface() const {
  std::vector<interface::DescribedModule> modules;
  for (const Module& module : products_.modules) modules.push_back({module.path, module.file.get()});
  return interface::Describe(*products_.checked, modules, sources_);
}

void Compilation::Lower() {
  const TraceScope trace(options_, "Lower");
  const lower::Options options{
      .target_cpu = options_.target_cpu,
      .interface_json = backend::Get().interface_json(DescribeInterface()),
      .graph_json = GraphJson(GraphOf(*products_.program), Level::kNode),
      .compiler_version = WF_VERSION,
  };
  products_.code = backend::Get().lower(*products_.program, options);
}

void Compilation::EmitObject() {
  const TraceScope trace(options_, "EmitObject");
  codegen::Options options{.opt_level = options_.optimize, .sanitizer = codegen::Sanitizer::WF_CODE_SANITIZER, .verify = WF_VERIFY_CODE};
  if (options_.emit == Emit::kLlvm) options.emit = codegen::Emit::kLlvm;
  if (options_.emit == Emit::kAsm) options.emit = codegen::Emit::kAssembly;
  const auto take = [](auto product) {
    WF_CHECK(product.ok(), product.status().message());  // an LLVM without x86-64, or code that it does not take
    return std::move(*product);
  };
  if (options_.emit.value_or(Emit::kExe) == Emit::kExe) {
    products_.objects = take(products_.code->EmitObjects(options));
  } else {
    products_.objects = {take(products_.code->Emit(options))};
  }
}

// A linker makes a file of its own: what is none, as a pipe, gets its bytes.
base::Status Compilation::LinkTo(const base::Place& place, const std::vector<std::string>& objects) const {
  const auto link = [&](const std::string& path) {
    return backend::Get().link(products_.objects, {.output = path, .runtime_dir = {}, .objects = objects, .strip = true});
  };
  if (!place.is_straight) return link(place.path);
  const TemporaryFolder folder;
  if (folder.path().empty()) return {base::kPermissionDenied, folder.WhyNone()};
  const std::string server = folder.path() + "server";
  WF_RETURN_IF_ERROR(link(server));
  const base::Result<std::string> bytes = ReadFile(server, kMaxServerBytes);
  const base::Status written = bytes.ok() ? base::WriteStraight(place.path, *bytes) : bytes.status();
  return written.ok() ? written : base::Status(base::kPermissionDenied, written.message());
}

bool Compilation::Link(const std::string& output) {
  const TraceScope trace(options_, "Link");
  const base::Result<base::Place> place = base::PlaceOf(output);
  const ExternObjects externs = CompileExterns(*products_.checked, sources_, console_, emitter_);
  extern_files_ = externs.files;
  for (const std::string& file : extern_files_) {
    if (on_read_) on_read_(file);
  }
  if (!externs.fine || ReportInput(output, extern_files_, emitter_)) return false;
  const base::Status status = place.ok() ? LinkTo(*place, externs.objects) : place.status();
  if (status.ok()) return !options_.dependencies || WriteDependencies(output);
  const bool unwritable = !place.ok() || status.code() == base::kPermissionDenied || status.code() == base::kResourceExhausted;
  if (unwritable) {
    emitter_.Emit({}, diag::kCannotWriteFile, {output, status.message()});
  } else if (const bool undefined = ReportUndefined(*products_.checked, externs, status.message(), emitter_);
             !ReportTwice(externs, status.message(), emitter_) && !undefined) {
    emitter_.Emit({}, diag::kCannotLink, {output, status.message()});
  }
  return false;
}

// Up to the IR.
bool Compilation::RunFront(Phase last, Purpose purpose) {
  if (!Parse() || (last >= Phase::kCheck && !Check(purpose)) || emitter_.has_errors()) return false;
  return last < Phase::kIr || BuildIr();
}

bool Compilation::RunTo(Phase last, Purpose purpose) {
  const auto wanted = [&](Phase phase) { return phase <= last; };
  bool is_made = RunFront(last, purpose);
  if (!whole_library_ && emitter_.error_count() + emitter_.warning_count() > 0) {  // what it says may name what the program does not
    whole_library_ = true;
    products_ = {};
    sources_ = {};
    emitter_ = diag::Emitter(options_.error_limit);
    is_made = RunFront(last, purpose);
  }
  if (!is_made) return false;
  if (wanted(Phase::kPasses)) RunPasses();
  if (wanted(Phase::kIr) && !CheckRemotes(last, purpose)) return false;
  if (wanted(Phase::kLower)) Lower();
  if (wanted(Phase::kObject)) EmitObject();
  return true;
}

bool Compilation::BuildServer(const std::string& output) { return RunTo(Phase::kObject, Purpose::kServer) && Link(output); }

Phase PhaseOf(Emit emit) {
  switch (emit) {
    case Emit::kAst:
      return Phase::kParse;
    case Emit::kSema:
    case Emit::kHeader:
      return Phase::kCheck;
    case Emit::kIr:
      return Phase::kPasses;
    case Emit::kLlvm:
    case Emit::kAsm:
    case Emit::kObj:
      return Phase::kObject;
    case Emit::kExe:
      return Phase::kLink;
  }
  return Phase::kLink;
}

void Compilation::WriteText(std::string_view text) {
  if (options_.output.empty()) {
    console_.out << text;
    return;
  }
  const base::Status status = WriteFile(options_.output, text);
  if (!status.ok()) emitter_.Emit({}, diag::kCannotWriteFile, {options_.output, status.message()});
}

std::vector<std::string> Compilation::Inputs() const {
  std::vector<std::string> inputs;
  for (size_t i = 0; i < sources_.size(); ++i) inputs.emplace_back(sources_.name(source::FileId{static_cast<uint32_t>(i)}));
  if (products_.checked) inputs.insert(inputs.end(), products_.checked->files.begin(), products_.checked->files.end());
  inputs.insert(inputs.end(), extern_files_.begin(), extern_files_.end());
  return inputs;
}

bool Compilation::WriteDependencies(const std::string& output) {
  const base::Status status = WriteFile(output + ".d", DependencyRule(output, Inputs()));
  if (!status.ok()) emitter_.Emit({}, diag::kCannotWriteFile, {output + ".d", status.message()});
  return status.ok();
}

// Before anything is written: a trace that cannot be must not leave a product behind.
bool Compilation::MayWriteAll() {
  if (!options_.output.empty() && ReportInput(options_.output, Inputs(), emitter_)) return false;
  const std::string& trace = options_.time_trace;
  if (trace.empty()) return true;
  if (ReportInput(trace, Inputs(), emitter_)) return false;
  const base::Status status = MayWrite(trace);
  if (!status.ok()) emitter_.Emit({}, diag::kCannotWriteFile, {trace, status.message()});
  return status.ok();
}

void Compilation::Write(Emit emit) {
  if (!MayWriteAll()) return;
  switch (emit) {
    case Emit::kAst:
      return WriteText(ast::Print(*products_.modules.front().file, sources_));
    case Emit::kSema:
      return WriteText(sema::Print(*products_.checked));
    case Emit::kHeader:
      return WriteText(ExternHeader(*products_.checked, sources_));
    case Emit::kIr:
      return WriteText(ir::Print(*products_.program));
    case Emit::kLlvm:
    case Emit::kAsm:
    case Emit::kObj:
      return WriteText(products_.objects.front());
    case Emit::kExe:
      Link(options_.output);
      return;
  }
}

// What a program with mistakes is made of is not known, and so not what the file is of it.
void Compilation::WriteTrace() {
  const std::string json = backend::Get().trace.finish();
  if (emitter_.has_errors() || ReportInput(options_.time_trace, Inputs(), emitter_)) return;
  const base::Status status = WriteFile(options_.time_trace, json);
  if (!status.ok()) emitter_.Emit({}, diag::kCannotWriteFile, {options_.time_trace, status.message()});
}

void Compilation::WriteChoices() {
  const bool is_built = products_.program && has_passed_;
  console_.err << ChoicesText(*products_.checked, is_built ? &*products_.program : nullptr, sources_);
}

void Compilation::Refuse(diag::Code code, const std::string& argument, const std::string& help) {
  emitter_.Emit({}, code, {argument}).Help(help);
}

ExitStatus Compilation::Finish() { return Report(emitter_, sources_, options_, console_); }

}  // namespace wf::driver
