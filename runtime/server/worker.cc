#include "runtime/server/worker.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <new>

#include "runtime/observe/crash.h"

namespace wf::server {
namespace {

constexpr int64_t kDrainTickNs = 20'000'000;

SessionLimits SessionLimitsOf(const Settings& settings) {
  return {settings.header_timeout.ms(),
          settings.idle_timeout.ms(),
          {static_cast<size_t>(settings.header_bytes.value), static_cast<size_t>(settings.request_line_bytes.value),
           static_cast<size_t>(settings.max_headers)}};
}

}  // namespace

struct Worker::Arrival : base::Message {
  Arrival(Worker& to, int descriptor) : worker(to), fd(descriptor) {}
  void Deliver() noexcept override {
    worker.connections_.Adopt(fd);
    worker.counts_.connections.Set(worker.connections_.count());
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
  explicit DrainBegin(Worker& to) : worker(to) {}
  void Deliver() noexcept override {
    worker.draining_ = true;
    worker.drain_tick_at_ = worker.shared_.clock.Now() + kDrainTickNs;
  }
  Worker& worker;
};

struct Worker::DrainEnd : base::Message {
  explicit DrainEnd(Worker& to) : worker(to) {}
  void Deliver() noexcept override {
    worker.connections_.ForEach([](net::Connection& connection) {
      if (!connection.closing()) static_cast<HttpSession*>(connection.handler())->Abort();
    });
  }
  Worker& worker;
};

Worker::Worker(Shared& shared, const WorkerOptions& options)
    : shared_(shared),
      options_(options),
      counts_(*shared.loops[static_cast<size_t>(options.index)]),
      loop_(shared.clock),
      site_(shared, options.index),
      sessions_(site_, {}),
      connections_(loop_, *this, options.max_connections),
      drain_begin_(std::make_unique<DrainBegin>(*this)),
      drain_end_(std::make_unique<DrainEnd>(*this)) {}

Worker::~Worker() { loop_.Close(); }

base::Status Worker::Open() { return loop_.Open(); }

void Worker::MakeEngine(const bus::PlanIndex& index, sched::JobQueue& queue, bus::Memory& memory, const sched::EngineOptions& options) {
  engine_ =
      std::make_unique<sched::Engine>(shared_.plan, index, sched::EngineParts{shared_.clock, loop_.mailbox(), queue, memory}, options);
  engine_->set_catalogue_user(this);
  site_.set_engine(engine_.get(), memory, loop_.mailbox());
}

// The engine may leave the old one at once, which the site then no longer refers to.
void Worker::Use(const Configuration& configuration) {
  site_.set_settings(configuration.settings);
  sessions_.set_limits(SessionLimitsOf(configuration.settings));
  engine_->SetCatalogue(configuration);
}

void Worker::Publish(const Configuration& configuration) { mailbox().Post(*new NewConfiguration(*this, configuration)); }

void Worker::OnReleased(const sched::Catalogue& catalogue) noexcept { static_cast<const Configuration&>(catalogue).Leave(); }

void Worker::Run() {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "wf-loop");
    observe::UseAlternateStack();
    loop_.Run(*this);
    connections_.CloseAll();
    loop_.Close();
  });
}

void Worker::Adopt(int fd) noexcept {
  auto* arrival = new (std::nothrow) Arrival(*this, fd);
  if (arrival == nullptr) {
    close(fd);
    return;
  }
  mailbox().Post(*arrival);
}

void Worker::BeginDrain() noexcept { mailbox().Post(*drain_begin_); }
void Worker::Abort() noexcept { mailbox().Post(*drain_end_); }
void Worker::Stop() noexcept { loop_.Stop(); }
void Worker::Join() {
  if (thread_.joinable()) thread_.join();
}

net::Handler* Worker::NewHandler(net::Connection& connection) noexcept { return sessions_.Open(connection); }

void Worker::OnFlush() noexcept {
  sessions_.ResumeAnswered();
  connections_.FlushDirty();
}

void Worker::OnSecond() noexcept {
  connections_.OnSecond();
  counts_.connections.Set(connections_.count());
}

base::TimePoint Worker::NextTimerAt() noexcept { return std::min(engine_->NextTimerAt(), drain_tick_at_); }

void Worker::OnTime() noexcept {
  engine_->OnTime();
  if (drain_tick_at_ <= shared_.clock.Now()) OnDrainTick();
}

// A connection that is between requests is closed, a tick after the drain began, so that what had arrived by then is read; the others close
// with their answer.
void Worker::OnDrainTick() noexcept {
  connections_.ForEach([](net::Connection& connection) {
    if (!connection.closing() && static_cast<HttpSession*>(connection.handler())->between_requests()) connection.Close();
  });
  counts_.connections.Set(connections_.count());
  idle_.store(connections_.count() == 0 && engine_->live_buses() == 0 && sessions_.exchanges().in_use() == 0, std::memory_order_release);
  drain_tick_at_ = shared_.clock.Now() + kDrainTickNs;
}

}  // namespace wf::server
