#include "runtime/base/replace_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "runtime/base/descriptor.h"
#include "runtime/base/new_file.h"
#include "runtime/base/path.h"
#include "runtime/base/system_error.h"

namespace wf::base {
namespace {

// Those of /proc/self/fd lead to what is open, which may have another name by now, or none.
bool IsLinkOfKernel(const std::string& path) {
  struct statfs system{};
  return statfs(FolderOf(path).c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

}  // namespace

Result<Place> PlaceOf(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel has it
  struct stat there{};
  const bool is_there = stat(path.c_str(), &there) == 0;
  if (!is_there && errno != ENOENT && errno != ENOTDIR) return StatusOfErrno(errno);
  if (is_there && S_ISDIR(there.st_mode)) return StatusOfErrno(EISDIR);
  if (is_there && access(path.c_str(), W_OK) != 0) return StatusOfErrno(errno);  // renaming would not ask
  const auto permissions = is_there ? std::optional<mode_t>(there.st_mode & 07777) : std::nullopt;
  const Place straight{path, permissions, true};
  if (is_there && !S_ISREG(there.st_mode)) return straight;
  std::string at = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    char target[PATH_MAX];
    const ssize_t size = readlink(at.c_str(), target, sizeof target);
    if (size < 0) return Place{at, permissions};
    if (IsLinkOfKernel(at)) return straight;
    const std::string next(target, static_cast<size_t>(size));
    at = next.starts_with('/') ? next : FolderOf(at) + next;
  }
  return StatusOfErrno(ELOOP);  // which they became meanwhile
}

Status WriteStraight(const std::string& path, std::string_view bytes) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
  return file.get() < 0 ? StatusOfErrno(errno) : WriteAll(file.get(), bytes);
}

Status ReplaceFile(const std::string& path, std::string_view bytes) {
  const Result<Place> place = PlaceOf(path);
  if (!place.ok()) return place.status();
  if (place->is_straight) return WriteStraight(place->path, bytes);
  Result<NewFile> file = NewFile::Beside(place->path, 0666);
  if (!file.ok()) return file.status();
  WF_RETURN_IF_ERROR(file->Write(bytes));
  return file->TakePlace(place->permissions);
}

Status MayReplace(const std::string& path) {
  const Result<Place> place = PlaceOf(path);
  if (!place.ok() || place->is_straight) return place.status();
  return NewFile::Beside(place->path, 0600).status();
}

}  // namespace wf::base
