#include "runtime/server/codecs.h"

#include <utility>

#include "runtime/base/sink.h"
#include "runtime/server/codings.h"

namespace wf::server {

Codecs::~Codecs() {
  {
    const base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  arrived_.NotifyAll();
  for (base::Thread& thread : threads_) thread.Join();
}

void Codecs::Push(Work& work) noexcept {
  base::MutexLock lock(mutex_);
  if (!HasThread()) {
    lock.Unlock();
    work.RunIfWanted();
    work.home->Post(work);
    return;
  }
  work.next_work = nullptr;
  (first_ == nullptr ? first_ : last_->next_work) = &work;
  last_ = &work;
  ++waiting_;
  arrived_.NotifyOne();
}

// One more when all are busy, or about to be with what waits, and there is room. False: there is none at all.
bool Codecs::HasThread() {
  if (idle_ > waiting_ || threads_.size() == threads_.capacity()) return true;
  base::Thread thread;
  if (thread.TryStart("wf-codec", [this] { RunThread(); })) threads_.push_back(std::move(thread));
  return !threads_.empty();
}

void Codecs::DropKept() noexcept {
  {
    const base::MutexLock lock(mutex_);
    ++drops_;
  }
  arrived_.NotifyAll();
}

void Codecs::RunThread() {
  base::MutexLock lock(mutex_);
  for (uint64_t dropped = drops_;;) {
    while (first_ == nullptr && !stopping_ && dropped == drops_) {
      ++idle_;
      arrived_.Wait(mutex_);
      --idle_;
    }
    if (dropped != drops_) {
      dropped = drops_;
      lock.Unlock();
      wf_sink::DropKept();
      DropCoders();
      lock.Lock();
      continue;
    }
    if (first_ == nullptr) return;
    Work& work = *std::exchange(first_, first_->next_work);
    --waiting_;
    lock.Unlock();
    work.RunIfWanted();
    work.home->Post(work);
    lock.Lock();
  }
}

}  // namespace wf::server
