#include "runtime/base/new_file.h"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "runtime/base/path.h"
#include "runtime/base/system_error.h"
#include "runtime/base/text.h"

namespace wf::base {
namespace {

// The name of the target is cut, as names have 255 bytes at most.
std::string NameBeside(const std::string& target) {
  constexpr size_t kMostOfTarget = 200;
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) < 0) number = 0;  // known, which O_EXCL makes good
  const std::string folder = FolderOf(target);
  std::string name = folder + std::string(Cut(std::string_view(target).substr(folder.size()), kMostOfTarget)) + ".partial-";
  for (; number != 0; number >>= 4) name += "0123456789abcdef"[number & 15];
  return name;
}

}  // namespace

NewFile::NewFile(std::string target, std::string path, Descriptor file)
    : target_(std::move(target)), path_(std::move(path)), file_(std::move(file)) {}

NewFile::NewFile(NewFile&& other) noexcept
    : target_(std::move(other.target_)), path_(std::exchange(other.path_, {})), file_(std::move(other.file_)) {}

NewFile::~NewFile() {
  if (!path_.empty()) unlink(path_.c_str());
}

Result<NewFile> NewFile::Beside(const std::string& target, mode_t mode) {
  struct stat there{};
  if (stat(target.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) return StatusOfErrno(EISDIR);
  std::string path = NameBeside(target);
  Descriptor file(open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode));
  if (file.get() < 0) return StatusOfCreation(errno, path);
  return NewFile(target, std::move(path), std::move(file));
}

Status NewFile::Write(std::string_view bytes) { return WriteAll(file_.get(), bytes); }

Status NewFile::TakePlace(std::optional<mode_t> permissions) {
  if (permissions) (void)fchmod(file_.get(), *permissions);  // there are file systems without
  if (rename(path_.c_str(), target_.c_str()) != 0) return StatusOfErrno(errno);
  path_.clear();
  return {};
}

Status WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(file, bytes.data(), bytes.size());
    if (wrote < 0 && errno != EINTR) return StatusOfErrno(errno);
    if (wrote > 0) bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return {};
}

}  // namespace wf::base
