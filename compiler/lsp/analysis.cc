#include "compiler/lsp/analysis.h"

#include "compiler/sema/check.h"

namespace wf::lsp {

Analysis::Analysis(const std::string& name, const Host& host, const Overlay& overlay)
    : modules_(host.load(name, overlay, sources_, emitter_)) {
  if (const auto file = FileNamed(name)) root_ = *file;
  sema::CheckInput input{.modules = {}, .sources = sources_, .options = {}, .sink = &index_};
  input.options.on_read = [this](const std::string& path) { embedded_.push_back(path); };
  for (const LoadedModule& module : modules_) {
    input.modules.push_back({module.path, module.file.get()});
    if (module.file) index_.AddModule(module.path, *module.file);
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

std::optional<FileId> Analysis::FileNamed(std::string_view name) const {
  for (size_t i = 0; i < sources_.size(); ++i) {
    if (sources_.name(static_cast<FileId>(i)) == name) return static_cast<FileId>(i);
  }
  return std::nullopt;
}

}  // namespace wf::lsp
