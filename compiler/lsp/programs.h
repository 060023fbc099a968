#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/lsp/workspace.h"

namespace wf::lsp {

// The programs that may speak of a thing: what editors have open, and the files of the workspace's folders as they lie on disk.
// What is known inside one declaration alone is spoken of in its own file.
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
  bool Concerns(std::string_view path) const { return seen_elsewhere_ || path == path_; }  // a file, which may speak of the thing
  bool complete() const { return complete_; }                                              // no folder had more files than are looked at
  const std::string& unread() const { return unread_; }  // a file that holds the name and did not parse whole; empty: there is none

 private:
  void Add(Workspace& workspace, const std::string& folder);
  bool Reaches(const Analysis& analysis);

  const std::string name_, path_;  // of the thing, and of its file
  std::vector<Program> all_;
  std::vector<std::shared_ptr<const Analysis>> closed_;
  std::string unread_;
  bool complete_ = true, seen_elsewhere_ = false;
};

}  // namespace wf::lsp
