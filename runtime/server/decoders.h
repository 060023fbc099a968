#pragma once

#include <thread>
#include <vector>

#include "runtime/base/mailbox.h"
#include "runtime/base/mutex.h"

namespace wf::server {

// Threads that read large bodies, so that a loop never stands still for one. The first is started when it is first needed.
// Thread: Push thread-safe.   Owns: its threads.   Borrows: work, until it is posted to its home.
// Bounds: one entry per request; requests are bounded by admission.
class Decoders {
 public:
  static constexpr size_t kLargeBytes = 256 * 1024;  // smaller bodies are read on the loop

  class Work : public base::Message {
   public:
    virtual void Run() noexcept = 0;  // on a thread of the pool; Deliver follows on the loop
    base::Mailbox* home = nullptr;
    Work* next_work = nullptr;
  };

  explicit Decoders(int max_threads) : max_threads_(max_threads) {}
  ~Decoders();  // finishes what waits, then joins
  Decoders(const Decoders&) = delete;
  Decoders& operator=(const Decoders&) = delete;
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
