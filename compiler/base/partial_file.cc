#include "compiler/base/partial_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "compiler/base/system_error.h"
#include "runtime/base/check.h"
#include "runtime/base/descriptor.h"

namespace wf::source {
namespace {

constexpr std::array kEndings = {SIGINT, SIGTERM, SIGHUP};

// What a signal removes; empty: nothing. Handlers read it, so it is plain memory.
char to_remove[PATH_MAX];
std::array<struct sigaction, kEndings.size()> before;

extern "C" void RemoveAndEnd(int signal) noexcept {
  if (to_remove[0] != 0) unlink(to_remove);
  raise(signal);  // SA_RESETHAND: now it ends the process
}

void WatchEndings() {
  for (size_t i = 0; i < kEndings.size(); ++i) {
    struct sigaction action{};
    action.sa_handler = RemoveAndEnd;
    action.sa_flags = SA_RESETHAND;
    sigaction(kEndings[i], nullptr, &before[i]);
    if (before[i].sa_handler == SIG_DFL) sigaction(kEndings[i], &action, nullptr);
  }
}

// What came to stand there since, such as the linker's, stays: it calls what it found.
void UnwatchEndings() {
  for (size_t i = 0; i < kEndings.size(); ++i) {
    struct sigaction now{};
    sigaction(kEndings[i], nullptr, &now);
    if (now.sa_handler == RemoveAndEnd) sigaction(kEndings[i], &before[i], nullptr);
  }
}

}  // namespace

PartialFile::PartialFile(const std::string& target) : target_(target), path_(target + ".partial-" + std::to_string(getpid())) {
  WF_CHECK(to_remove[0] == 0, to_remove);
  if (path_.size() < sizeof to_remove) std::memcpy(to_remove, path_.c_str(), path_.size() + 1);
  WatchEndings();
}

PartialFile::~PartialFile() {
  UnwatchEndings();
  to_remove[0] = 0;
  if (!renamed_) unlink(path_.c_str());
}

base::Status PartialFile::Create(mode_t mode) {
  struct stat info{};
  if (stat(target_.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return StatusOfErrno(EISDIR);
  const base::Descriptor file(open(path_.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, mode));
  return file.get() < 0 ? StatusOfCreation(errno) : base::Status::Ok();
}

base::Status PartialFile::Rename() {
  if (rename(path_.c_str(), target_.c_str()) != 0) return StatusOfErrno(errno);
  renamed_ = true;
  return base::Status::Ok();
}

}  // namespace wf::source
