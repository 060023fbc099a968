#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/loop/loop.h"
#include "runtime/net/connections.h"
#include "runtime/net/listener.h"
#include "runtime/net/sockets.h"

namespace wf::net {
namespace {

// Answers every byte with itself; "q" closes, "b<n>" answers n KiB.
class Echo : public Handler {
 public:
  explicit Echo(Connection& connection) : connection_(connection) {}
  void OnBytes(std::span<const uint8_t> bytes) noexcept override {
    if (bytes[0] == 'q') {
      connection_.out().Put("bye", 3);
      connection_.CloseAfterFlush();
      return;
    }
    if (bytes[0] == 'b') {
      const std::string block(1024, 'z');
      for (int i = 0; i < 4096; ++i) connection_.out().Put(block.data(), block.size());
      return;
    }
    connection_.out().Put(bytes.data(), bytes.size());
  }
  void OnFlushed() noexcept override { ++flushed; }
  void OnTimeout() noexcept override {}
  void OnClosed(Closed how) noexcept override { closed = static_cast<int>(how); }

  int flushed = 0, closed = -1;

 private:
  Connection& connection_;
};

// A loop on a thread of its own that accepts and echoes.
class EchoServer : public loop::Turn, public HandlerFactory, public Listener::Acceptor {
 public:
  explicit EchoServer(ConnectionLimits limits = {})
      : loop_(clock_), sockets_(loop_), connections_(std::make_unique<Connections>(sockets_, *this)), listener_(loop_, *this) {
    connections_->set_limits(limits);
    EXPECT_TRUE(loop_.Open().ok());
    EXPECT_TRUE(listener_.Bind({"127.0.0.1", 0}).ok());
    EXPECT_TRUE(listener_.Start().ok());
    thread_ = std::thread([this] { loop_.Run(*this); });
  }
  ~EchoServer() override { Stop(); }
  void Stop() {
    if (!thread_.joinable()) return;
    loop_.Stop();
    thread_.join();
    connections_->CloseAll();
    listener_.Close();
    loop_.Close();
  }
  uint16_t port() const { return listener_.address().port; }

  Handler* NewHandler(Connection& connection) noexcept override {
    handlers.push_back(std::make_unique<Echo>(connection));
    return handlers.back().get();
  }
  void OnAccepted(int fd) noexcept override { connections_->Adopt(fd); }
  void OnFlush() noexcept override { connections_->FlushDirty(); }
  void OnPoll() noexcept override {}
  bool OnIdle() noexcept override { return false; }
  base::TimePoint NextTimerAt() noexcept override { return INT64_MAX; }
  void OnTime() noexcept override {}
  void OnSecond() noexcept override { connections_->OnSecond(); }

  std::vector<std::unique_ptr<Echo>> handlers;  // read after Stop

