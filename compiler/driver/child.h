#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace wf::driver {

struct ChildOptions {
  int out = -1, err = -1;             // its stdout and stderr; -1: those of wfc
  std::vector<int> inherited;         // descriptors that it keeps, with their numbers
  const sigset_t* signals = nullptr;  // that it blocks; null: as wfc
  bool own_group = false;             // what a terminal sends to all of a job reaches it once, by wfc
};

// Starts a program that ends with wfc, at the latest; -1 and errno when it cannot be started.
pid_t StartChild(const std::string& binary, const std::vector<std::string>& arguments, const ChildOptions& options);

std::string WhyNotStarted();  // by errno, of a program in a temporary folder

// Gives the signals that end wfc to `handler`, but those that it is to ignore, as nohup has it.
void HandleEndings(void (*handler)(int));
// What to send to a server when wfc was sent `signal`: others mean something else there, or end it at once.   Async-signal-safe.
inline int EndingOfServer(int signal) { return signal == SIGINT ? SIGINT : SIGTERM; }

bool WaitForEnd(pid_t pid, int64_t within_ns, int* status);  // whether it has ended within the time; then `status` is as waitpid has it
void KillAndReap(pid_t pid, int* status);                    // at once

}  // namespace wf::driver
