#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/base/clock.h"
#include "runtime/base/mailbox.h"
#include "runtime/base/status.h"

struct uv_loop_s;

namespace wf::loop {

// What a loop does between two sleeps, besides the callbacks of sockets.
class Turn {
 public:
  virtual ~Turn() = default;
  virtual void OnFlush() noexcept = 0;                 // after the mailbox was drained: send what has collected
  virtual bool OnIdle() noexcept = 0;                  // all that came is dealt with: a piece of longer work. True: there may be more
  virtual void OnPoll() noexcept = 0;                  // about to wait for sockets
  virtual base::TimePoint NextTimerAt() noexcept = 0;  // INT64_MAX: none
  virtual void OnTime() noexcept = 0;                  // NextTimerAt may have come
  virtual void OnSecond() noexcept = 0;                // about once a second
};

// One libuv loop and the thread that calls Run.
// Thread: loop-confined but for Wake, Stop and last_turn_at.   Owns: its handles.   Borrows: clock.
// Errors: Open fails when the system has no descriptors.
// Bounds: a message waits at most one turn; timers are late by at most 1 ms.   Cost: a turn without timers reads no clock but libuv's.
class Loop final : public base::Waker {
 public:
  explicit Loop(const base::Clock& clock);
  ~Loop() override;  // closes
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  base::Status Open();
  // Closes every handle that is left and tells their owners, which must still exist. REQUIRES: not running; no other thread is inside Wake,
  // Stop or a Post to the mailbox, nor comes there again
  void Close();
  void Run(Turn& turn);  // until Stop
  void Stop() noexcept;  // from any thread; Run returns at the end of its turn
  void Wake() noexcept override;

  base::Mailbox& mailbox() { return mailbox_; }
  uv_loop_s* uv();
  int64_t now_ms() const noexcept;  // libuv's, as of the begin of this turn
  base::TimePoint last_turn_at() const noexcept {
    return last_turn_at_.load(std::memory_order_relaxed);
  }  // within a second or so; 0: it has not begun

 private:
  struct Handles;
  void Prepare() noexcept;
  void ArmTimer() noexcept;

  const base::Clock& clock_;
  base::Mailbox mailbox_;
  std::unique_ptr<Handles> handles_;
  Turn* turn_ = nullptr;
  base::TimePoint armed_for_ = INT64_MAX;
  std::atomic<base::TimePoint> last_turn_at_{0};
  std::atomic<bool> stop_{false};
  bool open_ = false;
};

// libuv ends the process where it finds no memory: from now on it insists, as Reserve does. Before anything else of libuv.
void InsistOnMemory() noexcept;

}  // namespace wf::loop
