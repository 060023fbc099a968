#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "compiler/base/ending.h"
#include "runtime/base/new_file.h"
#include "runtime/base/status.h"

namespace wf::source {

// The neighbour of a file while that is written, so that the file appears whole or not at all. Removed at the end of the scope, and by
// signals that end the process, unless it took the place.
// Thread: one at a time in a process.   Errors: those of base::NewFile.
class PartialFile {
 public:
  explicit PartialFile(std::string target) : target_(std::move(target)) {}

  base::Status Create(mode_t mode);  // empty
  // REQUIRES: Create has succeeded.
  base::NewFile& file() { return *file_; }
  const std::string& path() const { return file_->path(); }  // for who writes it by its name

 private:
  const std::string target_;
  std::optional<RemovedOnEnding> removed_;
  std::optional<base::NewFile> file_;
};

}  // namespace wf::source
