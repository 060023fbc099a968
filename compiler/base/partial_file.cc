#include "compiler/base/partial_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "runtime/base/descriptor.h"
#include "runtime/base/system_error.h"

namespace wf::source {

PartialFile::PartialFile(const std::string& target)
    : target_(target), path_(target + ".partial-" + std::to_string(getpid())), removed_(path_, RemovedOnEnding::Kind::kFile) {}

PartialFile::~PartialFile() {
  if (!renamed_) unlink(path_.c_str());
}

base::Status PartialFile::Create(mode_t mode) {
  struct stat info{};
  if (stat(target_.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return base::StatusOfErrno(EISDIR);
  const base::Descriptor file(open(path_.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, mode));
  return file.get() < 0 ? base::StatusOfCreation(errno, path_) : base::Status::Ok();
}

base::Status PartialFile::Rename() {
  if (rename(path_.c_str(), target_.c_str()) != 0) return base::StatusOfErrno(errno);
  renamed_ = true;
  return base::Status::Ok();
}

}  // namespace wf::source
