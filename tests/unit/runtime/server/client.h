#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

namespace wf::server {

// One HTTP/1.1 connection to this machine.
class Client {
 public:
  explicit Client(uint16_t port) : fd_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    const timeval limit{.tv_sec = 20, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  ~Client() { close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  bool connected() const { return connected_; }

  void Send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      text.remove_prefix(static_cast<size_t>(sent));
    }
  }
  void Reset() {
    const linger now{.l_onoff = 1, .l_linger = 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd_);
    fd_ = socket(AF_INET, SOCK_STREAM, 0);
  }

  struct Answer {
    int status = 0;  // 0: closed
    std::string head, body;
  };
  Answer Receive(bool head_only = false) {
    size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!Fill()) return {};
    }
    Answer answer;
    answer.head = buffer_.substr(0, end + 4);
    buffer_.erase(0, end + 4);
    answer.status = std::stoi(answer.head.substr(9, 3));
    if (answer.status == 100) return Receive(head_only);
    const size_t at = answer.head.find("content-length: ");
    const size_t length = at == std::string::npos || head_only ? 0 : std::stoul(answer.head.substr(at + 16));
    while (buffer_.size() < length) {
      if (!Fill()) return {};
    }
    answer.body = buffer_.substr(0, length);
    buffer_.erase(0, length);
    return answer;
  }
  // What `expect: 100-continue` asked for: the head has been read, and its body is wanted.
  bool ReceiveLeave() {
    size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!Fill()) return false;
    }
    const bool leave = buffer_.starts_with("HTTP/1.1 100 ");
    if (leave) buffer_.erase(0, end + 4);
    return leave;
  }
  // What has come since the last call, at least one byte; empty: closed.
  std::string Take() { return buffer_.empty() && !Fill() ? std::string() : std::exchange(buffer_, {}); }
  bool closed() { return buffer_.empty() && !Fill(); }

 private:
  bool Fill() {
    char part[65536];
    const ssize_t got = recv(fd_, part, sizeof part, 0);
    if (got <= 0) return false;
    buffer_.append(part, static_cast<size_t>(got));
    return true;
  }
  int fd_;
  bool connected_ = false;
  std::string buffer_;
};

}  // namespace wf::server
