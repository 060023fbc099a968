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
#include "compiler/sema/check.h"

namespace wf::lsp {

struct LoadedModule {
  std::string path;                       // as imports name it; empty for the root
  std::shared_ptr<const ast::File> file;  // null: not read or not parsed
};
bool IsWhole(const ast::File* file);  // read to its end, with all that it declares

using Overlay = std::function<std::optional<std::string>(const std::string& name)>;  // texts that stand in place of files

// Where a program begins.
struct Root {
  std::string path;
  std::string folder;  // from which imports count, with its slash
};

// The world outside, given by the driver.
struct Host {
  // The root and all that it imports, the root first.
  std::function<std::vector<LoadedModule>(const Root&, const Overlay&, source::SourceMap&, diag::Emitter&)> load;
  std::string stdlib;       // folder of the standard library, with its slash
  std::string error_pages;  // folder of the pages about diagnostics, with its slash; empty: not installed
  std::string version;
  sema::Natives natives;                           // that constants may call
  std::function<void(std::string_view)> complain;  // to who started the server, when nobody speaks LSP to it
};

// One run of parse and check over a document: everything that a request may ask about it.
// Owns: texts, trees, index.   Thread: one.
class Analysis {
 public:
  Analysis(Root start, const Host& host, const Overlay& overlay, sema::Folded* folded = nullptr);

  const Root& start() const { return start_; }
  const source::SourceMap& sources() const { return sources_; }
  const diag::Emitter& diagnostics() const { return emitter_; }
  const Index& index() const { return index_; }
  const std::vector<LoadedModule>& modules() const { return modules_; }
  const std::vector<std::string>& embedded() const { return embedded_; }  // models and other files that it looked at, there or not
  FileId root() const { return root_; }                                   // kNone: not read
  const ast::File* tree() const { return modules_.front().file.get(); }   // of the root; null: did not parse
  const ast::File* TreeOf(const std::string& import_path) const;
  std::optional<FileId> FileNamed(std::string_view name) const;
  const ast::File* TreeOf(FileId file) const;  // null: did not parse

 private:
  const Root start_;
  source::SourceMap sources_;
  diag::Emitter emitter_;
  std::vector<LoadedModule> modules_;
  std::vector<std::string> embedded_;
  Index index_{sources_};
  FileId root_ = FileId::kNone;
};

}  // namespace wf::lsp
