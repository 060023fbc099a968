#include "compiler/driver/local_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "compiler/driver/child.h"
#include "compiler/driver/serve.h"
#include "compiler/load/fetch.h"
#include "runtime/base/clock.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/system_error.h"

namespace wf::driver {
namespace {

constexpr int64_t kStartNs = 60'000'000'000;

std::string HowItEnded(int status) {
  if (WIFSIGNALED(status)) return fmt::format("it ended with signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("it ended with exit status {}", WEXITSTATUS(status));
}

}  // namespace

LocalServer::~LocalServer() {
  Stop();
  if (errors_ >= 0) close(errors_);
}

base::Status LocalServer::Start() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {base::kUnavailable, base::TextOfErrno(errno)};
  const base::Descriptor out(ends[0]);
  if (errors_ < 0) errors_ = memfd_create("stderr", MFD_CLOEXEC);
  pid_ = StartChild(binary_, arguments_, {.out = ends[1], .err = errors_, .inherited = {}, .own_group = true});
  const std::string why = pid_ < 0 ? WhyNotStarted() : "";
  close(ends[1]);
  if (pid_ < 0) return {base::kUnavailable, why};
  return ReadAddresses(out.get());
}

base::Status LocalServer::ReadAddresses(int from) {
  std::string line;
  for (const int64_t until = base::SystemClock().Now() + kStartNs; line.find('\n') == std::string::npos;) {
    char c = 0;
    if (!load::WaitFor(from, POLLIN, until)) {
      Stop();
      return {base::kDeadlineExceeded, "it did not start within a minute"};
    }
    const ssize_t got = read(from, &c, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Ended();
    line += c;
  }
  line.pop_back();
  http_ = AddressIn(line, "http");
  admin_ = AddressIn(line, "admin");
  if (!http_.empty()) return {};
  Stop();
  return {base::kUnavailable, "it printed no address"};
}

base::Result<std::string> LocalServer::Call(const std::string& path, int64_t within_ns) {
  const auto target = load::ParseUrl(http_);
  if (!target.ok()) return target.status();
  const std::string request = fmt::format("POST {} HTTP/1.1\r\nhost: test\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}", path);
  const auto answer = load::Exchange(target->address, target->address_bytes, request, within_ns);
  if (!answer.ok()) return answer.status().code() == base::kDeadlineExceeded ? answer.status() : Ended();
  const size_t head = answer->find("\r\n\r\n");
  if (head == std::string::npos) return Ended();
  return answer->substr(head + 4);
}

base::Status LocalServer::Ended() {
  int status = 0;
  for (int64_t until = base::SystemClock().Now() + 5'000'000'000; pid_ > 0;) {  // a sanitizer writes its report before it ends
    const pid_t ended = waitpid(pid_, &status, WNOHANG);
    if (ended != 0) break;
    if (base::SystemClock().Now() > until) {
      Stop();
      return {base::kUnavailable, "it closed the connection"};
    }
    usleep(5'000);
  }
  pid_ = -1;
  return {base::kUnavailable, HowItEnded(status)};
}

void LocalServer::Stop() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

base::Status LocalServer::End(int64_t within_ns) {
  if (pid_ <= 0) return {base::kUnavailable, "it does not run"};
  kill(pid_, SIGTERM);
  int status = 0;
  if (!WaitForEnd(pid_, within_ns, &status)) {
    Stop();
    return {base::kDeadlineExceeded, "it still ran when it was killed"};
  }
  pid_ = -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? base::Status() : base::Status(base::kUnavailable, HowItEnded(status));
}

std::string LocalServer::TakeErrors() {
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
