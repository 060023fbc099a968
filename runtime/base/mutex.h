#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "runtime/base/clock.h"

// What clang's thread-safety analysis is told; other compilers see nothing. A test runs it over the files that include this header.
#ifdef __clang__
#define WF_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define WF_THREAD_ATTRIBUTE(attribute)
#endif
#define WF_GUARDED_BY(mutex) WF_THREAD_ATTRIBUTE(guarded_by(mutex))
#define WF_REQUIRES(...) WF_THREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))

namespace wf::base {

// A mutex that the analysis knows.   Thread: thread-safe.
class WF_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void Lock() WF_THREAD_ATTRIBUTE(acquire_capability()) { mutex_.lock(); }
  void Unlock() WF_THREAD_ATTRIBUTE(release_capability()) { mutex_.unlock(); }

 private:
  friend class Condition;
  std::mutex mutex_;
};

// Holds a mutex for a scope; Unlock and Lock give it up for a while.   Thread: confined.   Borrows: the mutex.
class WF_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) WF_THREAD_ATTRIBUTE(acquire_capability(mutex)) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() WF_THREAD_ATTRIBUTE(release_capability()) {
    if (held_) mutex_.Unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  void Unlock() WF_THREAD_ATTRIBUTE(release_capability()) {
    held_ = false;
    mutex_.Unlock();
  }
  void Lock() WF_THREAD_ATTRIBUTE(acquire_capability()) {
    mutex_.Lock();
    held_ = true;
  }

 private:
  Mutex& mutex_;
  bool held_ = true;
};

// What threads that hold a mutex wait for. Wakes without a reason: ask again.   Thread: thread-safe.
class Condition {
 public:
  void Wait(Mutex& mutex) WF_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait(lock);
    lock.release();
  }
  void WaitUntil(Mutex& mutex, TimePoint at) WF_REQUIRES(mutex) {
    std::unique_lock lock(mutex.mutex_, std::adopt_lock);
    condition_.wait_until(lock, std::chrono::steady_clock::time_point(std::chrono::nanoseconds(at)));
    lock.release();
  }
  void NotifyOne() noexcept { condition_.notify_one(); }
  void NotifyAll() noexcept { condition_.notify_all(); }

 private:
  std::condition_variable condition_;
};

}  // namespace wf::base
