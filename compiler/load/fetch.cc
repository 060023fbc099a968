#include "compiler/load/fetch.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>

#include "runtime/base/ascii.h"
#include "runtime/base/clock.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/system_error.h"
#include "runtime/base/units.h"

namespace wf::load {

bool WaitFor(int fd, short events, int64_t until_ns) {
  while (true) {
    const int64_t left_ms = (until_ns - base::SystemClock().Now()) / base::kNsPerMs;
    if (left_ms < 0) return false;
    pollfd waiting{fd, events, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(left_ms) + 1);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return true;  // read says what is wrong
  }
}

namespace {

constexpr size_t kMaxAnswer = size_t{64} << 20;

base::Status TooLate() { return {base::kDeadlineExceeded, "it did not answer"}; }
base::Status Failed(int error) { return {base::kUnavailable, base::TextOfErrno(error)}; }

base::Status Connect(int fd, const sockaddr_storage& address, socklen_t address_bytes, int64_t until_ns) {
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), address_bytes) == 0) return base::Status::Ok();
  if (errno != EINPROGRESS) return Failed(errno);
  if (!WaitFor(fd, POLLOUT, until_ns)) return TooLate();
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
  return error == 0 ? base::Status::Ok() : Failed(error);
}

base::Status SendAll(int fd, std::string_view request, int64_t until_ns) {
  while (!request.empty()) {
    if (!WaitFor(fd, POLLOUT, until_ns)) return TooLate();
    const ssize_t sent = send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent < 0) return Failed(errno);
    request.remove_prefix(static_cast<size_t>(sent));
  }
  return base::Status::Ok();
}

// How many bytes the answer that begins like this has, if they say it.
std::optional<size_t> BytesOf(std::string_view answer) {
  constexpr std::string_view kField = "\r\ncontent-length:";
  const size_t head = answer.find("\r\n\r\n");
  if (head == std::string_view::npos) return std::nullopt;
  const auto same = [](char a, char b) { return base::EqualIgnoringCase({&a, 1}, {&b, 1}); };
  const auto field = std::search(answer.begin(), answer.begin() + head, kField.begin(), kField.end(), same);
  if (field == answer.begin() + head) return std::nullopt;
  std::string_view value = answer.substr(field - answer.begin() + kField.size());
  value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
  size_t body = 0;
  const auto [end, wrong] = std::from_chars(value.data(), value.data() + value.size(), body);
  if (wrong != std::errc() || body > kMaxAnswer || *end != '\r') return std::nullopt;
  return head + 4 + body;
}

// What comes until the answer is whole, or the other side closes; nothing when the time is over first. Its end is not left to the closing
// alone: a process that the server has forked may hold the connection.
std::optional<std::string> ReadAll(int fd, int64_t until_ns) {
  std::string text;
  std::array<char, 65536> buffer{};
  std::optional<size_t> whole;
  while (text.size() < kMaxAnswer) {
    if (!WaitFor(fd, POLLIN, until_ns)) return std::nullopt;
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<size_t>(got));
    if (!whole) whole = BytesOf(text);
    if (whole && text.size() >= *whole) break;
  }
  return text;
}

}  // namespace

base::Result<std::string> Exchange(const sockaddr_storage& address, socklen_t address_bytes, std::string_view request, int64_t within_ns) {
  const int64_t until = base::SystemClock().Now() + within_ns;
  const base::Descriptor connection(socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (connection.get() < 0) return Failed(errno);
  WF_RETURN_IF_ERROR(Connect(connection.get(), address, address_bytes, until));
  WF_RETURN_IF_ERROR(SendAll(connection.get(), request, until));
  auto answer = ReadAll(connection.get(), until);
  if (!answer) return TooLate();
  if (answer->empty()) return base::Status(base::kUnavailable, "it closed the connection");
  return *std::move(answer);
}

base::Result<std::string> Fetch(const Target& target, int64_t within_ns) {
  const std::string request = fmt::format("GET {} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", target.path, target.host);
  auto answer = Exchange(target.address, target.address_bytes, request, within_ns);
  if (!answer.ok()) return answer;
  const size_t head = answer->find("\r\n\r\n");
  if (head == std::string::npos || !answer->starts_with("HTTP/1.1 200 "))
    return base::Status(base::kNotFound, fmt::format("it answers {}", answer->substr(0, answer->find('\r')).substr(0, 64)));
  return answer->substr(head + 4);
}

}  // namespace wf::load
