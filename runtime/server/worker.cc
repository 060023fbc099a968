#include "runtime/server/worker.h"

#include <unistd.h>

#include <new>

namespace wf::server {

struct Worker::Arrival : base::Message {
  Arrival(Worker& to, int descriptor) : worker(to), fd(descriptor) {}
  void Deliver() noexcept override {
    worker.front_.Adopt(fd);
    worker.arriving_.fetch_sub(1, std::memory_order_release);
    delete this;
  }
  Worker& worker;
  int fd;
};

struct Worker::NewConfiguration : base::Message {
  NewConfiguration(Worker& to, const Configuration& which) : worker(to), configuration(which) {}
  void Deliver() noexcept override {
    worker.Use(configuration);
    delete this;
  }
  Worker& worker;
  const Configuration& configuration;
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
      secure_(options.secure ? std::make_unique<net::SecureWires>(sockets_) : nullptr),
      front_(shared, secure_ == nullptr ? static_cast<net::Wires&>(sockets_) : *secure_, options),
      drain_begin_(std::make_unique<DrainBegin>(front_)),
      drain_end_(std::make_unique<DrainEnd>(front_)) {}

Worker::~Worker() { loop_.Close(); }

base::Status Worker::Open() { return loop_.Open(); }

// The engine may leave the old one at once, which nothing else then refers to.
void Worker::Use(const Configuration& configuration) {
  if (secure_ != nullptr) {
    secure_->set_context(configuration.certificates);
    secure_->set_unpaid_messages(configuration.settings.control_frames);
    secure_->set_handshakes(static_cast<size_t>(configuration.settings.handshakes));
  }
  front_.set_settings(configuration.settings);
  front_.set_keys(configuration.keys);
  front_.engine().set_catalogue_user(this);
  front_.engine().SetCatalogue(configuration);
  configuration.Arrive();
}

void Worker::Publish(const Configuration& configuration) { mailbox().Post(*new NewConfiguration(*this, configuration)); }

void Worker::OnReleased(const sched::Catalogue& catalogue) noexcept { static_cast<const Configuration&>(catalogue).Leave(); }

void Worker::Run() {
  thread_.Start("wf-loop", [this] { loop_.Run(front_); });
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
void Worker::Join() { thread_.Join(); }

}  // namespace wf::server