 private:
  base::SystemClock clock_;
  loop::Loop loop_;
  Sockets sockets_;
  std::unique_ptr<Connections> connections_;
  Listener listener_;
  std::thread thread_;
};

class Client {
 public:
  explicit Client(uint16_t port, int receive_buffer = 0) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer != 0) setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    const timeval limit{.tv_sec = 10, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~Client() { close(fd_); }
  bool connected() const { return connected_; }
  void Send(std::string_view text) { EXPECT_EQ(send(fd_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size())); }
  std::string Receive(size_t count) {
    std::string text(count, '\0');
    size_t got = 0;
    while (got < count) {
      const ssize_t part = recv(fd_, text.data() + got, count - got, 0);
      if (part <= 0) break;
      got += static_cast<size_t>(part);
    }
    text.resize(got);
    return text;
  }

 private:
  int fd_;
  bool connected_ = false;
};

TEST(Net, EchoesBytesAndClosesAfterTheLastOne) {
  EchoServer server;
  Client client(server.port());
  ASSERT_TRUE(client.connected());
  client.Send("hello");
  EXPECT_EQ(client.Receive(5), "hello");
  client.Send("q");
  EXPECT_EQ(client.Receive(100), "bye");
  server.Stop();
  ASSERT_EQ(server.handlers.size(), 1U);
  EXPECT_EQ(server.handlers[0]->closed, static_cast<int>(Closed::kByUs));
}

TEST(Net, SendsMoreThanTheSocketTakesAtOnce) {
  EchoServer server;
  Client client(server.port());
  client.Send("b");
  const std::string answer = client.Receive(4096 * 1024);
  EXPECT_EQ(answer.size(), 4096U * 1024);
  EXPECT_EQ(answer.find_first_not_of('z'), std::string::npos);
  client.Send("x");
  EXPECT_EQ(client.Receive(1), "x");
  server.Stop();
  EXPECT_EQ(server.handlers[0]->flushed, 2);
}

TEST(Net, APeerThatReadsSteadilyIsKeptWhileTheKernelStillHasNoRoom) {
  EchoServer server({.write_timeout_ms = 1000});
  Client client(server.port(), 64 * 1024);
  client.Send("b");
  size_t got = 0;
  for (int i = 0; i < 8; ++i) {
    got += client.Receive(100'000).size();
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
  }
  EXPECT_EQ(got, 800'000U);
  got += client.Receive(4096 * 1024 - got).size();
  EXPECT_EQ(got, 4096U * 1024);
}

TEST(Net, TellsTheHandlerThatThePeerHasGone) {
  EchoServer server;
  {
    Client client(server.port());
    client.Send("b");  // leaves with the answer unread
  }
  for (int i = 0; i < 50; ++i) {
    Client client(server.port());
    client.Send("ab");
    EXPECT_EQ(client.Receive(2), "ab");
  }
  server.Stop();
  EXPECT_EQ(server.handlers.size(), 51U);
  EXPECT_NE(server.handlers[0]->closed, -1);
}

TEST(Listener, AcceptsAllThatWaitsBeforeItCloses) {
  struct Counter : Listener::Acceptor {
    void OnAccepted(int fd) noexcept override {
      ++count;
      close(fd);
    }
    int count = 0;
  } counter;
  base::SystemClock clock;
  loop::Loop loop(clock);
  ASSERT_TRUE(loop.Open().ok());
  Listener listener(loop, counter);
  ASSERT_TRUE(listener.Bind({"127.0.0.1", 0}).ok());
  ASSERT_TRUE(listener.Start().ok());
  std::deque<Client> clients;
  for (int i = 0; i < 150; ++i) clients.emplace_back(listener.address().port);
  listener.Close();
  EXPECT_EQ(counter.count, 150);
  loop.Close();
}

// Nobody else would notice that a peer has vanished which is sent nothing.
TEST(Listener, AsksPeersThatAreSilentWhetherTheyAreThere) {
  struct Looker : Listener::Acceptor {
    void OnAccepted(int fd) noexcept override {
      for (const auto& [level, name] :
           {std::pair(SOL_SOCKET, SO_KEEPALIVE), {IPPROTO_TCP, TCP_KEEPIDLE}, {IPPROTO_TCP, TCP_KEEPINTVL}, {IPPROTO_TCP, TCP_KEEPCNT}}) {
        int value = 0;
        socklen_t size = sizeof value;
        getsockopt(fd, level, name, &value, &size);
        found.push_back(value);
      }
      close(fd);
    }
    std::vector<int> found;
  } looker;
  base::SystemClock clock;
  loop::Loop loop(clock);
  ASSERT_TRUE(loop.Open().ok());
  Listener listener(loop, looker);
  ASSERT_TRUE(listener.Bind({"127.0.0.1", 0}).ok());
  ASSERT_TRUE(listener.Start().ok());
  Client client(listener.address().port);
  listener.Close();
  EXPECT_EQ(looker.found, (std::vector<int>{1, 60, 15, 4}));
  loop.Close();
}

// The socket says again and again that something waits which cannot be taken: the loop rests, and goes on when it can be again.
TEST(Listener, RestsWhereItCanAcceptNothing) {
  struct Counter : Listener::Acceptor, loop::Turn {
    void OnAccepted(int fd) noexcept override {
      ++count;
      close(fd);
    }
    void OnFlush() noexcept override { ++turns; }
    void OnPoll() noexcept override {}
    bool OnIdle() noexcept override { return false; }
    base::TimePoint NextTimerAt() noexcept override { return INT64_MAX; }
    void OnTime() noexcept override {}
    void OnSecond() noexcept override {}
    std::atomic<int> count = 0, turns = 0;
  } counter;
  base::SystemClock clock;
  loop::Loop loop(clock);
  ASSERT_TRUE(loop.Open().ok());
  Listener listener(loop, counter);
  const int listening = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_TRUE(listener.Bind({"127.0.0.1", 0}, listening).ok());
  ASSERT_TRUE(listener.Start().ok());
  ASSERT_EQ(shutdown(listening, SHUT_RDWR), 0);
  std::thread thread([&] { loop.Run(counter); });
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_GT(counter.turns, 3) << "it has not tried again";
  EXPECT_LT(counter.turns, 60) << "it spins";
  ASSERT_EQ(listen(listening, 16), 0);
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ASSERT_EQ(getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size), 0);
  Client client(ntohs(address.sin_port));
  EXPECT_TRUE(client.connected());
  for (int i = 0; i < 500 && counter.count == 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(counter.count, 1);
  loop.Stop();
  thread.join();
  listener.Close();
  loop.Close();
}

// As one server after the other does that is started with it.
TEST(Listener, SharesAUnixSocketThatIsHandedOn) {
  EchoServer server;
  base::SystemClock clock;
  loop::Loop loop(clock);
  const std::string path = testing::TempDir() + "shared-" + std::to_string(getpid()) + ".sock";
  const int listening = socket(AF_UNIX, SOCK_STREAM, 0);
  const Address address{.path = path, .mode = 0600};
  {
    Listener first(loop, server);
    ASSERT_TRUE(first.Bind(address, dup(listening)).ok());
    struct stat made{};
    ASSERT_EQ(stat(path.c_str(), &made), 0);
    EXPECT_EQ(made.st_mode & 0777, 0600U);
    Listener second(loop, server);
    const base::Status status = second.Bind(address, dup(listening));
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(second.address().ToString(), "unix:" + path);
    Listener of_port(loop, server);
    EXPECT_EQ(of_port.Bind(address, socket(AF_INET, SOCK_STREAM, 0)).code(), base::kInvalidArgument);
  }
  EXPECT_EQ(access(path.c_str(), F_OK), 0) << "others may serve there";
  close(listening);
  unlink(path.c_str());
}

TEST(Listener, SaysThatAPortIsTaken) {
  EchoServer server;
  base::SystemClock clock;
  loop::Loop loop(clock);
  Listener second(loop, server);
  const base::Status status = second.Bind({"127.0.0.1", server.port()});
  EXPECT_EQ(status.code(), base::kAlreadyExists);
  EXPECT_EQ(status.message(), "cannot listen on 127.0.0.1:" + std::to_string(server.port()) + ": the port is in use by another process");
  Listener third(loop, server);
  EXPECT_EQ(third.Bind({"localhost", 0}).message(), "`localhost` is not a numeric address, as `127.0.0.1` or `::1`");
  Listener fourth(loop, server);
  EXPECT_EQ(fourth.Bind({"192.0.2.1", 0}).message(), "cannot listen on 192.0.2.1:0: this machine has no such address");
}

}  // namespace
}  // namespace wf::net
