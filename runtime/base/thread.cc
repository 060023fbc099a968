#include "runtime/base/thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "runtime/base/system_error.h"

namespace wf::base {
namespace {

// So that the overflow of a stack can be told, which leaves no room on it.
class AlternateStack {
 public:
  AlternateStack() {
    constexpr size_t kRoom = 64 * 1024;
    stack_.ss_size = getauxval(AT_MINSIGSTKSZ) + kRoom;
    stack_.ss_sp = mmap(nullptr, stack_.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack_.ss_sp != MAP_FAILED) sigaltstack(&stack_, &before_);
  }
  ~AlternateStack() {
    if (stack_.ss_sp == MAP_FAILED) return;
    sigaltstack(&before_, nullptr);
    munmap(stack_.ss_sp, stack_.ss_size);
  }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  stack_t stack_{}, before_{};
};

struct Begin {
  const char* name;
  std::function<void()> run;
};

void* RunThread(void* argument) {
  const std::unique_ptr<Begin> begin(static_cast<Begin*>(argument));
  pthread_setname_np(pthread_self(), begin->name);
  const AlternateStack stack;
  begin->run();
  return nullptr;
}

}  // namespace

int Thread::Create(const char* name, std::function<void()> run) {
  auto begin = std::make_unique<Begin>(name, std::move(run));
  const int error = pthread_create(&thread_, nullptr, RunThread, begin.get());
  runs_ = error == 0;
  if (runs_) static_cast<void>(begin.release());
  return error;
}

void Thread::Start(const char* name, std::function<void()> run) {
  const int error = Create(name, std::move(run));
  if (error == 0) return;
  std::fprintf(stderr, "%s: cannot start the thread %s: %s\n", program_invocation_short_name, name, TextOfErrno(error).c_str());
  _exit(1);
}

void Thread::Join() {
  if (std::exchange(runs_, false)) pthread_join(thread_, nullptr);
}

void UseAlternateStack() noexcept { static thread_local const AlternateStack stack; }

void TakeShortTurns() noexcept {
  constexpr uint64_t kTurnNs = 100'000;  // the least that the system takes
  struct {                               // sched_attr, whose header does not go with <sched.h>
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t turn_ns, deadline_ns, period_ns;
  } now{};
  if (syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) != 0 || now.policy != SCHED_OTHER) return;
  now.turn_ns = kTurnNs;
  syscall(SYS_sched_setattr, 0, &now, 0);
}

}  // namespace wf::base
