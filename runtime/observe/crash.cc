#include "runtime/observe/crash.h"

#include <signal.h>
#include <unistd.h>

#include <cstddef>
#include <string_view>

namespace wf::observe {

namespace {

// Only async-signal-safe calls from here on.
struct Writer {
  char text[1024];
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

// Names come from the program's own tables; what JSON would have to escape becomes `?`, and long ones are cut.
void PutName(Writer* line, std::string_view key, const wf_bytes* name) {
  constexpr uint64_t kMostBytes = 256;
  if (name == nullptr) return;
  line->Put(",\"");
  line->Put(key);
  line->Put("\":\"");
  for (uint64_t i = 0; i < name->len && i < kMostBytes; ++i) {
    const auto c = static_cast<char>(name->ptr[i]);
    const bool safe = static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
    line->Put(safe ? std::string_view(&c, 1) : std::string_view("?"));
  }
  line->Put("\"");
}

void OnCrash(int signal, siginfo_t* info, void*) noexcept {
  Writer line;
  line.Put("{\"level\":\"error\",\"message\":\"crash\",\"signal\":");
  line.PutNumber(static_cast<uint64_t>(signal), 10);
  if (info->si_code > 0) {  // of the processor; a signal that was sent has none
    line.Put(",\"address\":\"0x");
    line.PutNumber(reinterpret_cast<uintptr_t>(info->si_addr), 16);
    line.Put("\"");
  }
  line.Put(",\"data_id\":");
  line.PutNumber(working.data_id, 10);
  PutName(&line, "task", working.task);
  PutName(&line, "model", working.model);
  line.Put("}\n");
  const ssize_t written = write(STDERR_FILENO, line.text, line.size);
  static_cast<void>(written);
  raise(signal);  // SA_RESETHAND: of its own effect now
}

}  // namespace

void InstallCrashHandler() noexcept {
  struct sigaction action{};
  action.sa_sigaction = OnCrash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(signal, &action, nullptr);
}

}  // namespace wf::observe
