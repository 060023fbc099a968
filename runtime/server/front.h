#pragma once

#include <atomic>
#include <memory>

#include "runtime/loop/loop.h"
#include "runtime/net/connections.h"
#include "runtime/sched/engine.h"
#include "runtime/server/session.h"
#include "runtime/server/workflow_site.h"

namespace wf::server {

inline constexpr int64_t kDrainTickNs = 20'000'000;  // how often a drain looks at what is left

SessionLimits LimitsOf(const Settings& settings);

struct FrontOptions {
  int index = 0;                          // of the loop
  uint32_t max_connections = UINT32_MAX;  // more are closed at once
  bool secure = false;                    // by TLS: the configuration has certificates
};

// What serves on one loop: connections, sessions, engine, and the end of them in a drain. Stands on Clock, Mailbox, Wires, JobQueue and
// Memory alone, so that a simulation runs all of it. Thread: loop-confined, but for idle, deserted and load.   Borrows: shared state,
// wires, engine parts.
class Front final : public loop::Turn, public net::HandlerFactory {
 public:
  Front(Shared& shared, net::Wires& wires, const FrontOptions& options);
  ~Front() override;  // REQUIRES: every wire is closed, every bus drained

  void MakeEngine(const bus::PlanIndex& index, const sched::EngineParts& parts, const sched::EngineOptions& options);
  sched::Engine& engine() { return *engine_; }

  void set_settings(const Settings& settings);  // what holds from now on; outlives its use
  void set_keys(std::shared_ptr<const Keys> keys) noexcept { site_.set_keys(std::move(keys)); }

  void Adopt(int fd) noexcept;
  void BeginDrain() noexcept;  // connections close as soon as they are idle
  void Abort() noexcept;       // after BeginDrain: what is under way is answered Unavailable
  void CloseAll() noexcept { connections_.CloseAll(); }
  bool idle() const noexcept { return idle_.load(std::memory_order_acquire); }  // drained: no connection, no request
  // Drained but for work that nobody waits for: its clients are gone.
  bool deserted() const noexcept { return deserted_.load(std::memory_order_acquire); }
  uint64_t load() const noexcept { return (counts_.inflight_all.value() << 20) + counts_.connections.value(); }
  bool at_rest() noexcept;  // now: no connection, no request

  void OnFlush() noexcept override;
  void OnPoll() noexcept override { engine_->OnPoll(); }
  bool OnIdle() noexcept override { return engine_->OnIdle(); }
  base::TimePoint NextTimerAt() noexcept override;
  void OnTime() noexcept override;
  void OnSecond() noexcept override;
  net::Handler* NewHandler(net::Connection& connection) noexcept override { return sessions_.Open(connection); }
  void OnRefused() noexcept override;
  void OnDropped() noexcept;  // a connection was closed for want of descriptors
  void OnHandshakeFailed(std::string_view why) noexcept override;
  void OnBreach(std::string_view why) noexcept override { site_.OnBreach(http::Breach::kLimit, why); }
  void OnCutOff(std::string_view why) noexcept override { site_.OnBreach(http::Breach::kSlow, why); }

 private:
  void OnDrainTick() noexcept;
  void Shed() noexcept;

  Shared& shared_;
  const Settings* settings_ = nullptr;
  LoopCounts& counts_;
  WorkflowSite site_;
  std::unique_ptr<sched::Engine> engine_;
  bus::Memory* memory_ = nullptr;
  Sessions sessions_;
  net::Connections connections_;
  std::atomic<bool> idle_{false}, deserted_{false};
  base::TimePoint drain_tick_at_ = INT64_MAX, shed_at_ = 0;
  uint64_t failed_handshakes_ = 0, dropped_ = 0;  // not told yet
  std::string_view handshake_failure_;
};

}  // namespace wf::server
