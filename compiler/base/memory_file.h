#pragma once

#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace wf::source {

// An anonymous file in memory with a path that this process can open while the object lives. One thread at a time.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name);  // `name` is what /proc shows
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  base::Status Append(std::string_view bytes) const;  // kResourceExhausted: no descriptor or no memory, also of the file itself
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
  int error_;  // of its creation
};

}  // namespace wf::source
