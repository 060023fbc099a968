#include "runtime/net/post.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>

namespace wf::net {
namespace {

// A server that reads one request and answers what it is told, as it is.
class Peer {
 public:
  Peer() : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(fd_, 8), 0);
    socklen_t size = sizeof address;
    EXPECT_EQ(getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port = ntohs(address.sin_port);
  }
  ~Peer() {
    if (thread_.joinable()) thread_.join();
    close(fd_);
  }
  void Answer(const std::string& text, size_t request_bytes) {
    thread_ = std::thread([this, text, request_bytes] {
      const int fd = accept(fd_, nullptr, nullptr);
      char buffer[4096];
      while (request.size() < request_bytes) {
        const ssize_t count = recv(fd, buffer, sizeof buffer, 0);
        if (count <= 0) break;
        request.append(buffer, static_cast<size_t>(count));
      }
      for (const char c : text) send(fd, &c, 1, MSG_NOSIGNAL);
      close(fd);
    });
  }
  void Join() { thread_.join(); }
  std::string request;
  uint16_t port = 0;

 private:
  const int fd_;
  std::thread thread_;
};

class PostTest : public testing::Test, public loop::Turn, public Poster::User {
 protected:
  void SetUp() override { ASSERT_TRUE(loop_.Open().ok()); }
  void OnFlush() noexcept override {}
  void OnPoll() noexcept override {}
  bool OnIdle() noexcept override { return false; }
  base::TimePoint NextTimerAt() noexcept override { return INT64_MAX; }
  void OnTime() noexcept override {}
  void OnSecond() noexcept override {}
  void OnPosted(int status, int64_t retry_after_s) noexcept override {
    status_ = status;
    retry_after_s_ = retry_after_s;
    loop_.Stop();
  }
  // The status that is told.
  int Post(Poster& poster, const std::string& text) {
    wf_sink body;
    body.Put(text.data(), text.size());
    status_ = -1;
    poster.Post("text/plain", body);
    loop_.Run(*this);
    return status_;
  }

  const base::SystemClock clock_;
  loop::Loop loop_{clock_};
  int status_ = -1;
  int64_t retry_after_s_ = -2;
};

TEST_F(PostTest, SendsTheBodyAndTellsTheStatus) {
  for (const char* host : {"127.0.0.1", "localhost"}) {  // which may stand for ::1 first, where nobody listens
    Peer peer;
    Poster poster(loop_, *this, {host, peer.port, "/v1/x"});
    const std::string body(100'000, 'b');
    const std::string head = "POST /v1/x HTTP/1.1\r\nhost: " + std::string(host) + ":" + std::to_string(peer.port) +
                             "\r\ncontent-type: text/plain\r\ncontent-length: 100000\r\nconnection: close\r\n\r\n";
    peer.Answer("HTTP/1.1 207 Fine\r\ncontent-length: 0\r\n\r\n", head.size() + body.size());
    EXPECT_EQ(Post(poster, body), 207);
    EXPECT_FALSE(poster.busy());
    peer.Join();
    EXPECT_EQ(peer.request, head + body);
  }
}

TEST_F(PostTest, AnInterimAnswerIsNotTheAnswer) {
  const std::string interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n";
  for (const int status : {200, 503}) {
    Peer peer;
    Poster poster(loop_, *this, {"127.0.0.1", peer.port, "/"});
    peer.Answer(interim + "HTTP/1.1 " + std::to_string(status) + " x\r\ncontent-length: 0\r\n\r\n", 1);
    EXPECT_EQ(Post(poster, "body"), status);
  }
}

TEST_F(PostTest, TellsWhenTheServerWantsToBeAskedAgain) {
  const struct {
    std::string head;
    int64_t seconds;
  } rows[] = {
      {"retry-after: 7", 7},
      {"x: 1\r\nRetry-After:\t30 \r\ny: 2", 30},
      {"retry-after: 0", 0},
      {"retry-after: 99999999999999999999", INT64_MAX},
      {"retry-after: Fri, 27 Nov 2026 19:00:00 GMT", -1},
      {"retry-after: -1", -1},
      {"retry-after: 1.5", -1},
      {"retry-after:", -1},
      {"x-retry-after: 5", -1},
      {"x: 1\r\n\r\nretry-after: 5", -1},  // a body
  };
  for (const auto& row : rows) {
    Peer peer;
    Poster poster(loop_, *this, {"127.0.0.1", peer.port, "/"});
    peer.Answer("HTTP/1.1 503 x\r\n" + row.head + "\r\n\r\n", 1);
    EXPECT_EQ(Post(poster, "body"), 503);
    EXPECT_EQ(retry_after_s_, row.seconds) << row.head;
  }
}

TEST_F(PostTest, WhatIsNoAnswerIsNone) {
  for (const char* text : {"", "HTTP/1.1", "SSH-2.0-x\r\n\r\n"}) {
    Peer peer;
    Poster poster(loop_, *this, {"127.0.0.1", peer.port, "/"});
    peer.Answer(text, 1);
    EXPECT_EQ(Post(poster, "body"), 0) << text;
  }
}

TEST_F(PostTest, WhereNobodyListensThereIsNoAnswer) {
  uint16_t port = 0;
  {
    const Peer gone;
    port = gone.port;
  }
  Poster poster(loop_, *this, {"127.0.0.1", port, "/"});
  EXPECT_EQ(Post(poster, "body"), 0);
  Poster lost(loop_, *this, {"nowhere.invalid", 80, "/"});
  EXPECT_EQ(Post(lost, "body"), 0);
  EXPECT_FALSE(lost.looks_up());
}

TEST_F(PostTest, WhatIsDroppedIsNotTold) {
  Peer peer;
  peer.Answer("", 1);
  {
    Poster poster(loop_, *this, {"127.0.0.1", peer.port, "/"});
    wf_sink body;
    body.Put("x", 1);
    poster.Post("text/plain", body);
    EXPECT_TRUE(poster.busy() && poster.looks_up());
    poster.Drop();
    EXPECT_FALSE(poster.busy());
  }
  Poster second(loop_, *this, {"127.0.0.1", peer.port, "/"});  // what was dropped ends meanwhile
  EXPECT_EQ(Post(second, "body"), 0);
}

}  // namespace
}  // namespace wf::net
