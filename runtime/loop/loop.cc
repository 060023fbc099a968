#include "runtime/loop/loop.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

#include "runtime/base/descriptor.h"
#include "runtime/base/reserve.h"
#include "runtime/base/system_error.h"

namespace wf::loop {
namespace {

// With its first loop libuv opens a pipe for signals, and aborts where that fails. 0 where there are descriptors for both, or the error.
int TryDescriptors() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return -errno;
  const base::Descriptor first(ends[0]), second(ends[1]), third(dup(ends[0]));
  return third.get() < 0 ? -errno : 0;
}

}  // namespace

void InsistOnMemory() noexcept {
  using base::Reserve;
  uv_replace_allocator([](size_t bytes) noexcept { return Reserve::Insist([=] { return std::malloc(bytes); }); },
                       [](void* old, size_t bytes) noexcept { return Reserve::Insist([=] { return std::realloc(old, bytes); }); },
                       [](size_t items, size_t bytes) noexcept { return Reserve::Insist([=] { return std::calloc(items, bytes); }); },
                       std::free);
}

struct Loop::Handles {
  uv_loop_t loop;
  base::Descriptor wakeups{-1};  // an eventfd: others write, the loop reads
  uv_poll_t wake;
  uv_prepare_t prepare;
  uv_check_t check;
  uv_idle_t idle;  // active while the loop must not sleep
  uv_timer_t timer;
  uv_timer_t second;
};

Loop::Loop(const base::Clock& clock) : clock_(clock), mailbox_(*this), handles_(std::make_unique<Handles>()) {}

Loop::~Loop() { Close(); }

void Loop::Close() {
  if (!open_) return;
  open_ = false;
  uv_walk(
      &handles_->loop,
      [](uv_handle_t* handle, void*) {
        if (uv_is_closing(handle) == 0) uv_close(handle, nullptr);
      },
      nullptr);
  while (uv_run(&handles_->loop, UV_RUN_DEFAULT) != 0) {
  }
  uv_loop_close(&handles_->loop);
}

base::Status Loop::Open() {
  std::signal(SIGPIPE, SIG_IGN);  // a peer that has left is an error of the write, not the end of the process
  uv_loop_t* loop = &handles_->loop;
  int error = TryDescriptors();
  if (error == 0) error = uv_loop_init(loop);
  if (error != 0) return {base::kResourceExhausted, std::string("cannot open an event loop: ") + base::TextOfErrno(-error)};
  open_ = true;
  loop->data = this;
  handles_->wakeups = base::Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  error = handles_->wakeups.get() < 0 ? -errno : uv_poll_init(loop, &handles_->wake, handles_->wakeups.get());
  if (error != 0) return {base::kResourceExhausted, std::string("cannot open a wake-up: ") + base::TextOfErrno(-error)};
  uv_poll_start(&handles_->wake, UV_READABLE, [](uv_poll_t* handle, int, int) noexcept {
    eventfd_t count;
    (void)eventfd_read(static_cast<Loop*>(handle->loop->data)->handles_->wakeups.get(), &count);
  });
  uv_prepare_init(loop, &handles_->prepare);
  uv_check_init(loop, &handles_->check);
  uv_idle_init(loop, &handles_->idle);
  uv_timer_init(loop, &handles_->timer);
  uv_timer_init(loop, &handles_->second);
  return {};
}

uv_loop_s* Loop::uv() { return &handles_->loop; }
int64_t Loop::now_ms() const noexcept { return static_cast<int64_t>(uv_now(&handles_->loop)); }

// Not by uv_async_send: there the loop waits, spinning, until the sender has left it; on a CPU that the two share the sender is not
// running.
void Loop::Wake() noexcept { (void)eventfd_write(handles_->wakeups.get(), 1); }

void Loop::Stop() noexcept {
  stop_.store(true, std::memory_order_release);
  Wake();
}

void Loop::Run(Turn& turn) {
  turn_ = &turn;
  last_turn_at_.store(clock_.Now(), std::memory_order_relaxed);
  uv_prepare_start(&handles_->prepare, [](uv_prepare_t* handle) noexcept { static_cast<Loop*>(handle->loop->data)->Prepare(); });
  uv_check_start(&handles_->check, [](uv_check_t* handle) noexcept {
    Loop& loop = *static_cast<Loop*>(handle->loop->data);
    loop.mailbox_.Awake();
    uv_idle_stop(&loop.handles_->idle);
  });
  const auto on_second = [](uv_timer_t* handle) noexcept {
    Loop& loop = *static_cast<Loop*>(handle->loop->data);
    loop.last_turn_at_.store(loop.clock_.Now(), std::memory_order_relaxed);
    loop.turn_->OnSecond();
  };
  uv_timer_start(&handles_->second, on_second, 1000, 1000);
  while (!stop_.load(std::memory_order_acquire)) uv_run(&handles_->loop, UV_RUN_ONCE);
  mailbox_.Drain();
  turn_->OnFlush();
  uv_prepare_stop(&handles_->prepare);
  uv_check_stop(&handles_->check);
  uv_timer_stop(&handles_->second);
  uv_timer_stop(&handles_->timer);
  armed_for_ = INT64_MAX;
  stop_.store(false, std::memory_order_relaxed);
}

// The end of a turn: messages and timers first, since what they cause is sent with the rest.
void Loop::Prepare() noexcept {
  constexpr int kMaxRounds = 4;  // beyond, sockets get their turn before the mailbox is looked at again
  bool asleep = false, worked = false;
  for (int round = 0; round < kMaxRounds && !asleep; ++round) {
    mailbox_.Drain();
    if (turn_->NextTimerAt() != INT64_MAX && turn_->NextTimerAt() <= clock_.Now()) turn_->OnTime();
    turn_->OnFlush();
    if (!worked) worked = turn_->OnIdle();
    asleep = mailbox_.PrepareToSleep();
  }
  if (!asleep || worked || stop_.load(std::memory_order_acquire)) uv_idle_start(&handles_->idle, [](uv_idle_t*) {});
  ArmTimer();
  turn_->OnPoll();
}

// Lazy: a timer that comes too early finds nothing due, and the next turn arms it anew. So a deadline that moves back costs nothing.
void Loop::ArmTimer() noexcept {
  const base::TimePoint next = turn_->NextTimerAt();
  if (next >= armed_for_) return;
  armed_for_ = next;
  const int64_t wait_ns = std::max<int64_t>(next - clock_.Now(), 0);
  const auto on_timer = [](uv_timer_t* handle) noexcept { static_cast<Loop*>(handle->loop->data)->armed_for_ = INT64_MAX; };
  uv_update_time(&handles_->loop);
  uv_timer_start(&handles_->timer, on_timer, static_cast<uint64_t>((wait_ns + 999'999) / 1'000'000), 0);
}

}  // namespace wf::loop
