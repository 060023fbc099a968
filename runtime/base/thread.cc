#include "runtime/base/thread.h"

#include <errno.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "runtime/base/pages.h"
#include "runtime/base/per_thread.h"
#include "runtime/base/reserve.h"
#include "runtime/base/system_error.h"

namespace wf::base {
namespace {

// So that the overflow of a stack can be told, which leaves no room on it.
class AlternateStack {
 public:
  AlternateStack() {
    constexpr size_t kRoom = 64 * 1024;
    stack_.ss_size = getauxval(AT_MINSIGSTKSZ) + kRoom;
    stack_.ss_sp = MapPages(stack_.ss_size);
    if (stack_.ss_sp != nullptr) sigaltstack(&stack_, &before_);
  }
  ~AlternateStack() {
    if (stack_.ss_sp == nullptr) return;
    sigaltstack(&before_, nullptr);
    munmap(stack_.ss_sp, stack_.ss_size);
  }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  stack_t stack_{}, before_{};
};

constinit thread_local PerThread<AlternateStack> alternate_stack;

struct Begin {
  const char* name;
  std::function<void()> run;
};

void* RunThread(void* argument) {
  const std::unique_ptr<Begin> begin(static_cast<Begin*>(argument));
  pthread_setname_np(pthread_self(), begin->name);
  Reserve::LetFail(false);
  UseAlternateStack();
  begin->run();
  return nullptr;
}

}  // namespace

int Thread::Create(const char* name, std::function<void()> run, size_t stack_bytes) {
  auto begin = std::make_unique<Begin>(name, std::move(run));
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  if (stack_bytes > 0) pthread_attr_setstacksize(&attributes, stack_bytes);
  const int error = pthread_create(&thread_, &attributes, RunThread, begin.get());
  pthread_attr_destroy(&attributes);
  runs_ = error == 0;
  if (runs_) static_cast<void>(begin.release());
  return error;
}

void Thread::Start(const char* name, std::function<void()> run) {
  const int error = Create(name, std::move(run), 0);
  if (error == 0) return;
  std::fprintf(stderr, "%s: cannot start the thread %s: %s\n", program_invocation_short_name, name, TextOfErrno(error).c_str());
  _exit(1);
}

void Thread::Join() {
  if (std::exchange(runs_, false)) pthread_join(thread_, nullptr);
}

int64_t Thread::CpuNs() const noexcept {
  clockid_t clock = 0;
  timespec had{};
  if (!runs_ || pthread_getcpuclockid(thread_, &clock) != 0 || clock_gettime(clock, &had) != 0) return 0;
  return int64_t{had.tv_sec} * 1'000'000'000 + had.tv_nsec;
}

void UseAlternateStack() noexcept { static_cast<void>(*alternate_stack); }

}  // namespace wf::base
