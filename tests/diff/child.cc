#include "tests/diff/child.h"

#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "runtime/base/check.h"

namespace wf::diff {

Child::Child(const std::function<std::string()>& work, unsigned most_seconds) {
  int ends[2];
  WF_CHECK(pipe(ends) == 0, "pipe");
  std::fflush(nullptr);
  pid_ = fork();
  WF_CHECK(pid_ >= 0, "fork");
  from_ = ends[0];
  if (pid_ != 0) {
    close(ends[1]);
    return;
  }
  close(ends[0]);
  itimerval limit{};  // of the CPU's time: a busy machine proves nothing; the wall clock is for what only waits
  limit.it_value.tv_sec = most_seconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
  alarm(20 * most_seconds);
  const std::string text = work();
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(ends[1], text.data() + at, text.size() - at);
    if (written <= 0) _exit(3);
    at += static_cast<size_t>(written);
  }
  _exit(0);
}

Said Child::Wait() {
  Said said;
  char block[4096];
  for (ssize_t got; (got = read(from_, block, sizeof(block))) > 0;) said.text.append(block, static_cast<size_t>(got));
  close(from_);
  int status = 0;
  waitpid(pid_, &status, 0);
  if (WIFSIGNALED(status))
    said.broke =
        WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF ? kLate : std::string("ended by ") + strsignal(WTERMSIG(status));
  else if (WEXITSTATUS(status) != 0)
    said.broke = "ended with status " + std::to_string(WEXITSTATUS(status));
  return said;
}

}  // namespace wf::diff
