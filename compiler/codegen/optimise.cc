// The pass pipeline. Without the target machine or with the tuning options unset, LLVM vectorises nothing.

#include "compiler/codegen/optimise.h"

#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/StandardInstrumentations.h>
#include <llvm/Support/TimeProfiler.h>
#include <llvm/Transforms/Instrumentation/AddressSanitizer.h>
#include <llvm/Transforms/Instrumentation/ThreadSanitizer.h>

#include "compiler/codegen/merge.h"

namespace wf::codegen {
namespace {

llvm::OptimizationLevel LevelOf(int level) {
  if (level <= 0) return llvm::OptimizationLevel::O0;
  if (level == 1) return llvm::OptimizationLevel::O1;
  return level == 2 ? llvm::OptimizationLevel::O2 : llvm::OptimizationLevel::O3;
}

void AddSanitizer(llvm::ModulePassManager& passes, Sanitizer sanitizer) {
  if (sanitizer == Sanitizer::kAddress) passes.addPass(llvm::AddressSanitizerPass(llvm::AddressSanitizerOptions()));
  if (sanitizer == Sanitizer::kThread) {
    passes.addPass(llvm::ModuleThreadSanitizerPass());
    passes.addPass(llvm::createModuleToFunctionPassAdaptor(llvm::ThreadSanitizerPass()));
  }
}

// The passes leave functions alone that do not ask to be watched.
void MarkForSanitizer(llvm::Module& module, Sanitizer sanitizer) {
  if (sanitizer == Sanitizer::kNone) return;
  const auto attribute = sanitizer == Sanitizer::kAddress ? llvm::Attribute::SanitizeAddress : llvm::Attribute::SanitizeThread;
  for (llvm::Function& function : module) {
    if (!function.isDeclaration() && !function.hasFnAttribute("wf-start-up")) function.addFnAttr(attribute);
  }
}

void AddMergeEqual(llvm::ModulePassManager& passes, llvm::OptimizationLevel level) {
  if (level != llvm::OptimizationLevel::O0) passes.addPass(MergeEqualPass());
}

}  // namespace

void Optimise(llvm::Module& module, llvm::TargetMachine& machine, const Options& options) {
  MarkForSanitizer(module, options.sanitizer);
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  tuning.LoopInterleaving = true;
  llvm::PassInstrumentationCallbacks callbacks;
  llvm::TimeProfilingPassesHandler trace;
  if (llvm::timeTraceProfilerEnabled()) trace.registerCallbacks(callbacks);
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  const llvm::OptimizationLevel level = LevelOf(options.opt_level);
  builder.registerPipelineStartEPCallback(AddMergeEqual);
  llvm::ModulePassManager passes =
      level == llvm::OptimizationLevel::O0 ? builder.buildO0DefaultPipeline(level) : builder.buildPerModuleDefaultPipeline(level);
  AddSanitizer(passes, options.sanitizer);
  passes.run(module, modules);
}

}  // namespace wf::codegen
