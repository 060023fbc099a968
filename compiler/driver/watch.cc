#include "compiler/driver/watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "compiler/driver/child.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/files.h"
#include "compiler/driver/report.h"
#include "compiler/driver/serve.h"
#include "compiler/driver/watched_files.h"
#include "compiler/interface/sample.h"
#include "runtime/base/clock.h"
#include "runtime/base/descriptor.h"
#include "runtime/base/system_error.h"
#include "runtime/base/units.h"

namespace wf::driver {
namespace {

constexpr int kTickMs = 50;
constexpr int kQuietTicks = 3;                 // a file that is being written changes more than once
constexpr int64_t kSlowNs = 10'000'000'000;    // what a start may take until it is told: large models take longer, what hangs does for ever
constexpr int64_t kConfigNs = 10'000'000'000;  // for a server to print its settings
constexpr int64_t kGiveUpNs = 2'000'000'000;   // for one to end that nobody calls

volatile std::sig_atomic_t stop_signal = 0, stop_count = 0;
extern "C" void OnStop(int signal) noexcept {
  stop_signal = EndingOfServer(signal);
  stop_count = stop_count + 1;
}

// One server and what it prints.
struct Served {
  pid_t pid = -1;
  int out = -1;
  std::string line;
  int64_t since_ns = base::SystemClock().Now();
  bool listens = false, is_slow = false;  // is_slow: it is told
  interface::Interface described;         // whose calls are shown when it listens
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
      Tell(folder.WhyNone());
      return kProgramHasErrors;
    }
    HandleEndings(OnStop);
    while (!IsOver()) {
      BuildAndStart(folder.path());
      WaitForChange();
    }
    return End();
  }

 private:
  bool IsOver() const { return stop_signal != 0 || flags_are_wrong_; }

