#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ast/nodes.h"
#include "compiler/base/source.h"
#include "compiler/diag/emitter.h"
#include "compiler/lsp/index.h"

namespace wf::lsp {

struct LoadedModule {
  std::string path;                 // as imports name it; empty for the root
  std::unique_ptr<ast::File> file;  // null: not read or not parsed
};
using Overlay = std::function<std::optional<std::string>(const std::string& name)>;  // texts that stand in place of files

// The world outside, given by the driver.
struct Host {
  // `root` and all that it imports, the root first.
  std::function<std::vector<LoadedModule>(const std::string& root, const Overlay&, source::SourceMap&, diag::Emitter&)> load;
  std::string stdlib;       // folder of the standard library, with its slash
  std::string error_pages;  // folder of the pages about diagnostics, with its slash; empty: not installed
  std::string version;
};

// One run of parse and check over a document: everything that a request may ask about it.
// Owns: texts, trees, index.   Thread: one.
class Analysis {
 public:
  Analysis(const std::string& name, const Host& host, const Overlay& overlay);

  const source::SourceMap& sources() const { return sources_; }
  const diag::Emitter& diagnostics() const { return emitter_; }
  const Index& index() const { return index_; }
  const std::vector<LoadedModule>& modules() const { return modules_; }
  const std::vector<std::string>& embedded() const { return embedded_; }  // models and other files that it looked at, there or not
  FileId root() const { return root_; }                                   // kNone: not read
  const ast::File* tree() const { return modules_.front().file.get(); }   // of the root; null: did not parse
  const ast::File* TreeOf(const std::string& import_path) const;
  std::optional<FileId> FileNamed(std::string_view name) const;

 private:
  source::SourceMap sources_;
  diag::Emitter emitter_;
  std::vector<LoadedModule> modules_;
  std::vector<std::string> embedded_;
  Index index_{sources_};
  FileId root_ = FileId::kNone;
};

}  // namespace wf::lsp
