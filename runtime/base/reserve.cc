#include "runtime/base/reserve.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

namespace wf::base {

// What `new` cannot have is address space or a promise of memory, and a mapping holds both untouched.
void* Reserve::Map(size_t bytes) noexcept {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

bool Reserve::Keep() noexcept {
  kept_.store(Map(kBytes));
  std::set_new_handler(OnNoMemory);
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

// Each thread tries once more for each time that the reserve was given up, also when another thread did so just now.
void Reserve::OnNoMemory() noexcept {
  static thread_local unsigned tried = 0;
  if (void* const memory = kept_.exchange(nullptr); memory != nullptr) {
    short_.store(true);
    munmap(memory, kBytes);
    given_up_.fetch_add(1);
  }
  if (const unsigned given_up = given_up_.load(); tried != given_up) {
    tried = given_up;
    return;
  }
  constexpr char kLine[] = "the process is out of memory, and its reserve is spent\n";
  const ssize_t written = write(STDERR_FILENO, kLine, sizeof kLine - 1);
  static_cast<void>(written);
  std::abort();
}

}  // namespace wf::base