  void Tell(const std::string& text) { console_.err << SayingLine(text, options_.format) << std::flush; }

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
    const auto opened = [](int family) { return socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0); };
    sockets_ = {opened(is_file ? AF_UNIX : family_of("host")), opened(family_of("admin_host")), opened(family_of("host"))};
    return std::all_of(sockets_.begin(), sockets_.end(), [](int fd) { return fd >= 0; });
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
    int status = 0;
    if (pid > 0 && !WaitForEnd(pid, kConfigNs, &status)) KillAndReap(pid, &status);
    const auto config = ReadFile(written, kMostBytes);
    return config.ok() ? *config : "";
  }

  void BuildAndStart(const std::string& folder) {
    const std::string binary = folder + "server";
    files_.Begin();
    Compilation compilation(options_.inputs.front(), options_, console_);
    compilation.set_on_read([this](const std::string& path) { files_.Add(path); });
    const bool built = compilation.BuildServer(binary);
    const bool fine = compilation.Finish() == kFine && built;
    if (!fine && (current_ || next_)) Tell("the server goes on as it was");
    if (!fine) {
      Tell("waiting for a change");
      files_.KeepAll();
      return;
    }
    Tick();  // the last one may have come to listen meanwhile
    GiveUpNext();
    if (!has_listened_ && !OpenSockets(ConfigOf(folder))) {
      Tell("cannot make sockets: " + base::TextOfErrno(errno));
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
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return TellNotStarted(base::TextOfErrno(errno));
    std::vector<std::string> arguments = {"--http-socket", std::to_string(sockets_[0]), "--admin-socket", std::to_string(sockets_[1]),
                                          "--grpc-socket", std::to_string(sockets_[2])};
    const std::vector<std::string> given = ServerArguments(options_.inputs.front(), options_.server_arguments);
    arguments.insert(arguments.end(), given.begin(), given.end());
    served.pid =
        StartChild(binary, arguments, {.out = ends[1], .err = -1, .inherited = {sockets_.begin(), sockets_.end()}, .own_group = true});
    const std::string why = served.pid < 0 ? WhyNotStarted() : "";
    served.out = ends[0];
    close(ends[1]);
    if (served.pid < 0) TellNotStarted(why);
  }

  void TellNotStarted(const std::string& why) { Tell("cannot start the server: " + why + "; waiting for a change"); }

  // Looks after the servers meanwhile. A change counts when it has been quiet for a while.
  void WaitForChange() {
    WatchedFiles last = files_;
    int quiet = -1;
    while (!IsOver()) {
      Tick();
      TellSlow();
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

  void TellSlow() {
    if (next_ == nullptr || next_->is_slow || base::SystemClock().Now() - next_->since_ns < kSlowNs) return;
    next_->is_slow = true;
    Tell(fmt::format("it does not listen yet, {} s after its start; {}waiting for it, or for a change", kSlowNs / base::kNsPerSecond,
                     current_ != nullptr ? "the server goes on as it was; " : ""));
  }

  // A newer one is there. Should it have begun to listen just now, it has a moment to answer.
  void GiveUpNext() {
    if (next_ == nullptr) return;
    kill(next_->pid, SIGTERM);
    if (!WaitForEnd(next_->pid, kGiveUpNs, &status_)) KillAndReap(next_->pid, &status_);
    next_.reset();
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

  static bool HasInput(int fd) {
    pollfd one{fd, POLLIN, 0};
    return poll(&one, 1, 0) > 0;
  }

  bool Ended(pid_t pid) { return waitpid(pid, &status_, WNOHANG) != 0; }

  void Lose(std::unique_ptr<Served>& served) {
    while (served->out >= 0 && HasInput(served->out)) Read(*served);  // what it started may hold the pipe still
    const bool was_new = &served == &next_;
    served.reset();
    flags_are_wrong_ = was_new && current_ == nullptr && WIFEXITED(status_) && WEXITSTATUS(status_) == kUsage;
    if (flags_are_wrong_) return;  // whatever becomes of the files
    const std::string by = WIFSIGNALED(status_) ? fmt::format(" (signal {}, {})", WTERMSIG(status_), strsignal(WTERMSIG(status_))) : "";
    Tell((was_new ? "it does not start" : "the server has ended") + by +
         (was_new && current_ != nullptr ? "; the server goes on as it was" : "") + "; waiting for a change");
    if (current_ == nullptr && next_ == nullptr) StopListening();
  }

  // Or connections would be taken that nobody answers.
  void StopListening() {
    RemoveFile();
    CloseSockets();
    has_listened_ = false;
  }

  // Servers end what they have begun; of a second signal they lose it, of a third they are killed.
  int End() {
    RemoveFile();
    if (current_ == nullptr && next_ == nullptr && ending_.empty()) return flags_are_wrong_ ? kUsage : kFine;
    GiveUpNext();
    if (current_ != nullptr) {
      kill(current_->pid, stop_signal);
      ending_.push_back(current_->pid);
    }
    int sent = stop_count;
    for (size_t i = 0; i < ending_.size(); ++i) {
      for (; !Ended(ending_[i]); usleep(5'000)) {
        if (stop_count == sent) continue;
        sent = stop_count;
        for (size_t other = i; other < ending_.size(); ++other) kill(ending_[other], sent > 2 ? SIGKILL : static_cast<int>(stop_signal));
      }
    }
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : static_cast<int>(kProgramHasErrors);
  }

  const Options& options_;
  Console& console_;
  WatchedFiles files_;
  std::array<int, 3> sockets_ = {-1, -1, -1};  // of HTTP, of the admin port, of gRPC where that has its own
  std::unique_ptr<Served> current_, next_;
  std::vector<pid_t> ending_;
  int status_ = 0;
  bool has_listened_ = false;     // a server, so that the sockets are bound
  bool flags_are_wrong_ = false;  // of the server
};

}  // namespace

int Watch(const Options& options, Console& console) { return Watcher(options, console).Run(); }

}  // namespace wf::driver
