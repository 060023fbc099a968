#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/base/mailbox.h"
#include "runtime/base/mutex.h"
#include "runtime/base/thread.h"
#include "runtime/base/wanted.h"

namespace wf::server {

// Where large bodies are read and large answers written, so that a loop never stands still for one. Production: Codecs; simulation: a list
// from which the seed picks.
// Thread: Push thread-safe.   Borrows: work, until it is posted to its home. Bounds: one entry per request; requests are bounded by
// admission.
class CodecQueue {
 public:
  static constexpr size_t kLargeBytes = 256 * 1024;  // smaller ones are read and written on the loop

  class Work : public base::Message, public base::Wanted {
   public:
    virtual void Run() noexcept = 0;  // away from the loop, unless nobody wants it by then; Deliver follows on it
    bool IsWanted() const noexcept override { return !abandoned(); }
    void RunIfWanted() noexcept {
      if (!abandoned()) Run();
    }
    void Abandon() noexcept { abandoned_.store(true, std::memory_order_relaxed); }
    bool abandoned() const noexcept { return abandoned_.load(std::memory_order_relaxed); }
    base::Mailbox* home = nullptr;
    Work* next_work = nullptr;

   private:
    std::atomic<bool> abandoned_{false};
  };

  virtual ~CodecQueue() = default;
  virtual void Push(Work& work) noexcept = 0;
};

// Threads, the first of which is started when it is first needed. Where the system gives none, whoever pushes does the work.
// Thread: Push by any; made and destroyed by one.   Owns: its threads.
class Codecs final : public CodecQueue {
 public:
  explicit Codecs(int max_threads) { threads_.reserve(static_cast<size_t>(max_threads)); }
  ~Codecs() override;  // finishes what waits, then joins
  Codecs(const Codecs&) = delete;
  Codecs& operator=(const Codecs&) = delete;
  void Push(Work& work) noexcept override;
  void DropKept() noexcept;  // what its threads keep for work to come goes back to the system, of those at work once they are done with it

 private:
  bool HasThread() WF_REQUIRES(mutex_);
  void RunThread();

  base::Mutex mutex_;
  base::Condition arrived_;
  Work* first_ WF_GUARDED_BY(mutex_) = nullptr;
  Work* last_ WF_GUARDED_BY(mutex_) = nullptr;
  size_t idle_ WF_GUARDED_BY(mutex_) = 0, waiting_ WF_GUARDED_BY(mutex_) = 0;  // threads, pieces of work
  uint64_t drops_ WF_GUARDED_BY(mutex_) = 0;                                   // calls of DropKept
  bool stopping_ WF_GUARDED_BY(mutex_) = false;
  std::vector<base::Thread> threads_;  // as many as it has room for; grown by Push under the mutex, joined when nobody pushes any more
};

}  // namespace wf::server
