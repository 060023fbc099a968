#include "runtime/observe/crash.h"

#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

namespace wf::observe {

thread_local Working working;

namespace {

// Only async-signal-safe calls from here on.
struct Writer {
  char text[256];
  size_t size = 0;

  void Put(std::string_view part) {
    for (size_t i = 0; i < part.size() && size < sizeof text; ++i) text[size++] = part[i];
  }
  void PutNumber(uint64_t number, unsigned base) {
    char digits[24];
    size_t count = 0;
    do {
      digits[count++] = "0123456789abcdef"[number % base];
      number /= base;
    } while (number != 0);
    while (count != 0) Put({&digits[--count], 1});
  }
};

void OnCrash(int signal, siginfo_t* info, void*) noexcept {
  Writer line;
  line.Put("{\"level\":\"error\",\"message\":\"crash\",\"signal\":");
  line.PutNumber(static_cast<uint64_t>(signal), 10);
  line.Put(",\"address\":\"0x");
  line.PutNumber(reinterpret_cast<uintptr_t>(info->si_addr), 16);
  line.Put("\",\"data_id\":");
  line.PutNumber(working.data_id, 10);
  line.Put("}\n");
  const ssize_t written = write(STDERR_FILENO, line.text, line.size);
  static_cast<void>(written);
  // SA_RESETHAND: the signal's own effect comes with the return for faults, with raise for abort.
  raise(signal);
}

}  // namespace

void UseAlternateStack() noexcept {
  constexpr size_t kRoom = 64 * 1024;
  const size_t bytes = getauxval(AT_MINSIGSTKSZ) + kRoom;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = bytes;
  sigaltstack(&stack, nullptr);
}

void InstallCrashHandler() noexcept {
  struct sigaction action{};
  action.sa_sigaction = OnCrash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(signal, &action, nullptr);
}

}  // namespace wf::observe
