#include "compiler/driver/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "compiler/base/ending.h"
#include "runtime/base/clock.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/system_error.h"

namespace wf::driver {
namespace {

// False and errno, when it could not be; it is reaped then.
bool IsStarted(pid_t pid, int reads) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(reads, &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof error) return true;
  int status = 0;
  KillAndReap(pid, &status);
  errno = error;
  return false;
}

}  // namespace

pid_t StartChild(const std::string& binary, const std::vector<std::string>& arguments, const ChildOptions& options) {
  std::vector<char*> argv = {const_cast<char*>(binary.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::array<int, 2> ends{};  // closed by a start, told errno where there is none
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return -1;
  const base::Descriptor reads(ends[0]);
  const pid_t pid = fork();
  if (pid != 0) {
    close(ends[1]);
    return pid > 0 && IsStarted(pid, reads.get()) ? pid : -1;
  }
  if (options.signals != nullptr) sigprocmask(SIG_SETMASK, options.signals, nullptr);
  if (options.own_group) setpgid(0, 0);
  if (options.own_group) std::signal(SIGTTOU, SIG_IGN);  // it writes to the terminal all the same
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (options.out >= 0) dup2(options.out, STDOUT_FILENO);
  if (options.err >= 0) dup2(options.err, STDERR_FILENO);
  for (const int fd : options.inherited) fcntl(fd, F_SETFD, 0);
  std::signal(SIGPIPE, SIG_DFL);
  execv(binary.c_str(), argv.data());
  const int error = errno;
  static_cast<void>(!write(ends[1], &error, sizeof error));
  _exit(127);
}

void HandleEndings(void (*handler)(int)) {
  for (const int signal : source::kEndings) {
    const bool is_ignored = std::signal(signal, handler) == SIG_IGN;
    // A shell without jobs has what it starts with `&` ignore SIGINT and SIGQUIT; who sends one to wfc alone means it.
    const bool is_meant = signal == SIGINT || signal == SIGQUIT || signal == SIGTERM;
    if (is_ignored && !is_meant) std::signal(signal, SIG_IGN);
  }
}

bool WaitForEnd(pid_t pid, int64_t within_ns, int* status) {
  const base::SystemClock clock;
  for (const int64_t until = clock.Now() + within_ns; waitpid(pid, status, WNOHANG) == 0;) {
    if (clock.Now() > until) return false;
    usleep(5'000);
  }
  return true;
}

void KillAndReap(pid_t pid, int* status) {
  kill(pid, SIGKILL);
  while (waitpid(pid, status, 0) < 0 && errno == EINTR) {
  }
}

std::string WhyNotStarted() {
  const bool is_forbidden = errno == EACCES;  // a folder that is mounted so
  return base::TextOfErrno(errno) + (is_forbidden ? "; what lies in the temporary folder may not be run, TMPDIR names another" : "");
}

}  // namespace wf::driver
