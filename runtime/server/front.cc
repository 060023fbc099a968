#include "runtime/server/front.h"

#include <algorithm>

#include "runtime/base/reserve.h"
#include "runtime/observe/log.h"
#include "runtime/server/codings.h"

namespace wf::server {

SessionLimits LimitsOf(const Settings& settings) {
  SessionLimits limits;
  limits.header_ms = settings.header_timeout.ms();
  limits.idle_ms = settings.idle_timeout.ms();
  limits.body_rate = settings.body_rate.value;
  limits.discarded_bytes = static_cast<size_t>(settings.discarded_bytes.value);
  limits.stream_messages = static_cast<uint32_t>(settings.stream_messages);
  limits.of_connection = {settings.write_timeout.ms(), settings.answer_timeout.ms(), static_cast<size_t>(settings.unsent_bytes.value),
                          static_cast<size_t>(settings.turn_bytes.value)};
  limits.head = {static_cast<size_t>(settings.header_bytes.value), static_cast<size_t>(settings.request_line_bytes.value),
                 static_cast<size_t>(settings.max_headers)};
  limits.of_http2.streams = static_cast<uint32_t>(settings.streams);
  limits.of_http2.stream_window = static_cast<uint32_t>(settings.stream_window.value);
  limits.of_http2.connection_window = static_cast<uint32_t>(settings.connection_window.value);
  limits.of_http2.control_frames = settings.control_frames;
  limits.of_http2.head = limits.head;
  return limits;
}

Front::Front(Shared& shared, net::Wires& wires, const FrontOptions& options)
    : shared_(shared),
      counts_(*shared.loops[static_cast<size_t>(options.index)]),
      site_(shared, options.index),
      sessions_(site_, {}),
      connections_(wires, *this, options.max_connections) {}

Front::~Front() = default;

void Front::MakeEngine(const bus::PlanIndex& index, const sched::EngineParts& parts, const sched::EngineOptions& options) {
  engine_ = std::make_unique<sched::Engine>(shared_.plan, index, parts, options);
  site_.set_engine(engine_.get(), parts.memory, parts.mailbox);
  memory_ = &parts.memory;
}

void Front::set_settings(const Settings& settings) {
  settings_ = &settings;
  site_.set_settings(settings);
  const SessionLimits limits = LimitsOf(settings);
  sessions_.set_limits(limits);
  connections_.set_limits(limits.of_connection);
}

void Front::Adopt(int fd) noexcept {
  idle_.store(false, std::memory_order_release);
  deserted_.store(false, std::memory_order_release);
  if (drain_tick_at_ != INT64_MAX) drain_tick_at_ = shared_.clock.Now() + kDrainTickNs;  // so that what it has sent is read
  if (base::Reserve::is_nearly_spent())
    connections_.Refuse(fd);
  else
    connections_.Adopt(fd);
  counts_.connections.Set(connections_.count());
}

void Front::OnRefused() noexcept {
  counts_.refused_connections.Add();
  if (settings_ != nullptr && settings_->access_log) observe::Log(observe::Level::kInfo, "a connection was refused");
}

void Front::OnDropped() noexcept {
  ++dropped_;
  OnRefused();
}

void Front::OnHandshakeFailed(std::string_view why) noexcept {
  counts_.refused_handshakes.Add();
  ++failed_handshakes_;
  handshake_failure_ = why;
}

void Front::BeginDrain() noexcept { drain_tick_at_ = shared_.clock.Now() + kDrainTickNs; }

void Front::Abort() noexcept {
  connections_.ForEach([](net::Connection& connection) {
    if (!connection.closing()) static_cast<Session*>(connection.handler())->Abort();
  });
}

// What is still coming would be refused with its next bytes, and keeps until then what has come. At once, and every second as long as it
// lasts.
void Front::Shed() noexcept {
  if (shared_.clock.Now() < shed_at_) return;
  shed_at_ = shared_.clock.Now() + base::kNsPerSecond;
  connections_.DropPooled();
  sessions_.DropIdle();
  memory_->DropKept();
  DropCoders();
  connections_.ForEach([](net::Connection& connection) {
    if (!connection.closing() && !connection.opening()) static_cast<Session*>(connection.handler())->OnMemoryShort();
  });
  wf_sink::DropKept();  // refusals are written into what was kept
}

void Front::OnFlush() noexcept {
  if (base::Reserve::memory_is_short()) Shed();
  sessions_.ResumeWaiting();
  connections_.FlushDirty();
}

void Front::OnSecond() noexcept {
  connections_.OnSecond();
  counts_.connections.Set(connections_.count());
  site_.LogBreaches();
  if (dropped_ != 0)
    observe::Log(observe::Level::kWarning, "connections were closed for want of descriptors",
                 {{"count", dropped_}, {"raise", "RLIMIT_NOFILE"}});
  dropped_ = 0;
  if (failed_handshakes_ == 0) return;
  observe::Log(observe::Level::kInfo, "TLS handshakes failed", {{"count", failed_handshakes_}, {"last_reason", handshake_failure_}});
  failed_handshakes_ = 0;
}

base::TimePoint Front::NextTimerAt() noexcept {
  return sessions_.has_waiting() || connections_.has_waiting() ? shared_.clock.Now() : std::min(engine_->NextTimerAt(), drain_tick_at_);
}

void Front::OnTime() noexcept {
  engine_->OnTime();
  if (drain_tick_at_ <= shared_.clock.Now()) OnDrainTick();
}

bool Front::at_rest() noexcept { return connections_.count() == 0 && engine_->live_buses() == 0 && sessions_.exchanges().in_use() == 0; }

// A connection that is between requests is closed behind its last answer, a tick after the drain began, so that what had arrived by then is
// read; the others close with their answer. One in its handshake has had no way yet to send a request, and one that sent none has a while.
void Front::OnDrainTick() noexcept {
  connections_.ForEach([](net::Connection& connection) {
    if (!connection.closing() && !connection.opening()) static_cast<Session*>(connection.handler())->OnDrainTick();
  });
  counts_.connections.Set(connections_.count());
  deserted_.store(connections_.count() == 0, std::memory_order_release);
  idle_.store(at_rest(), std::memory_order_release);
  drain_tick_at_ = shared_.clock.Now() + kDrainTickNs;
}

}  // namespace wf::server
