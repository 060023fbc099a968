#include "compiler/driver/watch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>

#include "compiler/base/system_error.h"
#include "compiler/driver/child.h"
#include "compiler/driver/compile.h"
#include "compiler/driver/files.h"
#include "compiler/driver/serve.h"
#include "compiler/driver/watched_files.h"
#include "compiler/interface/sample.h"

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
  std::vector<std::string> calls;  // shown when it listens, `{}` for its address
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
  ~Watcher() {
    for (const int fd : sockets_) {
      if (fd >= 0) close(fd);
    }
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  int Run() {
    const TemporaryFolder folder;
    if (folder.path().empty() || !OpenSockets()) {
      console_.err << "wfc: cannot make a temporary folder and sockets: " << source::TextOfErrno(errno) << "\n";
      return kProgramHasErrors;
    }
    std::signal(SIGINT, OnStop);
    std::signal(SIGTERM, OnStop);
    if (std::signal(SIGHUP, OnStop) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // under nohup
    while (!IsOver()) {
      BuildAndStart(folder.path() + "server");
      WaitForChange();
    }
    return End();
  }

 private:
  bool IsOver() const { return stop_signal != 0 || flags_are_wrong_; }

  // Not bound yet: the first server does that, where its settings say.
  bool OpenSockets() {
    const auto& arguments = options_.server_arguments;
    const bool six =
        std::any_of(arguments.begin(), arguments.end(), [](const std::string& text) { return text.find("::") != std::string::npos; });
    for (int& fd : sockets_) fd = socket(six && &fd == sockets_.data() ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return sockets_[0] >= 0 && sockets_[1] >= 0;
  }

  void BuildAndStart(const std::string& binary) {
    files_ = WatchedFiles();
    Compilation compilation(options_.inputs.front(), options_, console_);
    compilation.set_on_read([this](const std::string& path) { files_.Add(path); });
    const bool built = compilation.RunTo(Phase::kObject, Compilation::Purpose::kServer) && compilation.Link(binary);
    const bool fine = compilation.Finish() == kFine && built;
    if (!fine && current_) console_.err << "wfc: the server goes on as it was\n";
    if (!fine) console_.err << "wfc: waiting for a change\n" << std::flush;
    if (!fine) return;
    const interface::Interface described = compilation.DescribeInterface();
    auto next = std::make_unique<Served>();
    for (const interface::Service& service : described.services) {
      for (const interface::Call& call : service.calls) next->calls.push_back(interface::SampleCurl(described, service, call, "ADDRESS"));
    }
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
    if (served.pid < 0) console_.err << "wfc: cannot start the server: " << source::TextOfErrno(errno) << "\n";
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
    if (const std::string address = AddressIn(line); !address.empty()) {
      served.listens = true;
      for (std::string call : served.calls) {
        if (const size_t at = call.find("ADDRESS"); at != std::string::npos) call.replace(at, 7, UrlOf(address));
        console_.out << call << "\n";
      }
    }
    console_.out << std::flush;
  }

  void TakeOver() {
    if (current_ != nullptr) {
      kill(current_->pid, SIGTERM);
      ending_.push_back(current_->pid);
    }
    current_ = std::move(next_);
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
  bool flags_are_wrong_ = false;  // of the server
};

}  // namespace

int Watch(const Options& options, Console& console) { return Watcher(options, console).Run(); }

}  // namespace wf::driver
