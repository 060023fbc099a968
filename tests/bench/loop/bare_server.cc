#include "tests/bench/loop/bare_server.h"

#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace wf::bench {
namespace {

constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\ncontent-type: application/json\r\ncontent-length: 13\r\n\r\n{\"total\":0.5}";

int MustBe(int fd) {
  if (fd < 0) {
    std::perror("bare server");
    std::exit(1);
  }
  return fd;
}

// What the two threads share: connections whose request waits for the worker, and those whose answer is to be sent.
class Handover {
 public:
  explicit Handover(int wake) : wake_(wake) {}

  void Ask(int connection) {
    {
      const std::lock_guard lock(mutex_);
      asked_.push_back(connection);
    }
    some_asked_.notify_one();
  }

  [[noreturn]] void Work(const std::function<void()>& work) {
    for (;;) {
      std::unique_lock lock(mutex_);
      some_asked_.wait(lock, [this] { return !asked_.empty(); });
      const int connection = asked_.front();
      asked_.erase(asked_.begin());
      lock.unlock();
      work();
      lock.lock();
      done_.push_back(connection);
      lock.unlock();
      const uint64_t one = 1;
      MustBe(static_cast<int>(write(wake_, &one, sizeof one)));
    }
  }

  std::vector<int> TakeDone() {
    uint64_t count = 0;
    MustBe(static_cast<int>(read(wake_, &count, sizeof count)));
    const std::lock_guard lock(mutex_);
    return std::exchange(done_, {});
  }

 private:
  const int wake_;
  std::mutex mutex_;
  std::condition_variable some_asked_;
  std::vector<int> asked_, done_;
};

int Listen() {
  const int fd = MustBe(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  MustBe(bind(fd, reinterpret_cast<sockaddr*>(&address), length));
  MustBe(listen(fd, 64));
  MustBe(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length));
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  return fd;
}

void Watch(int poll, int fd) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  MustBe(epoll_ctl(poll, EPOLL_CTL_ADD, fd, &event));
}

void Accept(int poll, int listening) {
  const int connection = MustBe(accept(listening, nullptr, nullptr));
  const int on = 1;
  setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  Watch(poll, connection);
}

}  // namespace

void ServeBare(const std::function<void()>& work) {
  const int poll = MustBe(epoll_create1(0)), wake = MustBe(eventfd(0, 0)), listening = Listen();
  Watch(poll, wake);
  Watch(poll, listening);
  Handover handover(wake);
  std::thread([&] { handover.Work(work); }).detach();
  std::array<epoll_event, 64> events;
  static std::array<char, 64 << 10> request;
  for (;;) {
    const int count = MustBe(epoll_wait(poll, events.data(), static_cast<int>(events.size()), -1));
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<size_t>(i)].data.fd;
      if (fd == wake) {
        for (const int connection : handover.TakeDone())
          send(connection, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);  // it may have left
      } else if (fd == listening) {
        Accept(poll, listening);
      } else if (read(fd, request.data(), request.size()) > 0) {
        handover.Ask(fd);
      } else {
        close(fd);
      }
    }
  }
}

}  // namespace wf::bench
