#include "compiler/driver/test_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>

#include "compiler/driver/child.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/system_error.h"

namespace wf::driver {
namespace {

constexpr int64_t kStartNs = 60'000'000'000;
constexpr size_t kMaxAnswer = size_t{64} << 20;

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// False when the time is over first.
bool WaitFor(int fd, short events, int64_t until_ns) {
  while (true) {
    const int64_t left_ms = (until_ns - NowNs()) / 1'000'000;
    if (left_ms < 0) return false;
    pollfd waiting{fd, events, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(left_ms) + 1);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // read says what is wrong
  }
}

// What comes until the other side closes; nothing when the time is over first.
std::optional<std::string> ReadAll(int fd, int64_t until_ns) {
  std::string text;
  std::array<char, 65536> buffer{};
  while (text.size() < kMaxAnswer) {
    if (!WaitFor(fd, POLLIN, until_ns)) return std::nullopt;
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
  return text;
}

}  // namespace

TestServer::~TestServer() {
  Stop();
  if (errors_ >= 0) close(errors_);
}

base::Status TestServer::Start() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {base::kUnavailable, base::TextOfErrno(errno)};
  const base::Descriptor out(ends[0]);
  if (errors_ < 0) errors_ = memfd_create("stderr", MFD_CLOEXEC);
  pid_ = StartChild(binary_, arguments_, {.out = ends[1], .err = errors_, .inherited = {}});
  close(ends[1]);
  if (pid_ < 0) return {base::kUnavailable, base::TextOfErrno(errno)};
  const auto port = ReadPort(out.get());
  if (!port.ok()) return port.status();
  port_ = *port;
  return {};
}

base::Result<uint16_t> TestServer::ReadPort(int from) {
  std::string line;
  for (const int64_t until = NowNs() + kStartNs; line.find('\n') == std::string::npos;) {
    char c = 0;
    if (!WaitFor(from, POLLIN, until)) {
      Stop();
      return base::Status(base::kDeadlineExceeded, "it did not start within a minute");
    }
    const ssize_t got = read(from, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Ended();
    line += c;
  }
  uint16_t port = 0;
  const size_t end = line.find(' ', line.find("http=")), colon = line.rfind(':', end);
  if (end == std::string::npos || std::from_chars(line.data() + colon + 1, line.data() + end, port).ec != std::errc()) {
    Stop();
    return base::Status(base::kUnavailable, "it printed no address");
  }
  return port;
}

base::Result<std::string> TestServer::Call(const std::string& path, int64_t within_ns) {
  const int64_t until = NowNs() + within_ns;
  const base::Descriptor connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string request = fmt::format("POST {} HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}", path);
  const bool sent = connect(connection.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 &&
                    write(connection.get(), request.data(), request.size()) == static_cast<ssize_t>(request.size());
  const auto answer = sent ? ReadAll(connection.get(), until) : std::optional<std::string>("");
  if (!answer) return base::Status(base::kDeadlineExceeded, "it did not answer");
  const size_t head = answer->find("\r\n\r\n");
  if (head == std::string::npos) return Ended();
  return answer->substr(head + 4);
}

base::Status TestServer::Ended() {
  int status = 0;
  for (int64_t until = NowNs() + 5'000'000'000; pid_ > 0;) {  // a sanitizer writes its report before it ends
    const pid_t ended = waitpid(pid_, &status, WNOHANG);
    if (ended != 0) break;
    if (NowNs() > until) {
      Stop();
      return {base::kUnavailable, "it closed the connection"};
    }
    usleep(5'000);
  }
  pid_ = -1;
  if (WIFSIGNALED(status)) {
    return {base::kUnavailable, fmt::format("it ended with signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))};
  }
  return {base::kUnavailable, fmt::format("it ended with exit status {}", WEXITSTATUS(status))};
}

void TestServer::Stop() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::string TestServer::TakeErrors() {
  std::string text;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t got = pread(errors_, buffer.data(), buffer.size(), errors_read_);
    if (got <= 0) return text;
    text.append(buffer.data(), static_cast<size_t>(got));
    errors_read_ += got;
  }
}

}  // namespace wf::driver
