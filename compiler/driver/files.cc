#include "compiler/driver/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "compiler/base/partial_file.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/replace_file.h"
#include "runtime/base/system_error.h"

namespace wf::driver {
namespace {

// Room is taken before anything of the old text is lost.
base::Status WriteInPlace(const std::string& path, std::string_view text) {
  const base::Descriptor file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0) return base::StatusOfErrno(errno);
  const auto size = static_cast<off_t>(text.size());
  if (const int error = size == 0 ? 0 : posix_fallocate(file.get(), 0, size); error != 0) return base::StatusOfErrno(error);
  WF_RETURN_IF_ERROR(base::WriteAll(file.get(), text));
  return ftruncate(file.get(), size) == 0 && fsync(file.get()) == 0 ? base::Status::Ok() : base::StatusOfErrno(errno);
}

base::Status TooLarge(size_t max_bytes) {
  const std::string most = max_bytes < 1 << 20 ? fmt::format("{} bytes", max_bytes) : fmt::format("{} MiB", max_bytes >> 20);
  return {base::kResourceExhausted, "larger than " + most};
}

}  // namespace

base::Result<std::string> ReadStream(std::istream& in, size_t max_bytes) {
  std::string text(max_bytes + 1, '\0');
  errno = 0;
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() && errno == EISDIR) return base::Status(base::kInvalidArgument, "it is a folder");
  if (in.bad()) return base::StatusOfErrno(errno == 0 ? EIO : errno);
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > max_bytes) return TooLarge(max_bytes);
  return text;
}

base::Result<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  const base::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // O_NONBLOCK: a pipe must not block the open
  if (file.get() < 0 && errno == ENXIO) return base::Status(base::kInvalidArgument, "it is not a regular file");  // a socket
  if (file.get() < 0) return base::StatusOfErrno(errno);
  struct stat info{};
  if (fstat(file.get(), &info) != 0) return base::StatusOfErrno(errno);
  if (S_ISDIR(info.st_mode)) return base::Status(base::kInvalidArgument, "it is a folder");
  if (!S_ISREG(info.st_mode)) return base::Status(base::kInvalidArgument, "it is not a regular file");
  if (static_cast<uint64_t>(info.st_size) > max_bytes) return TooLarge(max_bytes);
  constexpr size_t kAtOnce = 4096;
  std::string text;
  size_t filled = 0;
  while (true) {
    if (filled > max_bytes) return TooLarge(max_bytes);
    // What it says of its size is no more than a hint: files of /proc say 0, and others grow or shrink meanwhile.
    if (filled == text.size()) {
      const size_t wanted = std::max(static_cast<size_t>(info.st_size) + 1, filled + std::max(filled, kAtOnce));
      text.resize(std::min(wanted, max_bytes + 1));
    }
    const ssize_t got = read(file.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::StatusOfErrno(errno);
    if (got == 0) break;
    filled += static_cast<size_t>(got);
  }
  text.resize(filled);
  return text;
}

bool IsSameFile(const std::string& a, const std::string& b) {
  struct stat one{}, other{};
  const bool is_one = stat(a.c_str(), &one) == 0, is_other = stat(b.c_str(), &other) == 0;
  if (is_one || is_other) return is_one && is_other && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
  namespace fs = std::filesystem;
  std::error_code error;
  const base::Result<base::Place> first = base::PlaceOf(a), second = base::PlaceOf(b);
  if (!first.ok() || !second.ok()) return false;
  const auto whole = [&error](const std::string& path) { return fs::weakly_canonical(fs::absolute(path, error), error); };
  return whole(first->path) == whole(second->path) && !error;
}

