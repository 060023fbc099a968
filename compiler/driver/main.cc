#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "compiler/base/deep_stack.h"
#include "compiler/base/ending.h"
#include "compiler/driver/commands.h"
#include "compiler/natives/natives.h"
#include "runtime/base/pages.h"
#include "runtime/base/poison.h"

namespace {

using wf::driver::Console;

template <size_t kBytes>
void Say(const char (&text)[kBytes]) noexcept {
  [[maybe_unused]] const auto written = write(STDERR_FILENO, text, kBytes - 1);
}

// A failed check has said what failed, a crash says nothing; this adds what to do, and turns the signal into the exit status that stands
// for our bugs.
extern "C" void OnBug(int signal) noexcept {
  wf::source::RemoveBeforeEnding();
  if (signal != SIGABRT) Say("wfc: it crashed\n");
  Say("wfc: this is a bug in wfc, not in your program; please report the lines above with the .wf file (exit status 101)\n");
  _exit(wf::driver::kOurBug);
}

void OnNoMemory() {
  wf::source::RemoveBeforeEnding();
  Say("wfc: the memory that it may use is spent\n");
  _exit(wf::driver::kProgramHasErrors);
}

// Sanitizers tell more of a crash than we do.
void HandleBugs() {
  std::signal(SIGABRT, OnBug);
  std::set_new_handler(OnNoMemory);
  if (wf::base::kSeesPoison) return;
  struct sigaction crash{};
  crash.sa_handler = OnBug;
  crash.sa_flags = SA_ONSTACK;  // the stack may be what is spent
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE}) sigaction(signal, &crash, nullptr);
}

// Most of what a build allocates lives until its end, so all threads share one heap that grows in large steps, lies on large pages where
// the system has them, and returns little. That builds digits in 0.9 of the time; pages that nobody touches still cost no memory.
void GrowHeapInLargeSteps() {
  if (wf::base::kSeesPoison) return;
  constexpr int kStep = 64 << 20;
  constexpr uintptr_t kLargePage = 2 << 20;
  const auto begin = (reinterpret_cast<uintptr_t>(sbrk(0)) + kLargePage - 1) & ~(kLargePage - 1);
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TOP_PAD, kStep);
  mallopt(M_TRIM_THRESHOLD, 4 * kStep);
  mallopt(M_MMAP_THRESHOLD, kStep / 2);
  void* const volatile first_step = std::malloc(kLargePage);  // volatile: it is made, though nobody uses it
  std::free(first_step);
  const auto end = reinterpret_cast<uintptr_t>(sbrk(0));
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

std::string OwnPath() {
  std::string path(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(length > 0 ? static_cast<size_t>(length) : 0);
  return path;
}

struct Job {
  std::vector<std::string> arguments;
  int status = 0;
};

alignas(16) char signal_stack_bytes[size_t{64} << 10];

extern "C" void* RunJob(void* context) noexcept {
  Job& job = *static_cast<Job*>(context);
  const stack_t own{.ss_sp = signal_stack_bytes, .ss_flags = 0, .ss_size = sizeof(signal_stack_bytes)};
  if (!wf::base::kSeesPoison) sigaltstack(&own, nullptr);
  Console console{std::cout, std::cerr, isatty(STDERR_FILENO) == 1, [](const char* name) -> const char* { return std::getenv(name); },
                  OwnPath(), &std::cin, wf::natives::Call};
  // The linker leaves a signal stack of its own behind; a sanitizer, at the end of the thread, frees the one that it finds.
  stack_t signal_stack{};
  const bool saved = sigaltstack(nullptr, &signal_stack) == 0;
  job.status = wf::driver::RunWfc(job.arguments, console);
  if (saved) sigaltstack(&signal_stack, nullptr);
  return nullptr;
}

bool ReaderIsGone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

// Output that did not arrive is a failure, whatever the command: a full disk, or a reader that had enough, as `head` has, and wants no
// word.
int Flushed(int status) {
  std::cout.flush();
  if (std::cout) return status;
  if (!ReaderIsGone()) std::cerr << "wfc: the output could not be written whole\n";
  return status == wf::driver::kFine ? wf::driver::kProgramHasErrors : status;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  HandleBugs();
  GrowHeapInLargeSteps();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the write, not the end of the process
  Job job{{argv + 1, argv + argc}};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, wf::source::DeepStackBytesOf(wf::base::MostAddresses()));
  pthread_t thread;
  const bool started = pthread_create(&thread, &attributes, RunJob, &job) == 0;
  if (started) {
    // Signals interrupt the thread that works: else it would go on while their handlers remove what it writes.
    const sigset_t endings = wf::source::AllEndings();
    pthread_sigmask(SIG_BLOCK, &endings, nullptr);
    pthread_join(thread, nullptr);
  } else {
    RunJob(&job);
  }
  const int status = Flushed(job.status);
  std::cerr.flush();
  return status;
}
