#include "compiler/driver/child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace wf::driver {

pid_t StartChild(const std::string& binary, const std::vector<std::string>& arguments, const ChildOptions& options) {
  std::vector<char*> argv = {const_cast<char*>(binary.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  if (options.signals != nullptr) sigprocmask(SIG_SETMASK, options.signals, nullptr);
  if (options.own_group) setpgid(0, 0);
  if (options.own_group) std::signal(SIGTTOU, SIG_IGN);  // it writes to the terminal all the same
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (options.out >= 0) dup2(options.out, STDOUT_FILENO);
  if (options.err >= 0) dup2(options.err, STDERR_FILENO);
  for (const int fd : options.inherited) fcntl(fd, F_SETFD, 0);
  std::signal(SIGPIPE, SIG_DFL);
  execv(binary.c_str(), argv.data());
  _exit(127);
}

}  // namespace wf::driver
