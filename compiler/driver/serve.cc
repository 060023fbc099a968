#include "compiler/driver/serve.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "compiler/base/ending.h"
#include "compiler/driver/child.h"
#include "compiler/driver/files.h"
#include "runtime/base/system_error.h"

namespace wf::driver {
namespace {

volatile std::sig_atomic_t server_pid = 0;  // for the signal handler alone

extern "C" void ForwardSignal(int signal) noexcept {
  if (server_pid > 0) kill(static_cast<pid_t>(server_pid), EndingOfServer(signal));
}

void CopyLines(int from, const std::function<void(const std::string&)>& on_ready, Console& console) {
  std::string line;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t got = read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    for (const char c : std::string_view(buffer.data(), static_cast<size_t>(got))) {
      line += c;
      if (c != '\n') continue;
      console.out << line << std::flush;
      line.pop_back();
      if (const std::string url = UrlIn(line); !url.empty()) on_ready(url);
      line.clear();
    }
  }
}

}  // namespace

std::string AddressIn(const std::string& line, std::string_view name) {
  const std::string before = fmt::format(" {}=", name);
  const size_t at = line.find(before);
  if (!line.starts_with("listening ") || at == std::string::npos) return "";
  std::string address = line.substr(at + before.size(), line.find(' ', at + 1) - at - before.size());
  constexpr std::string_view kAny = "0.0.0.0:";  // what it listens on; one can only call an address
  if (address.starts_with(kAny)) address.replace(0, kAny.size(), "127.0.0.1:");
  return address;
}

std::string UrlIn(const std::string& line) {
  constexpr std::string_view kFile = "unix:";
  const std::string address = AddressIn(line, "http"), scheme = line.ends_with(" tls=on") ? "https://" : "http://";
  if (address.starts_with(kFile)) return "--unix-socket " + address.substr(kFile.size()) + " " + scheme + "localhost";
  return address.empty() ? "" : scheme + address;
}

std::vector<std::string> ServerArguments(const std::string& program, std::vector<std::string> given) {
  const std::string folder = FolderOf(program);
  const bool said = std::getenv("WF_MODEL_ROOT") != nullptr || std::any_of(given.begin(), given.end(), [](const std::string& argument) {
                      return argument.starts_with("--model-root") || argument.starts_with("--config");
                    });
  if (!said && !folder.empty()) given.insert(given.begin(), {"--model-root", folder});
  return given;
}

int Serve(const std::string& binary, const std::vector<std::string>& arguments, const std::function<void(const std::string&)>& on_ready,
          Console& console) {
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    console.err << "wfc: cannot start the server: " << base::TextOfErrno(errno) << "\n";
    return kProgramHasErrors;
  }
  // A termination that comes before there is a server to hand it to waits until there is.
  const sigset_t terminations = source::AllEndings();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &terminations, &before);
  const pid_t pid = StartChild(binary, arguments, {.out = pipe_ends[1], .err = -1, .inherited = {}, .signals = &before, .own_group = true});
  server_pid = pid;
  HandleEndings(ForwardSignal);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(pipe_ends[1]);
  if (pid < 0) {
    console.err << "wfc: cannot start the server: " << WhyNotStarted() << "\n";
    close(pipe_ends[0]);
    return kProgramHasErrors;
  }
  CopyLines(pipe_ends[0], on_ready, console);
  close(pipe_ends[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  server_pid = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kProgramHasErrors;
}

}  // namespace wf::driver
