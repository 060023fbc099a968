#include "runtime/base/replace_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <memory>

#include "runtime/base/descriptor.h"
#include "runtime/base/system_error.h"

namespace wf::base {
namespace {

Status WriteAll(int file, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(file, bytes.data(), bytes.size());
    if (put < 0 && errno != EINTR) return StatusOfErrno(errno);
    if (put > 0) bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return {};
}

// Where the path leads; itself where nothing is there yet.
std::string TargetOf(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> target(realpath(path.c_str(), nullptr), &std::free);
  return target == nullptr ? path : target.get();
}

}  // namespace

Status ReplaceFile(const std::string& path, std::span<const uint8_t> bytes) {
  struct stat before{};
  const bool is_there = stat(path.c_str(), &before) == 0;
  if (is_there && !S_ISREG(before.st_mode)) {
    const Descriptor straight(open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return straight.get() < 0 ? StatusOfErrno(errno) : WriteAll(straight.get(), bytes);
  }
  const std::string target = TargetOf(path);
  const std::string beside =
      target + "." + std::to_string(getpid()) + "-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
  const Descriptor opened(open(beside.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666));
  if (opened.get() < 0) return StatusOfCreation(errno, target);
  Status done = WriteAll(opened.get(), bytes);
  if (done.ok() && is_there) (void)fchmod(opened.get(), before.st_mode & 0777);
  if (done.ok() && rename(beside.c_str(), target.c_str()) != 0) done = StatusOfErrno(errno);
  if (!done.ok()) (void)unlink(beside.c_str());
  return done;
}

}  // namespace wf::base
