#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/lsp/workspace.h"

namespace wf::lsp {

// The programs that may speak of a thing: what editors have open, and the files of the workspace's folders as they lie on disk.
// Owns: analyses of files that are not open, with the workspace.   Borrows: the workspace, whose documents stay as they are.
// Bounds: kMostFiles files; hidden folders and node_modules are passed over.   Cost: a run of Check for each file that may name the thing
// and is not kept by ClosedFiles.
class Programs {
 public:
  static constexpr size_t kMostFiles = 2000, kMostEntries = 200'000;

  Programs(Workspace& workspace, const Thing& thing, const std::string& path);

  struct Program {
    std::string path;
    const Analysis* analysis;
  };
  const std::vector<Program>& all() const { return all_; }
  bool complete() const { return complete_; }  // no folder had more files than are looked at

 private:
  void Add(Workspace& workspace, const std::string& folder);

  const std::string name_, path_;  // of the thing, and of its file
  std::vector<Program> all_;
  std::vector<std::shared_ptr<const Analysis>> closed_;
  bool complete_ = true;
};

}  // namespace wf::lsp
