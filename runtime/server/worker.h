#pragma once

#include <atomic>
#include <memory>

#include "runtime/base/thread.h"
#include "runtime/loop/loop.h"
#include "runtime/net/secure_wires.h"
#include "runtime/net/sockets.h"
#include "runtime/server/configuration.h"
#include "runtime/server/front.h"

namespace wf::server {

// One loop with its thread, and what serves on it.
// Thread: any, but for front, which is the loop's.   Owns: all of it.   Borrows: shared state, engine parts, configurations
// until it has left them.
class Worker final : public sched::Engine::CatalogueUser {
 public:
  Worker(Shared& shared, const FrontOptions& options);
  ~Worker() override;  // REQUIRES: Close was called, or Run never was
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  base::Status Open();
  base::Mailbox& mailbox() { return loop_.mailbox(); }
  loop::Loop& loop() { return loop_; }
  Front& front() { return front_; }
  void Use(const Configuration& configuration);      // before Run, after MakeEngine
  void Publish(const Configuration& configuration);  // the same while it runs

  void Run();                   // starts the thread
  void Adopt(int fd) noexcept;  // takes a connection
  // From the admin loop alone, while it runs. False: no task has run since the last time.
  bool WatchTasks(base::TimePoint now) noexcept { return front_.engine().Watch(now, thread_.CpuNs()); }
  void BeginDrain() noexcept;
  void Abort() noexcept;
  void Stop() noexcept;
  void Join();
  // After Join, once no thread is left that posts: a sender may still be on its way to wake the loop when its message has been delivered.
  void Close();
  // Drained: nothing is here, nor on its way. An arrival is counted until the front has said that it is not idle, hence the order.
  bool idle() const noexcept { return arriving_.load(std::memory_order_acquire) == 0 && front_.idle(); }
  bool deserted() const noexcept { return arriving_.load(std::memory_order_acquire) == 0 && front_.deserted(); }
  // Requests in flight, then connections, those on their way included: or all that are accepted in one turn would go to one loop.
  uint64_t load() const noexcept { return front_.load() + arriving_.load(std::memory_order_relaxed); }

  void OnReleased(const sched::Catalogue& catalogue) noexcept override;  // by its engine

 private:
  struct Arrival;
  struct NewConfiguration;
  struct DrainBegin;
  struct DrainEnd;

  loop::Loop loop_;
  net::Sockets sockets_;
  const std::unique_ptr<net::SecureWires> secure_;  // null: bytes go as they are
  Front front_;
  std::unique_ptr<DrainBegin> drain_begin_;
  std::unique_ptr<DrainEnd> drain_end_;
  std::atomic<uint32_t> arriving_{0};
  base::Thread thread_;
};

}  // namespace wf::server
