#include "compiler/base/ending.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "runtime/base/check.h"

namespace wf::source {
namespace {

// What a signal removes. Handlers read it, so it is plain memory.
struct Entry {
  char path[PATH_MAX];  // empty: nothing
  bool is_folder;
};
constexpr int kMost = 4;
Entry entries[kMost];
volatile std::sig_atomic_t n_entries = 0;
std::array<struct sigaction, kEndings.size()> before;

// Of the kernel's rows of a folder, which opendir would need memory for.
constexpr size_t kRowBytesAt = 16, kRowNameAt = 19;

void RemoveFolder(const char* path) {
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  alignas(8) char rows[4096];
  for (long got = 0; (got = syscall(SYS_getdents64, folder, rows, sizeof rows)) > 0;) {
    for (long at = 0; at < got;) {
      uint16_t bytes = 0;
      std::memcpy(&bytes, rows + at + kRowBytesAt, sizeof bytes);
      unlinkat(folder, rows + at + kRowNameAt, 0);  // `.` and `..` stay, being folders
      at += bytes;
    }
  }
  close(folder);
  rmdir(path);
}

extern "C" void RemoveAndEnd(int signal) noexcept {
  RemoveBeforeEnding();
  raise(signal);  // SA_RESETHAND: now it ends the process
}

void WatchEndings() {
  for (size_t i = 0; i < kEndings.size(); ++i) {
    struct sigaction action{};
    action.sa_handler = RemoveAndEnd;
    action.sa_flags = SA_RESETHAND;
    action.sa_mask = AllEndings();  // one by one
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

sigset_t AllEndings() {
  sigset_t all;
  sigemptyset(&all);
  for (const int signal : kEndings) sigaddset(&all, signal);
  return all;
}

RemovedOnEnding::RemovedOnEnding(const std::string& path, Kind kind) : at_(n_entries) {
  WF_CHECK(at_ < kMost, path);
  Entry& entry = entries[at_];
  entry.path[0] = 0;
  entry.is_folder = kind == Kind::kFolder;
  if (path.size() < sizeof entry.path) std::memcpy(entry.path, path.c_str(), path.size() + 1);
  n_entries = at_ + 1;
  if (at_ == 0) WatchEndings();
}

RemovedOnEnding::~RemovedOnEnding() {
  entries[at_].path[0] = 0;
  while (n_entries > 0 && entries[n_entries - 1].path[0] == 0) n_entries = n_entries - 1;
  if (n_entries == 0) UnwatchEndings();
}

EndingsWait::EndingsWait() {
  const sigset_t all = AllEndings();
  pthread_sigmask(SIG_BLOCK, &all, &before_);
}

EndingsWait::~EndingsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

EndingsHeld::EndingsHeld() {
  for (size_t i = 0; i < kEndings.size(); ++i) sigaction(kEndings[i], nullptr, &handlers_[i]);
}

EndingsHeld::~EndingsHeld() {
  for (size_t i = 0; i < kEndings.size(); ++i) sigaction(kEndings[i], &handlers_[i], nullptr);
}

void RemoveBeforeEnding() noexcept {
  for (int i = n_entries - 1; i >= 0; --i) {
    if (entries[i].path[0] == 0) continue;
    if (entries[i].is_folder) {
      RemoveFolder(entries[i].path);
    } else {
      unlink(entries[i].path);
    }
  }
}

}  // namespace wf::source
