#include "compiler/load/generator.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <vector>

#include "compiler/load/answers.h"
#include "runtime/base/clock.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/system_error.h"
#include "runtime/base/units.h"

namespace wf::load {
namespace {

constexpr int64_t kTickNs = 10 * base::kNsPerMs;  // how often timeouts are looked for, and refused connections tried again
constexpr int64_t kSpinNs = base::kNsPerMs / 10;  // waits that are shorter are not worth a timer
constexpr int64_t kStopNs = base::kNsPerSecond;   // that answers still have when stopped by hand
constexpr uint64_t kTimerTag = UINT64_MAX;

struct Connection {
  enum class State : uint8_t { kClosed, kConnecting, kIdle, kBusy };
  base::Descriptor socket{-1};
  Answers answers;
  State state = State::kClosed;
  bool waits_to_write = false;
  size_t sent = 0;  // bytes of the request
  int64_t due_ns = 0, sent_ns = 0;
  int64_t retry_ns = 0;  // when closed
};

class Generator {
 public:
  Generator(const Plan& plan, const std::atomic<bool>& stop) : plan_(plan), stop_(stop) {}

  base::Result<Outcome> Run() {
    WF_RETURN_IF_ERROR(Prepare());
    begin_ns_ = clock_.Now();
    end_ns_ = begin_ns_ + plan_.measured_ns;
    for (now_ns_ = begin_ns_; now_ns_ < end_ns_ && !stop_.load(std::memory_order_relaxed); now_ns_ = clock_.Now()) {
      Tick();
      SendDue();
      WF_RETURN_IF_ERROR(Wait(NextNs()));
    }
    end_ns_ = std::min(end_ns_, now_ns_);
    outcome_.measured_ns = end_ns_ - begin_ns_;
    CountNotSent();
    WF_RETURN_IF_ERROR(Drain());
    return std::move(outcome_);
  }

 private:
  using State = Connection::State;

  base::Status Prepare() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    const auto own = static_cast<rlim_t>(plan_.connections) + 64;
    if (limit.rlim_cur < own)
      return {base::kResourceExhausted,
              fmt::format("{} connections need {} descriptors, of which there may be {}", plan_.connections, own, limit.rlim_cur)};
    epoll_ = base::Descriptor(epoll_create1(EPOLL_CLOEXEC));
    timer_ = base::Descriptor(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    epoll_event event{.events = EPOLLIN, .data = {.u64 = kTimerTag}};
    if (epoll_.get() < 0 || timer_.get() < 0 || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, timer_.get(), &event) != 0)
      return base::StatusOfErrno(errno);
    connections_.resize(static_cast<size_t>(plan_.connections));
    return {};
  }

  bool sends() const { return now_ns_ < end_ns_ && !draining_; }
  int64_t DueNs(uint64_t number) const { return begin_ns_ + static_cast<int64_t>(static_cast<double>(number) / plan_.rate * 1e9); }

  void Tick() {
    if (now_ns_ < next_tick_ns_) return;
    next_tick_ns_ = now_ns_ + kTickNs;
    for (size_t i = 0; i < connections_.size(); ++i) {
      Connection& at = connections_[i];
      if (at.state == State::kBusy && now_ns_ - at.sent_ns > plan_.timeout_ns) {
        ++outcome_.timed_out;
        Close(i, now_ns_);
      }
      if (at.state == State::kClosed && sends() && at.retry_ns <= now_ns_) Open(i);
    }
  }

  void Open(size_t index) {
    Connection& at = connections_[index];
    at.socket = base::Descriptor(socket(plan_.target.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int on = 1;
    setsockopt(at.socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    at.answers.Reset();
    at.state = State::kConnecting;
    const auto* address = reinterpret_cast<const sockaddr*>(&plan_.target.address);
    const bool begun = at.socket.get() >= 0 && (connect(at.socket.get(), address, plan_.target.address_bytes) == 0 || errno == EINPROGRESS);
    epoll_event event{.events = EPOLLIN | EPOLLOUT, .data = {.u64 = index}};
    at.waits_to_write = true;
    if (!begun || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, at.socket.get(), &event) != 0) Refuse(index, errno);
  }

  void Refuse(size_t index, int error) {
    if (!ever_connected_ && refusal_.ok()) {
      refusal_ = {base::kUnavailable, fmt::format("cannot connect to {}: {}", plan_.target.host, base::TextOfErrno(error))};
    }
    ++outcome_.refused;
    Close(index, now_ns_ + kTickNs);
  }

  void Close(size_t index, int64_t retry_ns) {
    Connection& at = connections_[index];
    if (at.state == State::kIdle) std::erase(idle_, index);
    at.socket = base::Descriptor(-1);  // which takes it out of the epoll set
    at.state = State::kClosed;
    at.retry_ns = retry_ns;
  }

  void SendDue() {
    if (plan_.rate <= 0 || !sends()) return;
    while (!idle_.empty() && DueNs(next_) <= now_ns_) {
      const size_t index = idle_.back();
      idle_.pop_back();
      Send(index, DueNs(next_++));
    }
  }

  void Send(size_t index, int64_t due_ns) {
    Connection& at = connections_[index];
    at.state = State::kBusy;
    at.due_ns = due_ns;
    at.sent_ns = now_ns_;
    at.sent = 0;
    Write(index);
  }

  void Write(size_t index) {
    Connection& at = connections_[index];
    const std::string& request = plan_.request;
    const ssize_t wrote = send(at.socket.get(), request.data() + at.sent, request.size() - at.sent, MSG_NOSIGNAL);
    if (wrote > 0) at.sent += static_cast<size_t>(wrote);
    WaitToWrite(index, at.sent < request.size());  // an error shows when it is read
  }

  void WaitToWrite(size_t index, bool waits) {
    Connection& at = connections_[index];
    if (at.waits_to_write == waits) return;
    at.waits_to_write = waits;
    epoll_event event{.events = waits ? EPOLLIN | EPOLLOUT : EPOLLIN, .data = {.u64 = index}};
    epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, at.socket.get(), &event);
  }

  void BeIdle(size_t index) {
    Connection& at = connections_[index];
    at.state = State::kIdle;
    WaitToWrite(index, false);
    if (!sends()) return;
    if (plan_.rate > 0) {
      idle_.push_back(index);
    } else {
      Send(index, now_ns_);
    }
  }

  // When there is something to do at the latest.
  int64_t NextNs() const {
    const int64_t tick = std::min(next_tick_ns_, end_ns_);
    return plan_.rate > 0 && !idle_.empty() ? std::min(tick, DueNs(next_)) : tick;
  }

  base::Status Wait(int64_t until_ns) {
    const int64_t left = std::max<int64_t>(until_ns - clock_.Now(), 0);
    if (left >= kSpinNs) {
      const itimerspec at{.it_interval = {}, .it_value = {.tv_sec = left / base::kNsPerSecond, .tv_nsec = left % base::kNsPerSecond}};
      timerfd_settime(timer_.get(), 0, &at, nullptr);
    }
    std::array<epoll_event, 256> events{};
    const int got = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), left >= kSpinNs ? -1 : 0);
    now_ns_ = clock_.Now();
    for (int i = 0; i < got; ++i) {
      if (events[static_cast<size_t>(i)].data.u64 != kTimerTag) On(events[static_cast<size_t>(i)]);
    }
    return ever_connected_ ? base::Status() : refusal_;
  }

