#include "runtime/server/worker.h"

#include <pthread.h>
#include <unistd.h>

#include <new>

#include "runtime/observe/crash.h"

namespace wf::server {

struct Worker::Arrival : base::Message {
  Arrival(Worker& to, int descriptor) : worker(to), fd(descriptor) {}
  void Deliver() noexcept override {
    worker.front_.Adopt(fd);
    worker.arriving_.fetch_sub(1, std::memory_order_relaxed);
    delete this;
  }
  Worker& worker;
  int fd;
};

struct Worker::DrainBegin : base::Message {
  explicit DrainBegin(Front& to) : front(to) {}
  void Deliver() noexcept override { front.BeginDrain(); }
  Front& front;
};

struct Worker::DrainEnd : base::Message {
  explicit DrainEnd(Front& to) : front(to) {}
  void Deliver() noexcept override { front.Abort(); }
  Front& front;
};

Worker::Worker(Shared& shared, const FrontOptions& options)
    : loop_(shared.clock),
      sockets_(loop_),
      front_(shared, sockets_, options),
      drain_begin_(std::make_unique<DrainBegin>(front_)),
      drain_end_(std::make_unique<DrainEnd>(front_)) {}

Worker::~Worker() { loop_.Close(); }

base::Status Worker::Open() { return loop_.Open(); }

void Worker::Run() {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "wf-loop");
    observe::UseAlternateStack();
    loop_.Run(front_);
  });
}

void Worker::Close() {
  front_.CloseAll();
  loop_.Close();
}

void Worker::Adopt(int fd) noexcept {
  auto* arrival = new (std::nothrow) Arrival(*this, fd);
  if (arrival == nullptr) {
    close(fd);
    return;
  }
  arriving_.fetch_add(1, std::memory_order_relaxed);
  mailbox().Post(*arrival);
}

void Worker::BeginDrain() noexcept { mailbox().Post(*drain_begin_); }
void Worker::Abort() noexcept { mailbox().Post(*drain_end_); }
void Worker::Stop() noexcept { loop_.Stop(); }
void Worker::Join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace wf::server
