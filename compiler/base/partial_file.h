#pragma once

#include <sys/types.h>
#include <string>

#include "compiler/base/ending.h"
#include "runtime/base/status.h"

namespace wf::source {

// The neighbour of a file while that is written, so that the file appears whole or not at all. Removed at the end of the scope, and by
// signals that end the process, unless it was renamed.
// Thread: one at a time in a process.   Errors: kResourceExhausted: no room; kNotFound: no such folder; kPermissionDenied and others.
class PartialFile {
 public:
  explicit PartialFile(const std::string& target);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  const std::string& path() const { return path_; }
  base::Status Create(mode_t mode);  // empty; so that the reason is the system's where another writes it
  base::Status Rename();             // to the target

 private:
  const std::string target_, path_;
  const RemovedOnEnding removed_;
  bool renamed_ = false;
};

}  // namespace wf::source
