#include "runtime/server/codecs.h"

#include <pthread.h>

#include <utility>

namespace wf::server {

Codecs::~Codecs() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  arrived_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Codecs::Push(Work& work) noexcept {
  const std::lock_guard lock(mutex_);
  work.next_work = nullptr;
  (first_ == nullptr ? first_ : last_->next_work) = &work;
  last_ = &work;
  if (idle_ == 0 && static_cast<int>(threads_.size()) < max_threads_) threads_.emplace_back([this] { RunThread(); });
  arrived_.notify_one();
}

void Codecs::RunThread() {
  pthread_setname_np(pthread_self(), "wf-codec");
  std::unique_lock lock(mutex_);
  while (true) {
    while (first_ == nullptr && !stopping_) {
      ++idle_;
      arrived_.wait(lock);
      --idle_;
    }
    if (first_ == nullptr) return;
    Work& work = *std::exchange(first_, first_->next_work);
    lock.unlock();
    work.Run();
    work.home->Post(work);
    lock.lock();
  }
}

}  // namespace wf::server
