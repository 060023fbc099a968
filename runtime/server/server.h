#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/abi/plan.h"
#include "runtime/base/clock.h"
#include "runtime/bus/memory.h"
#include "runtime/bus/plan_index.h"
#include "runtime/loop/signals.h"
#include "runtime/net/listener.h"
#include "runtime/sched/estimate.h"
#include "runtime/sched/worker_pool.h"
#include "runtime/server/admin_site.h"
#include "runtime/server/metrics_page.h"
#include "runtime/server/models.h"
#include "runtime/server/settings.h"
#include "runtime/server/worker.h"

namespace wf::server {

// A serving process: settings in, an exit status out.
// Thread: the main thread, which runs the admin loop: its port, signals, logs, the drain.   Owns: everything.   Borrows: plan, settings.
// Errors: Start names the port, the model or the limit that stands in the way. A configuration that cannot be read again changes nothing.
class Server final : public loop::Turn,
                     public loop::Signals::Listener,
                     public net::Listener::Acceptor,
                     public net::HandlerFactory,
                     public AdminPages {
 public:
  Server(const wf_plan& plan, const Settings& settings);
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  base::Status Start();                                                             // sockets are bound, models loaded and warm, loops run
  int Run();                                                                        // until the drain is over; the process's exit status
  void set_reload(std::function<Loaded()> reload) { reload_ = std::move(reload); }  // what SIGHUP reads, on the admin loop
  std::string ListeningLine() const;
  void RemoveFiles() noexcept;  // before an end that tears nothing down

  void OnFlush() noexcept override;
  bool OnIdle() noexcept override { return false; }
  void OnPoll() noexcept override {}
  base::TimePoint NextTimerAt() noexcept override;
  void OnTime() noexcept override;
  void OnSecond() noexcept override;
  void OnSignal(int signal) noexcept override;
  void OnAccepted(int fd) noexcept override { admin_connections_.Adopt(fd); }
  net::Handler* NewHandler(net::Connection& connection) noexcept override { return admin_sessions_.Open(connection); }
  std::string Metrics() const override;
  void Schedule(bool json, wf_sink* out) const override;

 private:
  // Accepts on the first worker's loop and hands out.
  class Door final : public net::Listener::Acceptor {
   public:
    explicit Door(std::vector<std::unique_ptr<Worker>>& workers) : workers_(workers) {}
    void OnAccepted(int fd) noexcept override;
    void OnDropped() noexcept override { workers_.front()->front().OnDropped(); }  // on its loop
    bool leaves_some() const noexcept override { return true; }                    // to the admin port, which tells that there are none

   private:
    std::vector<std::unique_ptr<Worker>>& workers_;
  };
  struct Entrance;
  struct LogDrain;

  base::Status BindAll();
  base::Status MakeWorkers();
  bool AllTurn() const;
  const Settings& current() const { return configurations_.back()->settings; }
  base::Result<std::unique_ptr<Configuration>> Configure(Settings settings);  // and bind it to the models
  void Publish(std::unique_ptr<Configuration> next);
  void Retire();  // what no loop has any more
  void Reload();
  void KeepOld(std::span<const std::string> errors);
  void WarnOfOpening(const Settings& next, bool has_keys) const;  // what clients had to have, and need no more
  void DrainLog() noexcept;
  void TrimMemory() noexcept;
  void WatchMemory() noexcept;
  void BeginDrain() noexcept;
  void OnDrainTick() noexcept;
  void EndDrain() noexcept;
  void EndNow(int status) noexcept;

  const wf_plan& plan_;
  const Settings& settings_;
  base::SystemClock clock_;
  Router router_;
  oip::Names model_names_;
  Shared shared_;
  bus::PlanIndex index_;
  std::unique_ptr<bus::ChunkMemory> memory_;
  std::unique_ptr<sched::WorkerPool> pool_;
  std::unique_ptr<Codecs> codecs_;
  std::atomic<uint64_t> data_ids_{1};
  sched::SharedFactors factors_;
  sched::EngineOptions engine_;  // of every loop but for its number
  loop::Loop admin_loop_;
  AdminSite admin_site_;
  Sessions admin_sessions_;
  net::Sockets admin_sockets_;
  net::Connections admin_connections_;
  net::Listener admin_listener_;
  loop::Signals signals_;
  Models models_;
  std::vector<std::unique_ptr<const Configuration>> configurations_;  // oldest first, the last is the current one
  std::shared_ptr<const tls::Context> certificates_;                  // of the next one
  std::shared_ptr<const Keys> keys_;                                  // likewise
  std::function<Loaded()> reload_;
  Reloads reloads_;
  std::vector<std::unique_ptr<Worker>> workers_;
  Door door_;
  std::vector<std::unique_ptr<Entrance>> entrances_;  // HTTP's first; gRPC's last, where it has its own
  std::unique_ptr<LogDrain> log_drain_;
  std::unique_ptr<Exporter> exporter_;  // null: nothing is traced
  base::TimePoint drain_tick_at_ = INT64_MAX, drain_since_ = 0, drain_until_ = 0, flush_until_ = 0, log_drain_at_ = INT64_MAX,
                  watch_at_ = 0, ran_at_ = 0;
  base::TimePoint deserted_at_ = INT64_MAX;  // since when the drain waits for work alone that nobody waits for
  int64_t log_wait_ns_ = 0;                  // since the reader of stderr last took something
  int64_t most_in_use_ = 0;                  // of the memory of requests, since what was freed of it went back to the system
  base::TimePoint trim_at_ = 0;
  bool aborted_ = false, memory_was_short_ = false;
  int exit_status_ = 0, cpus_ = 1;
  int64_t spin_ns_ = 0;  // of the pool
};

// What Start would find wrong with certificates, addresses, ports and models, without serving.
base::Status CheckStart(const wf_plan& plan, const Settings& settings);

// main() of a generated server.
int Main(int argc, const char* const* argv, const char* const* environment, const wf_plan& plan);

}  // namespace wf::server
