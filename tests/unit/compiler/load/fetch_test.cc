#include "compiler/load/fetch.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <string>
#include <thread>
#include <vector>

#include "runtime/base/clock.h"
#include "runtime/base/descriptor.h"

namespace wf::load {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;

// A socket that listens, and accepts when it is told to.
class Listening {
 public:
  Listening() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const system = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(socket_.get(), system, size), 0);
    EXPECT_EQ(listen(socket_.get(), 0), 0);
    EXPECT_EQ(getsockname(socket_.get(), system, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  base::Descriptor Accept() const { return base::Descriptor(accept(socket_.get(), nullptr, nullptr)); }
  Target target() const { return *ParseUrl("http://127.0.0.1:" + std::to_string(port_) + "/metrics"); }

 private:
  const base::Descriptor socket_;
  uint16_t port_ = 0;
};

TEST(Fetch, WaitsForAConnectionNoLongerThanItMay) {
  const Listening listening;
  const Target target = listening.target();
  std::vector<base::Descriptor> waiting;  // as many as are let in until somebody accepts
  for (int i = 0; i < 4; ++i) {
    waiting.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
    connect(waiting.back().get(), reinterpret_cast<const sockaddr*>(&target.address), target.address_bytes);
  }
  const int64_t before = base::SystemClock().Now();
  EXPECT_EQ(Fetch(target, kSecondNs / 5).status().code(), base::kDeadlineExceeded);
  EXPECT_LT(base::SystemClock().Now() - before, 10 * kSecondNs);
}

TEST(Fetch, SaysThatNothingListens) {
  const Target target = Listening().target();
  EXPECT_EQ(Fetch(target, 10 * kSecondNs).status().message(), "connection refused");
}

// Larger than what fits between the two at once.
TEST(Exchange, SendsARequestOfAnySize) {
  const Listening listening;
  const std::string request(16 << 20, 'x');
  size_t got = 0;
  std::thread other([&] {
    const base::Descriptor connection = listening.Accept();
    std::vector<char> buffer(1 << 20);
    while (got < request.size()) {
      const ssize_t some = recv(connection.get(), buffer.data(), buffer.size(), 0);
      if (some <= 0) break;
      got += static_cast<size_t>(some);
    }
    EXPECT_EQ(send(connection.get(), "fine", 4, MSG_NOSIGNAL), 4);
  });
  const Target target = listening.target();
  const auto answer = Exchange(target.address, target.address_bytes, request, 60 * kSecondNs);
  other.join();
  EXPECT_EQ(got, request.size());
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(*answer, "fine");
}

}  // namespace
}  // namespace wf::load