bool ReportInput(const std::string& output, const std::vector<std::string>& inputs, diag::Emitter& emitter) {
  const auto is_output = [&](const std::string& input) { return IsSameFile(input, output); };
  const auto same = std::find_if(inputs.begin(), inputs.end(), is_output);
  if (same != inputs.end()) {
    emitter.Emit({}, diag::kOutputIsInput, {output, *same});
    return true;
  }
  struct stat info{};
  if (!output.ends_with(".wf") || stat(output.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  emitter.Emit({}, diag::kOutputIsProgram, {output});
  return true;
}

base::Status WriteFile(const std::string& path, std::string_view text) {
  const base::Result<base::Place> place = base::PlaceOf(path);
  if (!place.ok()) return place.status();
  if (place->is_straight) return base::WriteStraight(place->path, text);
  source::PartialFile partial(place->path);
  WF_RETURN_IF_ERROR(partial.Create(0666));
  WF_RETURN_IF_ERROR(partial.file().Write(text));
  return partial.file().TakePlace(place->permissions);
}

base::Status MayWrite(const std::string& path) {
  const source::EndingsWait wait;
  return base::MayReplace(path);
}

base::Status RewriteFile(const std::string& path, std::string_view text) {
  const base::Result<std::string> place = PlaceForProduct(path);
  if (!place.ok()) return place.status();
  struct stat info{};
  if (stat(place->c_str(), &info) != 0) return base::StatusOfErrno(errno);
  if (info.st_nlink > 1 || info.st_uid != geteuid()) return WriteInPlace(*place, text);
  source::PartialFile partial(*place);
  WF_RETURN_IF_ERROR(partial.Create(0600));
  base::NewFile& file = partial.file();
  WF_RETURN_IF_ERROR(file.Write(text));
  if (fsync(file.fd()) != 0) return base::StatusOfErrno(errno);
  constexpr auto kSameOwner = static_cast<uid_t>(-1);
  if (fchown(file.fd(), kSameOwner, info.st_gid) != 0) return WriteInPlace(*place, text);  // not to be given to that group
  return file.TakePlace(info.st_mode & 07777);
}

base::Result<std::string> PlaceForProduct(const std::string& path) {
  base::Result<base::Place> place = base::PlaceOf(path);
  if (!place.ok()) return place.status();
  if (place->is_straight) return base::Status(base::kPermissionDenied, "it is not a regular file");
  return std::move(place->path);
}

namespace {

constexpr std::string_view kFolderPattern = "wfc-temporary-XXXXXX";  // that nobody else calls an empty folder
constexpr char kMark[] = ".wfc";  // in a folder that was locked before: who finds it unlocked finds nobody's

base::Descriptor OpenFolder(const std::string& path) {
  return base::Descriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// None where the file system has no locks: then it is not marked, and stays should this process be killed.
base::Descriptor LockFolder(const std::string& path) {
  base::Descriptor folder = OpenFolder(path);
  if (flock(folder.get(), LOCK_EX | LOCK_NB) != 0) return base::Descriptor(-1);
  const base::Descriptor mark(openat(folder.get(), kMark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  return folder;
}

// As far as can be told without the lock, which whoever is making it wants.
bool MayBeDeserted(const base::Descriptor& folder, bool is_marked) {
  constexpr time_t kMarked = 60;  // seconds, within which who makes one has marked it
  struct stat info{};
  if (fstat(folder.get(), &info) != 0 || info.st_uid != geteuid()) return false;
  return is_marked || ((info.st_mode & 07777) == S_IRWXU && time(nullptr) - info.st_mtime > kMarked);
}

void RemoveIfDeserted(const std::string& path) {
  const base::Descriptor folder = OpenFolder(path);
  const bool is_marked = faccessat(folder.get(), kMark, F_OK, 0) == 0;
  if (!MayBeDeserted(folder, is_marked) || flock(folder.get(), LOCK_EX | LOCK_NB) != 0) return;
  std::error_code ignored;
  if (is_marked) {
    std::filesystem::remove_all(path, ignored);
  } else {
    rmdir(path.c_str());  // where it is empty: its maker was killed too soon
  }
}

void RemoveDeserted(const std::string& parent) {
  const std::string_view prefix = kFolderPattern.substr(0, kFolderPattern.find('X'));
  std::error_code error;
  for (std::filesystem::directory_iterator at(parent, error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    if (name.size() == kFolderPattern.size() && name.starts_with(prefix)) RemoveIfDeserted(at->path());
  }
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  const char* const named = std::getenv("TMPDIR");
  parent_ = named != nullptr && *named != '\0' ? named : "/tmp";
  RemoveDeserted(parent_);
  std::string pattern = parent_ + "/" + std::string(kFolderPattern);
  // A signal that comes between the two waits, else the folder would stay.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  if (mkdtemp(pattern.data()) != nullptr) {
    path_ = pattern + "/";
    lock_ = LockFolder(pattern);
    removed_.emplace(path_, source::RemovedOnEnding::Kind::kFolder);
  } else {
    why_ = base::TextOfErrno(errno);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::string TemporaryFolder::WhyNone() const {
  return fmt::format("cannot make a temporary folder in `{}`: {}; TMPDIR says where", parent_, why_);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace wf::driver
