#include "runtime/observe/crash.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <ctime>
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
  // `least`: 10, 100 or so, which has as many digits as are wanted beside zeros.
  void PutPadded(uint64_t number, uint64_t least) {
    for (; number < least && least > 1; least /= 10) Put("0");
    PutNumber(number, 10);
  }
};

// As lines of the log have it. Of the library's calendar nothing here is more than arithmetic.
void PutTime(Writer* line) {
  constexpr int64_t kNsPerMs = 1'000'000;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const std::chrono::sys_seconds second{std::chrono::seconds(now.tv_sec)};
  const std::chrono::sys_days day = std::chrono::floor<std::chrono::days>(second);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(second - day);
  line->PutPadded(static_cast<uint64_t>(int{date.year()}), 1000);
  line->Put("-");
  line->PutPadded(unsigned{date.month()}, 10);
  line->Put("-");
  line->PutPadded(unsigned{date.day()}, 10);
  line->Put("T");
  line->PutPadded(static_cast<uint64_t>(time.hours().count()), 10);
  line->Put(":");
  line->PutPadded(static_cast<uint64_t>(time.minutes().count()), 10);
  line->Put(":");
  line->PutPadded(static_cast<uint64_t>(time.seconds().count()), 10);
  line->Put(".");
  line->PutPadded(static_cast<uint64_t>(now.tv_nsec / kNsPerMs), 100);
  line->Put("Z");
}

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
  line.Put("{\"time\":\"");
  PutTime(&line);
  line.Put("\",\"level\":\"error\",\"message\":\"crash\",\"signal\":");
  line.PutNumber(static_cast<uint64_t>(signal), 10);
  if (info->si_code > 0) {  // of the processor; a signal that was sent has none
    line.Put(",\"address\":\"0x");
    line.PutNumber(reinterpret_cast<uintptr_t>(info->si_addr), 16);
    line.Put("\"");
  }
  line.Put(",\"data_id\":");
  line.PutNumber(working.data_id, 10);
  PutName(&line, "node", working.task);
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
