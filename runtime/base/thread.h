#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace wf::base {

// A thread with a name, and with the stack that the handler of crashes runs on.
// Thread: confined to whoever starts and joins it.
// Errors: Start ends the process with a line and status 1 when the system gives none, which is for threads that a server cannot do without
// and starts before it listens; TryStart answers false.
// Bounds: a name of 15 bytes.
class Thread {
 public:
  Thread() = default;
  Thread(const char* name, std::function<void()> run) { Start(name, std::move(run)); }
  ~Thread() { Join(); }
  Thread(Thread&& other) noexcept : thread_(other.thread_), runs_(std::exchange(other.runs_, false)) {}
  Thread& operator=(Thread&&) = delete;

  void Start(const char* name, std::function<void()> run);
  // stack_bytes: 0 as many as the system gives by default.
  bool TryStart(const char* name, std::function<void()> run, size_t stack_bytes = 0) {
    return Create(name, std::move(run), stack_bytes) == 0;
  }
  void Join();                     // once it has ended; nothing when none was started
  int64_t CpuNs() const noexcept;  // that it has had, until it is joined; 0: the system does not say

 private:
  int Create(const char* name, std::function<void()> run, size_t stack_bytes);  // 0, or the system's error
  pthread_t thread_ = {};
  bool runs_ = false;
};

// The same for the calling thread, which no Thread has started.
void UseAlternateStack() noexcept;

}  // namespace wf::base