  void On(const epoll_event& event) {
    const size_t index = event.data.u64;
    Connection& at = connections_[index];
    if (at.state == State::kConnecting) return FinishConnecting(index);
    if ((event.events & EPOLLOUT) != 0 && at.state == State::kBusy) Write(index);
    if ((event.events & ~static_cast<uint32_t>(EPOLLOUT)) != 0 && at.state != State::kClosed) Read(index);
  }

  void FinishConnecting(size_t index) {
    int error = 0;
    socklen_t bytes = sizeof error;
    getsockopt(connections_[index].socket.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error != 0) return Refuse(index, error);
    ever_connected_ = true;
    BeIdle(index);
  }

  void Read(size_t index) {
    Connection& at = connections_[index];
    const ssize_t got = recv(at.socket.get(), buffer_.data(), buffer_.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) return OnClosed(index, got == 0);
    std::span<const char> input(buffer_.data(), static_cast<size_t>(got));
    while (!input.empty()) {
      const Answers::Step step = at.answers.Next(&input);
      if (step == Answers::Step::kNeedMore) return;
      if (step == Answers::Step::kWrong || at.state != State::kBusy) return Lose(index);
      Count(at);
      if (!at.answers.keeps_open() || at.sent < plan_.request.size()) return Renew(index);
      if (!input.empty()) return Lose(index);  // an answer to nothing
      BeIdle(index);
    }
  }

  void OnClosed(size_t index, bool properly) {
    Connection& at = connections_[index];
    if (at.state == State::kIdle) return Renew(index);
    if (!properly || at.answers.End() != Answers::Step::kAnswer) return Lose(index);
    Count(at);
    Renew(index);
  }

  void Renew(size_t index) {
    Close(index, now_ns_);
    if (sends()) Open(index);
  }

  void Lose(size_t index) {
    const Connection& at = connections_[index];
    outcome_.lost += at.state == State::kBusy ? 1 : 0;
    Close(index, now_ns_ + kTickNs);
  }

  void Count(const Connection& at) {
    const int status = at.answers.status();
    ++outcome_.by_status[status];
    (status < 400 ? outcome_.good : outcome_.wrong).Add(now_ns_ - at.due_ns);
    if (status < 400) return;
    if (outcome_.first_wrong.empty()) outcome_.first_wrong = fmt::format("{} {}", status, at.answers.body());
  }

  void CountNotSent() {
    if (plan_.rate <= 0) return;
    const auto due = static_cast<uint64_t>(std::ceil(static_cast<double>(end_ns_ - begin_ns_) / 1e9 * plan_.rate));
    outcome_.not_sent = due - std::min(due, next_);
  }

  base::Status Drain() {
    draining_ = true;
    const int64_t until = now_ns_ + (stop_.load(std::memory_order_relaxed) ? kStopNs : plan_.timeout_ns);
    const auto busy = [](const Connection& at) { return at.state == State::kBusy; };
    while (now_ns_ < until && std::any_of(connections_.begin(), connections_.end(), busy)) {
      WF_RETURN_IF_ERROR(Wait(std::min(until, now_ns_ + kTickNs)));
      Tick();
    }
    outcome_.timed_out += static_cast<uint64_t>(std::count_if(connections_.begin(), connections_.end(), busy));
    return {};
  }

  const Plan& plan_;
  const std::atomic<bool>& stop_;
  const base::SystemClock clock_;
  base::Descriptor epoll_{-1}, timer_{-1};
  std::vector<Connection> connections_;
  std::vector<size_t> idle_;  // that a rate is kept with
  std::vector<char> buffer_ = std::vector<char>(size_t{256} << 10);
  Outcome outcome_;
  base::Status refusal_;
  bool ever_connected_ = false, draining_ = false;
  int64_t begin_ns_ = 0, end_ns_ = 0, now_ns_ = 0, next_tick_ns_ = 0;
  uint64_t next_ = 0;  // number of the request that a rate makes due next
};

}  // namespace

base::Result<Outcome> Generate(const Plan& plan, const std::atomic<bool>& stop) { return Generator(plan, stop).Run(); }

}  // namespace wf::load
