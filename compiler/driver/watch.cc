#include "compiler/driver/watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>

#include "compiler/driver/child.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/files.h"
#include "compiler/driver/serve.h"
#include "compiler/driver/watched_files.h"
#include "compiler/interface/sample.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/system_error.h"

namespace wf::driver {
namespace {

constexpr int kTickMs = 50;
constexpr int kQuietTicks = 3;  // a file that is being written changes more than once

volatile std::sig_atomic_t stop_signal = 0;
extern "C" void OnStop(int signal) noexcept {
  stop_signal = signal == SIGHUP ? SIGTERM : signal;
}  // to a server SIGHUP means something else

// One server and what it prints.
struct Served {
  pid_t pid = -1;
  int out = -1;
  std::string line;
  bool listens = false;
  interface::Interface described;  // whose calls are shown when it listens
  Served() = default;
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() {
    if (out >= 0) close(out);
  }
};

class Watcher {
 public:
  Watcher(const Options& options, Console& console) : options_(options), console_(console) {}
  ~Watcher() { CloseSockets(); }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  int Run() {
    const TemporaryFolder folder;
    if (folder.path().empty()) {
      console_.err << "wfc: cannot make a temporary folder; set TMPDIR\n";
      return kProgramHasErrors;
    }
    std::signal(SIGINT, OnStop);
    std::signal(SIGTERM, OnStop);
    if (std::signal(SIGHUP, OnStop) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // under nohup
    while (!IsOver()) {
      BuildAndStart(folder.path());
      WaitForChange();
    }
    return End();
  }

 private:
  bool IsOver() const { return stop_signal != 0 || flags_are_wrong_; }

  void CloseSockets() {
    for (int& fd : sockets_) {
      if (fd >= 0) close(fd);
      fd = -1;
    }
  }

  // Of the kinds that the server's settings ask for. Not bound yet: the first server does that, where its settings say.
  bool OpenSockets(const std::string& config) {
    const auto value_of = [&config](std::string_view key) {
      const size_t at = ("\n" + config).find(fmt::format("\n{}: ", key));
      return at == std::string::npos ? "" : config.substr(at + key.size() + 2, config.find("  # ", at) - at - key.size() - 2);
    };
    const auto family_of = [&value_of](std::string_view host) {
      return value_of(host).find(':') != std::string::npos ? AF_INET6 : AF_INET;
    };
    const bool is_file = value_of("listen").find(':') != std::string::npos;
    CloseSockets();
    sockets_ = {socket(is_file ? AF_UNIX : family_of("host"), SOCK_STREAM | SOCK_CLOEXEC, 0),
                socket(family_of("admin_host"), SOCK_STREAM | SOCK_CLOEXEC, 0)};
    return sockets_[0] >= 0 && sockets_[1] >= 0;
  }

  // By the server's own word; empty where it has none, whose reasons it tells when it is started.
  std::string ConfigOf(const std::string& folder) const {
    constexpr size_t kMostBytes = size_t{1} << 20;
    const std::string written = folder + "config";
    const base::Descriptor out(open(written.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const base::Descriptor nowhere(open("/dev/null", O_WRONLY | O_CLOEXEC));
    std::vector<std::string> arguments = ServerArguments(options_.inputs.front(), options_.server_arguments);
    arguments.insert(arguments.begin(), "--print-config");  // behind a flag it could be taken for its value
    const pid_t pid = StartChild(folder + "server", arguments, {.out = out.get(), .err = nowhere.get()});
    while (pid > 0 && waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    const auto config = ReadFile(written, kMostBytes);
    return config.ok() ? *config : "";
  }

  void BuildAndStart(const std::string& folder) {
    const std::string binary = folder + "server";
    files_.Begin();
    Compilation compilation(options_.inputs.front(), options_, console_);
    compilation.set_on_read([this](const std::string& path) { files_.Add(path); });
    const bool built = compilation.RunTo(Phase::kObject, Compilation::Purpose::kServer) && compilation.Link(binary);
    const bool fine = compilation.Finish() == kFine && built;
    if (!fine && current_) console_.err << "wfc: the server goes on as it was\n";
    if (!fine) {
      console_.err << "wfc: waiting for a change\n" << std::flush;
      files_.KeepAll();
      return;
    }
    if (!has_listened_ && !OpenSockets(ConfigOf(folder))) {
      console_.err << "wfc: cannot make sockets: " << base::TextOfErrno(errno) << "\n";
      return;
    }
    auto next = std::make_unique<Served>();
    next->described = compilation.DescribeInterface();
    Start(binary, *next);
    if (next->pid < 0) return;
    next_ = std::move(next);
  }

  void Start(const std::string& binary, Served& served) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
    std::vector<std::string> arguments = {"--http-socket", std::to_string(sockets_[0]), "--admin-socket", std::to_string(sockets_[1])};
    const std::vector<std::string> given = ServerArguments(options_.inputs.front(), options_.server_arguments);
    arguments.insert(arguments.end(), given.begin(), given.end());
    served.pid =
        StartChild(binary, arguments, {.out = ends[1], .err = -1, .inherited = {sockets_.begin(), sockets_.end()}, .own_group = true});
    served.out = ends[0];
    close(ends[1]);
    if (served.pid < 0) console_.err << "wfc: cannot start the server: " << base::TextOfErrno(errno) << "\n";
  }

  // Looks after the servers meanwhile. A change counts when it has been quiet for a while.
  void WaitForChange() {
    WatchedFiles last = files_;
    int quiet = -1;
    while (!IsOver()) {
      Tick();
      if (next_ != nullptr) continue;  // one after the other
      if (quiet < 0 && !files_.Changed()) continue;
      if (quiet < 0 || last.Changed()) {
        last.LookAgain();
        quiet = 0;
      } else if (++quiet >= kQuietTicks) {
        return;
      }
    }
  }

  void Tick() {
    std::array<pollfd, 2> pipes{};
    std::array<Served*, 2> owners = {current_.get(), next_.get()};
    for (size_t i = 0; i < 2; ++i) pipes[i] = {owners[i] != nullptr ? owners[i]->out : -1, POLLIN, 0};
    poll(pipes.data(), pipes.size(), kTickMs);
    for (size_t i = 0; i < 2; ++i) {
      if (owners[i] != nullptr && pipes[i].revents != 0) Read(*owners[i]);
    }
    if (next_ != nullptr && next_->listens) TakeOver();
    for (std::unique_ptr<Served>* served : {&current_, &next_}) {
      if (*served != nullptr && Ended((*served)->pid)) Lose(*served);
    }
    std::erase_if(ending_, [this](pid_t pid) { return Ended(pid); });
  }

  void Read(Served& served) {
    std::array<char, 4096> buffer{};
    const ssize_t got = read(served.out, buffer.data(), buffer.size());
    if (got <= 0) {
      close(served.out);
      served.out = -1;
      return;
    }
    for (const char c : std::string_view(buffer.data(), static_cast<size_t>(got))) {
      if (c != '\n') {
        served.line += c;
        continue;
      }
      Say(served, std::exchange(served.line, ""));
    }
  }

  void Say(Served& served, const std::string& line) {
    console_.out << line << "\n";
    if (const std::string url = UrlIn(line); !url.empty()) {
      served.listens = true;
      for (const std::string& call : interface::SampleCurls(served.described, url)) console_.out << call << "\n";
    }
    console_.out << std::flush;
  }

  void TakeOver() {
    if (current_ != nullptr) {
      kill(current_->pid, SIGTERM);
      ending_.push_back(current_->pid);
    }
    current_ = std::move(next_);
    has_listened_ = true;
  }

  // Of the socket that its servers leave to each other.
  void RemoveFile() const {
    sockaddr_un name{};
    socklen_t size = sizeof name - 1;
    const bool is_file = getsockname(sockets_[0], reinterpret_cast<sockaddr*>(&name), &size) == 0 && name.sun_family == AF_UNIX;
    struct stat found{};
    if (is_file && lstat(name.sun_path, &found) == 0 && S_ISSOCK(found.st_mode)) unlink(name.sun_path);
  }

  bool Ended(pid_t pid) { return waitpid(pid, &status_, WNOHANG) == pid; }

  void Lose(std::unique_ptr<Served>& served) {
    while (served->out >= 0) Read(*served);
    const bool was_new = &served == &next_;
    served.reset();
    flags_are_wrong_ = was_new && current_ == nullptr && WIFEXITED(status_) && WEXITSTATUS(status_) == kUsage;
    if (flags_are_wrong_) return;  // whatever becomes of the files
    const char* const what = !was_new              ? "the server has ended"
                             : current_ != nullptr ? "it does not start; the server goes on as it was"
                                                   : "it does not start";
    console_.err << "wfc: " << what << "; waiting for a change\n" << std::flush;
  }

  int End() {
    RemoveFile();
    for (const auto* served : {&next_, &current_}) {
      if (*served == nullptr) continue;
      kill((*served)->pid, stop_signal);
      ending_.push_back((*served)->pid);
    }
    for (const pid_t pid : ending_) {
      while (waitpid(pid, &status_, 0) < 0 && errno == EINTR) {
      }
    }
    if (flags_are_wrong_) return kUsage;
    if (ending_.empty()) return kFine;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : static_cast<int>(kProgramHasErrors);
  }

  const Options& options_;
  Console& console_;
  WatchedFiles files_;
  std::array<int, 2> sockets_ = {-1, -1};  // of HTTP, of the admin port
  std::unique_ptr<Served> current_, next_;
  std::vector<pid_t> ending_;
  int status_ = 0;
  bool has_listened_ = false;     // a server, so that the sockets are bound
  bool flags_are_wrong_ = false;  // of the server
};

}  // namespace

int Watch(const Options& options, Console& console) { return Watcher(options, console).Run(); }

}  // namespace wf::driver
