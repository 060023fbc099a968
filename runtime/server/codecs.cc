#include "runtime/server/codecs.h"

#include <pthread.h>

#include <utility>

namespace wf::server {

Codecs::~Codecs() {
  {
    const base::MutexLock lock(mutex_);
    stopping_ = true;
  }
  arrived_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

void Codecs::Push(Work& work) noexcept {
  const base::MutexLock lock(mutex_);
  work.next_work = nullptr;
  (first_ == nullptr ? first_ : last_->next_work) = &work;
  last_ = &work;
  if (idle_ == 0 && static_cast<int>(threads_.size()) < max_threads_) threads_.emplace_back([this] { RunThread(); });
  arrived_.NotifyOne();
}

void Codecs::RunThread() {
  pthread_setname_np(pthread_self(), "wf-codec");
  base::MutexLock lock(mutex_);
  while (true) {
    while (first_ == nullptr && !stopping_) {
      ++idle_;
      arrived_.Wait(mutex_);
      --idle_;
    }
    if (first_ == nullptr) return;
    Work& work = *std::exchange(first_, first_->next_work);
    lock.Unlock();
    work.Run();
    work.home->Post(work);
    lock.Lock();
  }
}

}  // namespace wf::server
