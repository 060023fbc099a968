#include "compiler/codegen/codegen.h"

#include <functional>
#include <mutex>

#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/TimeProfiler.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include "compiler/base/deep_stack.h"
#include "compiler/base/ending.h"
#include "compiler/base/memory_file.h"
#include "compiler/codegen/merge.h"
#include "compiler/codegen/optimise.h"
#include "compiler/codegen/parts.h"
#include "runtime/base/check.h"
#include "runtime/base/pages.h"
#include "runtime/base/thread.h"

#ifdef WF_ADDRESS_SANITIZER
// LLVM's shared library poisons its allocators' memory only when it was built with the sanitizer; mixed with us that gives false reports.
extern "C" const char* __asan_default_options() { return "allow_user_poisoning=0"; }
#endif

namespace wf::codegen {
namespace {

constexpr char kTriple[] = "x86_64-pc-linux-gnu";

// Keeps LLVM's errors; remarks and warnings of vectorisers are of no use to users.
class Handler : public llvm::DiagnosticHandler {
 public:
  explicit Handler(std::string* errors) : errors_(errors) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error) return true;
    llvm::raw_string_ostream out(*errors_);
    llvm::DiagnosticPrinterRawOStream printer(out);
    info.print(printer);
    return true;
  }

 private:
  std::string* errors_;
};

// Where LLVM's own choice costs time and gains our code nothing. GVN looks back over 100 instructions of a block for what a load reads:
// half its time in unrolled loops, whose loads stand among stores that are proved apart one by one. Loops of unknown length become eight
// copies of their bodies and a rest: ours are vectors already, or wait for themselves from turn to turn.
void SetLlvmOptions() {
  constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> kOptions[] = {{"memdep-block-scan-limit", "30"},
                                                                              {"unroll-runtime", "false"}};
  const auto& known = llvm::cl::getRegisteredOptions();
  for (const auto& [name, value] : kOptions) {
    if (const auto option = known.find(name); option != known.end()) option->second->addOccurrence(1, name, value);
  }
}

void InitialiseOnce() {
  static std::once_flag once;
  std::call_once(once, [] {
    SetLlvmOptions();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
  });
}

base::Result<std::unique_ptr<llvm::TargetMachine>> MakeMachine(int opt_level) {
  InitialiseOnce();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple, error);
  if (target == nullptr) return base::Status(base::kUnimplemented, error);
  const auto level = opt_level <= 0   ? llvm::CodeGenOptLevel::None
                     : opt_level == 1 ? llvm::CodeGenOptLevel::Less
                     : opt_level == 2 ? llvm::CodeGenOptLevel::Default
                                      : llvm::CodeGenOptLevel::Aggressive;
  llvm::TargetOptions options;
  options.UseInitArray = true;                         // what the C library runs; `.ctors`, the default of LLVM, nobody does
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // equal bits on every CPU: nothing becomes a fused multiply-add behind our back
  options.FunctionSections = true;
  options.DataSections = true;
  // No features here: they would leak into every function. Each function names its CPU.
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(kTriple, "", "", options, llvm::Reloc::PIC_, llvm::CodeModel::Small, level));
}

void Verify(const llvm::Module& module, const char* when) {
  std::string text;
  llvm::raw_string_ostream out(text);
  const bool broken = llvm::verifyModule(module, &out);
  WF_CHECK(!broken, when, text);
}

base::Status AddBigConstants(llvm::Module& module, const source::MemoryFile& file, const std::vector<BigConstant>& constants) {
  if (constants.empty()) return base::Status::Ok();
  std::string text = ".section .rodata.wf_big,\"a\",@progbits\n";
  size_t offset = 0;
  for (const BigConstant& constant : constants) {
    if (const base::Status status = file.Append(*constant.bytes); !status.ok()) {
      return {status.code(),
              "cannot hold a constant of " + std::to_string(constant.bytes->size()) + " bytes in memory: " + status.message()};
    }
    text += ".balign 64\n.globl " + constant.symbol + "\n.hidden " + constant.symbol + "\n.type " + constant.symbol + ",@object\n";
    text += constant.symbol + ":\n.incbin \"" + file.path() + "\"," + std::to_string(offset) + "," + std::to_string(constant.bytes->size());
    text += "\n.balign 64\n.size " + constant.symbol + "," + std::to_string(constant.bytes->size()) + "\n";
    offset += constant.bytes->size();
  }
  module.appendModuleInlineAsm(text + ".text\n");
  return base::Status::Ok();
}

