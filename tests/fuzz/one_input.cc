// What libFuzzer and the replay call: one input, which may take so much of the CPU's time. A busy machine proves nothing, so the clock on
// the wall does not count.

#include <sys/time.h>

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

int OneInput(const uint8_t* data, size_t size);

namespace {

constexpr time_t kMostSeconds = 5;  // users may wait for one: a sanitized build is five times slower

void SetTimer(time_t seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = seconds;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

void EndSlowly(int) {
  constexpr std::string_view kText = "\nan input took more than 5 seconds of CPU\n";  // tests/fuzz/campaign.py counts these
  [[maybe_unused]] const ssize_t written = write(2, kText.data(), kText.size());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::signal(SIGPROF, EndSlowly);
  SetTimer(kMostSeconds);
  const int status = OneInput(data, size);
  SetTimer(0);
  return status;
}
