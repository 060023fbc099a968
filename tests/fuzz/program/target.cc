#include <algorithm>
#include <cstdint>
#include <string>

#include <llvm/IR/LLVMContext.h>

#include "compiler/codegen/codegen.h"
#include "compiler/ir/verify.h"
#include "compiler/lower/lower.h"
#include "compiler/parse/parse.h"
#include "compiler/passes/passes.h"
#include "compiler/sema/build_ir.h"
#include "compiler/sema/check.h"
#include "runtime/base/check.h"

int OneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMaxBytes = 1 << 13;
  if (size > kMaxBytes) return 0;
  wf::source::SourceMap sources;
  wf::diag::Emitter emitter;
  const auto id = sources.Add("fuzz.wf", std::string(reinterpret_cast<const char*>(data), size));
  const auto file = wf::parse::Parse(id, sources, emitter);
  if (!file || emitter.has_errors()) return 0;
  const auto is_import = [](const wf::ast::DeclPtr& decl) { return decl->kind == wf::ast::DeclKind::kImportDecl; };
  if (std::any_of(file->decls.begin(), file->decls.end(), is_import)) return 0;  // whoever reads files reports what is not there
  const wf::sema::CheckInput input{{{"", &*file}}, sources, {}};
  const auto checked = wf::sema::Check(input, emitter);
  if (!checked || emitter.has_errors()) return 0;
  auto program = wf::sema::BuildIr(*checked, sources, emitter);
  if (!program) return 0;
  const auto verify = [](std::string_view pass, const wf::ir::Program& changed) {
    const auto broken = wf::ir::Verify(changed);
    WF_CHECK(!broken, *broken, std::string(pass));
  };
  verify("build", *program);
  wf::passes::Run(*program, verify);
  llvm::LLVMContext context;
  const auto module = wf::lower::Lower(*program, context, {});
  llvm::SmallVector<char, 0> object;
  const auto status = wf::codegen::EmitObject(*module, {.opt_level = 1, .verify = true}, object);
  WF_CHECK(status.ok(), status.message());
  return 0;
}