// Work beside this thread, or on it where the system gives no other, or addresses are limited, of which what is deep and idle would take
// those that work needs. What is timed here is timed there.
class Threads {
 public:
  Threads() = default;
  ~Threads() { Join(); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  void Run(const std::function<void()>& work) {
    const auto timed_work = [work, timed = llvm::timeTraceProfilerEnabled()] {
      if (timed) StartTrace();
      work();
      if (timed) llvm::timeTraceProfilerFinishThread();
    };
    if (base::MostAddresses() == SIZE_MAX && Starts(timed_work)) return;
    work();
  }
  void Join() {
    for (base::Thread& thread : threads_) thread.Join();
    threads_.clear();
  }

 private:
  bool Starts(const std::function<void()>& work) {
    const source::EndingsWait wait;  // signals that end the process come to the thread that writes files, never to these
    return threads_.emplace_back().TryStart("wfc-object", work, source::kDeepStackBytes);
  }

  std::vector<base::Thread> threads_;
};

base::Status Print(llvm::Module& module, llvm::TargetMachine& machine, Emit emit, llvm::SmallVectorImpl<char>& out) {
  llvm::raw_svector_ostream stream(out);
  if (emit == Emit::kLlvm) {
    module.print(stream, nullptr);
    return base::Status::Ok();
  }
  llvm::legacy::PassManager passes;
  const auto type = emit == Emit::kObject ? llvm::CodeGenFileType::ObjectFile : llvm::CodeGenFileType::AssemblyFile;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type)) return {base::kInternal, "this LLVM cannot emit the file"};
  passes.run(module);
  return base::Status::Ok();
}

}  // namespace

void StartTrace() {
  constexpr unsigned kLeastMicroseconds = 100;
  llvm::timeTraceProfilerInitialize(kLeastMicroseconds, "wfc");
}

base::Status EmitObject(llvm::Module& module, const Options& options, llvm::SmallVectorImpl<char>& out) {
  auto machine = MakeMachine(options.opt_level);
  if (!machine.ok()) return machine.status();
  module.setTargetTriple(kTriple);
  module.setDataLayout((*machine)->createDataLayout());
  std::string errors;
  module.getContext().setDiagnosticHandler(std::make_unique<Handler>(&errors));
  if (options.verify) Verify(module, "before the passes");
  Optimise(module, **machine, options);
  if (options.verify) Verify(module, "after the passes");
  const source::MemoryFile file("wf-constants");  // the assembler reads it by its path
  WF_RETURN_IF_ERROR(AddBigConstants(module, file, options.emit == Emit::kObject ? options.big_constants : std::vector<BigConstant>()));
  WF_RETURN_IF_ERROR(Print(module, **machine, options.emit, out));
  module.getContext().setDiagnosticHandler(nullptr);
  if (!errors.empty()) return {base::kInternal, errors};
  return base::Status::Ok();
}

base::Result<std::vector<std::string>> EmitObjects(llvm::Module& module, const Options& options) {
  if (options.opt_level > 0) MergeEqual(module);  // while all are in one place
  const Parts parts(module, options.most_objects, options.least_instructions);
  std::vector<llvm::SmallVector<char, 0>> objects(1 + parts.others());
  std::vector<base::Status> statuses(objects.size(), base::Status::Ok());
  Options of_other = options;
  of_other.big_constants.clear();
  const auto emit_other = [&](size_t i) {
    llvm::LLVMContext context;
    statuses[i] = EmitObject(*parts.Read(i - 1, context), of_other, objects[i]);
  };
  Threads threads;
  for (size_t i = 1; i < objects.size(); ++i) threads.Run([&, i] { emit_other(i); });
  statuses[0] = EmitObject(module, options, objects[0]);
  threads.Join();
  for (const base::Status& status : statuses) WF_RETURN_IF_ERROR(status);
  std::vector<std::string> out;
  for (const llvm::SmallVector<char, 0>& object : objects) out.emplace_back(object.data(), object.size());
  return out;
}

}  // namespace wf::codegen
