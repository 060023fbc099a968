#pragma once

#include <memory>
#include <thread>

#include "runtime/loop/loop.h"
#include "runtime/net/connections.h"
#include "runtime/net/listener.h"
#include "runtime/sched/engine.h"
#include "runtime/server/configuration.h"
#include "runtime/server/http_session.h"
#include "runtime/server/workflow_site.h"

namespace wf::server {

struct WorkerOptions {
  int index = 0;
  uint32_t max_connections = 65'536;
};

// One loop with its thread, connections, sessions and engine.
// Thread: the loop's; what other threads may call says so.   Owns: all of it.   Borrows: shared state, engine parts, configurations
// until it has left them.
class Worker final : public loop::Turn, public net::HandlerFactory, public sched::Engine::CatalogueUser {
 public:
  Worker(Shared& shared, const WorkerOptions& options);
  ~Worker() override;  // REQUIRES: Join was called, or Run never was

  base::Status Open();
  base::Mailbox& mailbox() { return loop_.mailbox(); }
  loop::Loop& loop() { return loop_; }
  void MakeEngine(const bus::PlanIndex& index, sched::JobQueue& queue, bus::Memory& memory, const sched::EngineOptions& options);
  sched::Engine& engine() { return *engine_; }
  void Use(const Configuration& configuration);  // on the loop's thread, or before Run

  void Run();                                        // starts the thread
  void Adopt(int fd) noexcept;                       // any thread: takes a connection
  void Publish(const Configuration& configuration);  // any thread: Use, on the loop
  void BeginDrain() noexcept;                        // any thread: connections close as soon as they are idle
  void Abort() noexcept;                             // any thread, after BeginDrain: what is under way is answered Unavailable
  void Stop() noexcept;                              // any thread
  void Join();
  bool idle() const noexcept { return idle_.load(std::memory_order_acquire); }  // drained: no connection, no request
  uint64_t load() const noexcept { return (counts_.inflight_all.value() << 20) + counts_.connections.value(); }

  void OnFlush() noexcept override;
  void OnPoll() noexcept override { engine_->OnPoll(); }
  base::TimePoint NextTimerAt() noexcept override;
  void OnTime() noexcept override;
  void OnSecond() noexcept override;
  net::Handler* NewHandler(net::Connection& connection) noexcept override;
  void OnReleased(const sched::Catalogue& catalogue) noexcept override;

 private:
  struct Arrival;
  struct NewConfiguration;
  struct DrainBegin;
  struct DrainEnd;
  void OnDrainTick() noexcept;

  Shared& shared_;
  const WorkerOptions options_;
  LoopCounts& counts_;
  loop::Loop loop_;
  WorkflowSite site_;
  std::unique_ptr<sched::Engine> engine_;
  HttpSessions sessions_;
  net::Connections connections_;
  std::unique_ptr<DrainBegin> drain_begin_;
  std::unique_ptr<DrainEnd> drain_end_;
  std::atomic<bool> idle_{false};
  bool draining_ = false;
  base::TimePoint drain_tick_at_ = INT64_MAX;
  std::thread thread_;
};

}  // namespace wf::server
