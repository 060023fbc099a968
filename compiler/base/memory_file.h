#pragma once

#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace wf::source {

// An anonymous file in memory with a path that this process can open while the object lives.
// Thread: confined.   Owns: the file.   Errors: Append gives kResourceExhausted where there is no descriptor or no memory, of the file
// itself, too.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name);  // `name` is what /proc shows
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  base::Status Append(std::string_view bytes) const;
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
  int error_;  // of its creation
};

}  // namespace wf::source
