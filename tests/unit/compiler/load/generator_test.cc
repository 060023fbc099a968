#include "compiler/load/generator.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "compiler/load/fetch.h"

namespace wf::load {
namespace {

constexpr int64_t kMs = 1'000'000;

// A server with a thread, which answers what it has read of a connection in a way of the test's; "": it closes.
class Peer {
 public:
  using Answer = std::function<std::string(const std::string& request)>;
  explicit Peer(Answer answer) : answer_(std::move(answer)), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    EXPECT_EQ(bind(listener_, reinterpret_cast<sockaddr*>(&address), bytes), 0);
    EXPECT_EQ(listen(listener_, 64), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~Peer() {
    stop_ = true;
    thread_.join();
    for (const pollfd& at : polled_) close(at.fd);
  }
  Target target() const { return *ParseUrl("127.0.0.1:" + std::to_string(port_)); }

 private:
  void Serve() {
    polled_ = {{listener_, POLLIN, 0}};
    while (!stop_) {
      poll(polled_.data(), polled_.size(), 5);
      for (size_t i = polled_.size(); i-- > 1;) {
        if (polled_[i].revents != 0 && !Reply(polled_[i].fd)) {
          close(polled_[i].fd);
          polled_.erase(polled_.begin() + static_cast<ptrdiff_t>(i));
        }
      }
      if (polled_[0].revents != 0) polled_.push_back({accept(listener_, nullptr, nullptr), POLLIN, 0});
    }
  }
  bool Reply(int fd) const {
    char buffer[4096];
    const ssize_t got = recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) return false;
    const std::string answer = answer_(std::string(buffer, static_cast<size_t>(got)));
    send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
    return !answer.empty() && !answer.starts_with("HTTP/1.0");
  }

  const Answer answer_;
  const int listener_;
  uint16_t port_ = 0;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
  std::vector<pollfd> polled_;
};

const std::string kOk = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

Outcome Load(const Target& target, Plan plan, const std::atomic<bool>& stop = false) {
  plan.target = target;
  plan.request = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
  if (plan.timeout_ns == 0) plan.timeout_ns = 5'000 * kMs;
  auto outcome = Generate(plan, stop);
  EXPECT_TRUE(outcome.ok()) << outcome.status().message();
  return outcome.ok() ? *std::move(outcome) : Outcome();
}

TEST(Generate, SendsTheNextRequestWhenOneIsAnswered) {
  const Peer peer([](const std::string& request) { return request.starts_with("GET / ") ? kOk : ""; });
  const Outcome outcome = Load(peer.target(), {.connections = 4, .measured_ns = 300 * kMs});
  EXPECT_GT(outcome.good.count(), 100U);
  EXPECT_EQ(outcome.by_status.at(200), outcome.good.count());
  EXPECT_EQ(outcome.lost + outcome.refused + outcome.timed_out + outcome.not_sent, 0U);
  EXPECT_GE(outcome.measured_ns, 300 * kMs);
}

TEST(Generate, KeepsARate) {
  const Peer peer([](const std::string&) { return kOk; });
  const Outcome outcome = Load(peer.target(), {.connections = 8, .rate = 500, .measured_ns = 400 * kMs});
  EXPECT_NEAR(static_cast<double>(outcome.good.count() + outcome.not_sent), 200, 2);
  EXPECT_GT(outcome.good.count(), 150U);
}

TEST(Generate, CountsTheWaitOfRequestsThatWereDueEarlier) {
  const Peer peer([](const std::string&) {
    usleep(20'000);
    return kOk;
  });
  const Outcome outcome = Load(peer.target(), {.connections = 1, .rate = 200, .measured_ns = 400 * kMs});
  EXPECT_GT(outcome.good.Quantile(1), 100 * kMs);  // each takes 20 ms, one is due every 5 ms
  EXPECT_GT(outcome.not_sent, 0U);
  EXPECT_NEAR(static_cast<double>(outcome.good.count() + outcome.not_sent), 80, 2);
}

TEST(Generate, ConnectsAgainWhereEveryAnswerClosesAndTellsWhatWasWrong) {
  const Peer peer([](const std::string&) { return "HTTP/1.0 503 No\r\n\r\nbusy"; });
  const Outcome outcome = Load(peer.target(), {.connections = 2, .measured_ns = 200 * kMs});
  EXPECT_EQ(outcome.good.count(), 0U);
  EXPECT_GT(outcome.by_status.at(503), 20U);
  EXPECT_EQ(outcome.by_status.at(503), outcome.wrong.count());
  EXPECT_EQ(outcome.first_wrong, "503 busy");
}

TEST(Generate, CountsConnectionsThatEndBeforeTheAnswer) {
  const Peer peer([](const std::string&) { return ""; });
  const Outcome outcome = Load(peer.target(), {.connections = 2, .measured_ns = 100 * kMs});
  EXPECT_GT(outcome.lost, 1U);
  EXPECT_EQ(outcome.good.count(), 0U);
}

TEST(Generate, GivesUpARequestThatIsNotAnswered) {
  const Peer peer([](const std::string&) { return "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{"; });
  const Outcome outcome = Load(peer.target(), {.connections = 1, .measured_ns = 100 * kMs, .timeout_ns = 30 * kMs});
  EXPECT_GT(outcome.timed_out, 0U);
}

TEST(Generate, StopsWhenToldTo) {
  std::atomic<bool> stop = false;
  std::atomic<int> asked = 0;
  const Peer peer([&](const std::string&) {
    if (++asked == 100) stop = true;
    return kOk;
  });
  const Outcome outcome = Load(peer.target(), {.connections = 1, .measured_ns = 60'000 * kMs}, stop);
  EXPECT_GT(outcome.good.count(), 0U);
  EXPECT_LT(outcome.measured_ns, 30'000 * kMs);
}

TEST(Generate, SaysThatNothingListens) {
  const Target target = Peer([](const std::string&) { return kOk; }).target();
  const auto outcome = Generate({.target = target, .request = "x", .measured_ns = 1'000 * kMs, .timeout_ns = 1'000 * kMs}, false);
  EXPECT_EQ(outcome.status().code(), base::kUnavailable);
  EXPECT_NE(outcome.status().message().find("connection refused"), std::string::npos) << outcome.status().message();
}

TEST(Fetch, GivesTheBodyOrTheReason) {
  const Peer peer([](const std::string& request) {
    return request.starts_with("GET /there ") ? "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nbody" : "HTTP/1.0 404 None\r\n\r\n";
  });
  Target target = peer.target();
  const auto none = Fetch(target, 1'000 * kMs);
  EXPECT_EQ(none.status().code(), base::kNotFound);
  EXPECT_EQ(none.status().message(), "it answers HTTP/1.0 404 None");
  target.path = "/there";
  EXPECT_EQ(Fetch(target, 50 * kMs).status().code(), base::kDeadlineExceeded);  // the peer does not close
}

}  // namespace
}  // namespace wf::load
