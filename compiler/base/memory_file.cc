#include "compiler/base/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/base/system_error.h"

namespace wf::source {

MemoryFile::MemoryFile(const char* name) : fd_(memfd_create(name, MFD_CLOEXEC)), error_(fd_ < 0 ? errno : 0) {}

MemoryFile::~MemoryFile() {
  if (fd_ >= 0) close(fd_);
}

base::Status MemoryFile::Append(std::string_view bytes) const {
  if (error_ != 0) return {base::kResourceExhausted, base::TextOfErrno(error_)};
  while (!bytes.empty()) {
    const ssize_t n = write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return {base::kResourceExhausted, base::TextOfErrno(n < 0 ? errno : ENOSPC)};
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return base::Status::Ok();
}

}  // namespace wf::source
