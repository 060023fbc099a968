#include "runtime/base/per_thread.h"

#include <pthread.h>

#include <optional>

namespace wf::base {
namespace {

constinit thread_local ThreadEnd* ends = nullptr;

void RunEnds(void*) noexcept {
  while (ends != nullptr) {
    ThreadEnd& end = *ends;
    ends = end.next;
    end.run(end);
  }
}

// Nothing: the process has no more of them.
std::optional<pthread_key_t> MakeKey() noexcept {
  pthread_key_t key{};
  return pthread_key_create(&key, RunEnds) == 0 ? std::optional(key) : std::nullopt;
}

}  // namespace

// Values of the first 32 keys of a process lie in the thread itself. Without one of them, the worst is that something is not given back.
void AtThreadEnd(ThreadEnd& end) noexcept {
  static const std::optional<pthread_key_t> key = MakeKey();
  end.next = ends;
  ends = &end;
  if (key) pthread_setspecific(*key, &ends);
}

}  // namespace wf::base
