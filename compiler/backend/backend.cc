#include "compiler/backend/backend.h"

#include <cstdlib>
#include <new>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/TimeProfiler.h>
#include <llvm/Support/raw_ostream.h>

#include "compiler/codegen/codegen.h"
#include "compiler/interface/openapi.h"
#include "compiler/lower/lower.h"
#include "compiler/lsp/server.h"

namespace wf::backend {
namespace {

class LlvmCode : public Code {
 public:
  LlvmCode(const ir::Program& program, const lower::Options& options)
      : program_(program), module_(lower::Lower(program, context_, options)) {}

  base::Result<std::string> Emit(codegen::Options options) override {
    AddBigConstants(options);
    llvm::SmallVector<char, 0> bytes;
    const base::Status status = codegen::EmitObject(*module_, options, bytes);
    return status.ok() ? base::Result<std::string>(std::string(bytes.data(), bytes.size())) : status;
  }

  base::Result<std::vector<std::string>> EmitObjects(codegen::Options options) override {
    AddBigConstants(options);
    return codegen::EmitObjects(*module_, options);
  }

 private:
  void AddBigConstants(codegen::Options& options) const {
    for (lower::BigConstant& constant : lower::BigConstants(program_)) {
      options.big_constants.push_back({std::move(constant.symbol), std::move(constant.bytes)});
    }
  }

  const ir::Program& program_;
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

// LLVM allocates without `new`: what ends wfc there ends it here.
void EndWithoutMemory(void*, const char*, bool) {
  if (const std::new_handler handler = std::get_new_handler()) handler();
  std::abort();
}

std::unique_ptr<Code> Lower(const ir::Program& program, const lower::Options& options) {
  [[maybe_unused]] static const bool installed = (llvm::install_bad_alloc_error_handler(EndWithoutMemory), true);
  return std::make_unique<LlvmCode>(program, options);
}

void BeginPhase(std::string_view phase) { llvm::timeTraceProfilerBegin(llvm::StringRef(phase), llvm::StringRef()); }

void EndPhase() { llvm::timeTraceProfilerEnd(); }

std::string FinishTrace() {
  std::string json;
  llvm::SmallVector<char, 0> text;
  llvm::raw_svector_ostream out(text);
  llvm::timeTraceProfilerWrite(out);
  llvm::timeTraceProfilerCleanup();
  json.assign(text.data(), text.size());
  return json;
}

constexpr Trace kTrace = {codegen::StartTrace, BeginPhase, EndPhase, FinishTrace};

}  // namespace

const Functions kLinked = {lower::KnowsCpu,    Lower,      link::Link, link::ReadSymbols, interface::ToJson, interface::FromNote,
                           interface::OpenApi, lsp::Serve, kTrace};

}  // namespace wf::backend
