#pragma once

#include <thread>
#include <vector>

#include "runtime/base/mailbox.h"
#include "runtime/base/mutex.h"

namespace wf::server {

// Threads that read large bodies and write large answers, so that a loop never stands still for one. The first is started when it is first
// needed. Thread: Push thread-safe.   Owns: its threads.   Borrows: work, until it is posted to its home. Bounds: one entry per request;
// requests are bounded by admission.
class Codecs {
 public:
  static constexpr size_t kLargeBytes = 256 * 1024;  // smaller ones are read and written on the loop

  class Work : public base::Message {
   public:
    virtual void Run() noexcept = 0;  // on a thread of the pool; Deliver follows on the loop
    base::Mailbox* home = nullptr;
    Work* next_work = nullptr;
  };

  explicit Codecs(int max_threads) : max_threads_(max_threads) {}
  ~Codecs();  // finishes what waits, then joins
  Codecs(const Codecs&) = delete;
  Codecs& operator=(const Codecs&) = delete;
  void Push(Work& work) noexcept;

 private:
  void RunThread();

  const int max_threads_;
  base::Mutex mutex_;
  base::Condition arrived_;
  Work* first_ WF_GUARDED_BY(mutex_) = nullptr;
  Work* last_ WF_GUARDED_BY(mutex_) = nullptr;
  int idle_ WF_GUARDED_BY(mutex_) = 0;
  bool stopping_ WF_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;  // grown by Push under the mutex, joined when nobody pushes any more
};

}  // namespace wf::server
