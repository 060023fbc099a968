#include <algorithm>
#include <cstdint>
#include <string>

#include "compiler/parse/parse.h"
#include "compiler/sema/build_ir.h"
#include "compiler/sema/check.h"
#include "runtime/base/check.h"

int OneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMaxBytes = 1 << 14;
  if (size > kMaxBytes) return 0;
  wf::source::SourceMap sources;
  wf::diag::Emitter emitter;
  const auto id = sources.Add("fuzz.wf", std::string(reinterpret_cast<const char*>(data), size));
  const auto file = wf::parse::Parse(id, sources, emitter);
  if (!file) return 0;
  const auto is_import = [](const wf::ast::DeclPtr& decl) { return decl->kind == wf::ast::DeclKind::kImportDecl; };
  if (std::any_of(file->decls.begin(), file->decls.end(), is_import)) return 0;  // whoever reads files reports what is not there
  const bool parsed = !emitter.has_errors();
  const wf::sema::CheckInput input{{{"", &*file}}, sources, {}};
  const auto program = wf::sema::Check(input, emitter);
  WF_CHECK(program.has_value() || emitter.has_errors());
  if (!program || !parsed) return 0;
  WF_CHECK(!emitter.has_errors());
  wf::sema::Print(*program);
  const auto ir = wf::sema::BuildIr(*program, sources, emitter);
  WF_CHECK(ir.has_value() || emitter.has_errors());
  return 0;
}
