#include "compiler/lsp/analysis.h"

#include <algorithm>

#include "compiler/sema/check.h"

namespace wf::lsp {

bool IsWhole(const ast::File* file) {
  return file != nullptr && std::none_of(file->decls.begin(), file->decls.end(), [](const ast::DeclPtr& decl) {
           return decl->kind == ast::DeclKind::kErrorDecl || decl->has_errors;
         });
}

Analysis::Analysis(Root start, const Host& host, const Overlay& overlay, sema::Folded* folded)
    : start_(std::move(start)), modules_(host.load(start_, overlay, sources_, emitter_)) {
  if (const auto file = FileNamed(start_.path)) root_ = *file;
  sema::CheckInput input{.modules = {}, .sources = sources_, .options = {}, .sink = &index_, .folded = folded, .folder = start_.folder};
  input.options.natives = host.natives;
  input.options.on_read = [this](const std::string& path) { embedded_.push_back(path); };
  for (const LoadedModule& module : modules_) {
    input.modules.push_back({module.path, module.file.get()});
    if (module.file) index_.AddModule(*module.file);
  }
  sema::Check(input, emitter_);
  index_.Finish();
}

const ast::File* Analysis::TreeOf(const std::string& import_path) const {
  for (const LoadedModule& module : modules_) {
    if (module.path == import_path && module.file) return module.file.get();
  }
  return nullptr;
}

const ast::File* Analysis::TreeOf(FileId file) const {
  for (const LoadedModule& module : modules_) {
    if (module.file && module.file->id == file) return module.file.get();
  }
  return nullptr;
}

std::optional<FileId> Analysis::FileNamed(std::string_view name) const {
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (sources_.name(static_cast<FileId>(i)) == name) return static_cast<FileId>(i);
  }
  return std::nullopt;
}

}  // namespace wf::lsp
