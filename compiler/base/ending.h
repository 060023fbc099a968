#pragma once

#include <array>
#include <csignal>
#include <string>

namespace wf::source {

// Signals that others send and that end a process which does not look after them.
inline constexpr std::array kEndings = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};
sigset_t AllEndings();

// A file, or a folder of files, that these signals remove where they would end the process, for as long as this lives.
// Thread: one at a time in a process.   Bounds: a few at once; longer paths than the system's are left alone.
class RemovedOnEnding {
 public:
  enum class Kind : bool { kFile, kFolder };
  RemovedOnEnding(const std::string& path, Kind kind);
  ~RemovedOnEnding();
  RemovedOnEnding(const RemovedOnEnding&) = delete;
  RemovedOnEnding& operator=(const RemovedOnEnding&) = delete;

 private:
  const int at_;
};

// The same signals wait while this lives.   Thread: they come to no other.
class EndingsWait {
 public:
  EndingsWait();
  ~EndingsWait();
  EndingsWait(const EndingsWait&) = delete;
  EndingsWait& operator=(const EndingsWait&) = delete;

 private:
  sigset_t before_;
};

// They wait while this lives, and find the handlers that stood before, whatever others have brought meanwhile: theirs let a
// second signal in, as `timeout` sends it, which would end the process while a first one removes.   Thread: of one at a time; the signals
// come to no other.
class EndingsHeld {
 public:
  EndingsHeld();
  ~EndingsHeld();
  EndingsHeld(const EndingsHeld&) = delete;
  EndingsHeld& operator=(const EndingsHeld&) = delete;

 private:
  const EndingsWait wait_;
  std::array<struct sigaction, kEndings.size()> handlers_;
};

// For who ends the process by itself.   Thread: any; async-signal-safe.
void RemoveBeforeEnding() noexcept;

}  // namespace wf::source
