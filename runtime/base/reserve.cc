#include "runtime/base/reserve.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

namespace wf::base {

// What an allocation cannot have is address space or a promise of memory, and a mapping holds both untouched.
void* Reserve::Map(size_t bytes) noexcept {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

bool Reserve::Keep() noexcept {
  kept_.store(Map(kBytes));
  return kept_.load() != nullptr;
}

// As much again must be free, or it would be gone the next moment.
bool Reserve::Refill() noexcept {
  if (!memory_is_short()) return false;
  void* const memory = Map(2 * kBytes);
  if (memory == nullptr) return false;
  munmap(static_cast<char*>(memory) + kBytes, kBytes);
  kept_.store(memory);
  short_.store(false);
  return true;
}

// At the start nobody else will give memory back: two more tries are all there is.
void Reserve::MakeRoom(unsigned failed) noexcept {
  const bool serves = serves_.load(std::memory_order_relaxed);
  if (void* const memory = kept_.exchange(nullptr); memory != nullptr) {
    short_.store(true);
    munmap(memory, kBytes);
    return;
  }
  if (failed < (serves ? kMostWaits : 2)) {
    constexpr timespec kMillisecond = {0, 1'000'000};
    short_.store(true);
    nanosleep(&kMillisecond, nullptr);
    return;
  }
  constexpr char kLine[] = "the process is out of memory, and its reserve is spent\n";
  const ssize_t written = write(STDERR_FILENO, kLine, sizeof kLine - 1);
  static_cast<void>(written);
  if (!serves) _exit(1);
  std::abort();
}

}  // namespace wf::base
