#include "runtime/net/listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "runtime/base/descriptor.h"
#include "runtime/base/path.h"
#include "runtime/base/system_error.h"

namespace wf::net {

namespace {

constexpr int kMaxWaiting = 4096;  // connections that are not accepted yet

uint64_t MostDescriptors() {
  rlimit limit{};
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

// Whether a descriptor that was just made is one of the last kLeftDescriptors: the system gives the lowest that is free.
bool IsLeft(int fd) {
  const uint64_t most = MostDescriptors();
  return most != RLIM_INFINITY && static_cast<uint64_t>(fd) + kLeftDescriptors >= most;
}

}  // namespace

struct Listener::Poll {
  uv_poll_t handle;
  uv_timer_t again;
};

std::string Address::ToString() const {
  if (!path.empty()) return "unix:" + path;
  const bool six = host.find(':') != std::string::npos;
  return (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

namespace {

// The system's form of an address; 0 bytes when the host is not a numeric address.
socklen_t ToSystem(const Address& address, sockaddr_storage* out) {
  std::memset(out, 0, sizeof *out);
  auto* four = reinterpret_cast<sockaddr_in*>(out);
  auto* six = reinterpret_cast<sockaddr_in6*>(out);
  if (inet_pton(AF_INET, address.host.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(address.port);
    return sizeof *four;
  }
  if (inet_pton(AF_INET6, address.host.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(address.port);
    return sizeof *six;
  }
  return 0;
}

base::Status Failed(const Address& address, int error) {
  if (!address.path.empty()) return {base::kUnavailable, "cannot listen on " + address.ToString() + ": " + base::TextOfErrno(error)};
  if (error == EADDRINUSE)
    return {base::kAlreadyExists, "cannot listen on " + address.ToString() + ": the port is in use by another process"};
  if (error == EACCES) return {base::kPermissionDenied, "cannot listen on " + address.ToString() + ": ports below 1024 need privileges"};
  if (error == EADDRNOTAVAIL) return {base::kNotFound, "cannot listen on " + address.ToString() + ": this machine has no such address"};
  return {base::kUnavailable, "cannot listen on " + address.ToString() + ": " + base::TextOfErrno(error)};
}

base::Status NotHandedOn(int fd, int error) {
  return {base::kInvalidArgument, "cannot listen on descriptor " + std::to_string(fd) +
                                      ", which is to be a socket that was handed on: " + base::TextOfErrno(error)};
}

// 0 while it has none.
uint16_t PortOf(int fd) {
  sockaddr_storage system{};
  socklen_t size = sizeof system;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&system), &size) != 0) return 0;
  return ntohs(system.ss_family == AF_INET ? reinterpret_cast<sockaddr_in*>(&system)->sin_port
                                           : reinterpret_cast<sockaddr_in6*>(&system)->sin6_port);
}

// Connections of an earlier server that the system has not forgotten do not stand in the way.
void ReuseAddress(int fd) {
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
}

// A peer that has vanished without a word, as behind a cable that was pulled, is noticed where nothing is sent to it either: a call that
// streams may wait for it for ever. Connections have it from the socket that accepts them.
void AskSilentPeers(int fd) {
  constexpr int kOn = 1, kIdleSeconds = 60, kBetweenSeconds = 15, kTimes = 4;
  setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &kOn, sizeof kOn);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &kIdleSeconds, sizeof kIdleSeconds);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &kBetweenSeconds, sizeof kBetweenSeconds);
  setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &kTimes, sizeof kTimes);
}

base::Status NotNumeric(const Address& address) {
  return {base::kInvalidArgument, "`" + address.host + "` is not a numeric address, as `127.0.0.1` or `::1`"};
}

bool MakeOurs(int fd) { return fcntl(fd, F_SETFL, O_NONBLOCK) == 0 && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0; }

sockaddr_un SystemFile(const Address& address) {
  sockaddr_un system{};
  system.sun_family = AF_UNIX;
  std::memcpy(system.sun_path, address.path.data(), std::min(address.path.size(), sizeof system.sun_path - 1));
  return system;
}

// What a Unix socket is bound to, empty while it is not; nothing: it is of another kind.
std::optional<std::string> FileOf(int fd) {
  sockaddr_un system{};
  socklen_t size = sizeof system;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&system), &size) != 0 || system.sun_family != AF_UNIX) return std::nullopt;
  return std::string(system.sun_path, strnlen(system.sun_path, sizeof system.sun_path));
}

bool IsBound(int fd) {
  const std::optional<std::string> file = FileOf(fd);
  return file ? !file->empty() : PortOf(fd) > 0;
}

base::Status CheckHandedOn(const Address& address, int fd) {
  int type = 0;
  socklen_t bytes = sizeof type;
  if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) != 0) return NotHandedOn(fd, errno);
  if (type != SOCK_STREAM) return NotHandedOn(fd, EPROTOTYPE);
  return FileOf(fd).has_value() == address.path.empty() ? NotHandedOn(fd, EAFNOSUPPORT) : base::Status();
}

// Is the name free, or that of a socket which nobody serves on any more? That goes, where `removes`.
base::Status CheckFile(const Address& address, bool removes) {
  const char* const path = address.path.c_str();
  const auto taken = [&](std::string_view why) {
    return base::Status(base::kAlreadyExists, "cannot listen on " + address.ToString() + ": " + std::string(why));
  };
  struct stat found;
  if (lstat(path, &found) != 0) return errno == ENOENT ? base::Status() : Failed(address, errno);
  if (!S_ISSOCK(found.st_mode)) return taken("a file of that name is there, which is no socket");
  const sockaddr_un system = SystemFile(address);
  const base::Descriptor fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return Failed(address, errno);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&system), sizeof system) == 0 || errno == EAGAIN)
    return taken("another process serves there");
  if (errno != ECONNREFUSED) return Failed(address, errno);
  return !removes || unlink(path) == 0 ? base::Status() : Failed(address, errno);
}

// An empty name is that of the folder that one is in.
bool TakesFiles(const std::string& folder) { return access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) == 0; }

int OpenSpare() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

// A socket of its own, bound where the address is none of a file.
base::Result<base::Descriptor> Hold(const Address& address) {
  sockaddr_storage system{};
  const socklen_t size = address.path.empty() ? ToSystem(address, &system) : 0;
  if (address.path.empty() && size == 0) return NotNumeric(address);
  if (!address.path.empty() && !TakesFiles(base::FolderOf(address.path))) return Failed(address, errno);
  if (!address.path.empty()) WF_RETURN_IF_ERROR(CheckFile(address, false));
  base::Descriptor held(socket(address.path.empty() ? system.ss_family : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (held.get() < 0) return Failed(address, errno);
  ReuseAddress(held.get());
  if (size != 0 && bind(held.get(), reinterpret_cast<sockaddr*>(&system), size) != 0) return Failed(address, errno);
  return held;
}

}  // namespace

base::Status CheckAddress(const Address& address, int inherited, std::vector<base::Descriptor>* held) {
  if (inherited >= 0) WF_RETURN_IF_ERROR(CheckHandedOn(address, inherited));
  if (inherited < 0 || !IsBound(inherited)) {
    auto socket = Hold(address);
    WF_RETURN_IF_ERROR(socket.status());
    if (inherited < 0) held->push_back(*std::move(socket));
  }
  held->emplace_back(OpenSpare());
  return held->back().get() < 0 ? Failed(address, errno) : base::Status();
}

base::Status CheckDescriptors() {
  const base::Descriptor next(OpenSpare());
  if (next.get() >= 0 && !IsLeft(next.get())) return {};
  if (next.get() < 0 && errno != EMFILE) return base::StatusOfErrno(errno);
  return {base::kUnavailable,
          "too many open files: of " + std::to_string(MostDescriptors()) + " (RLIMIT_NOFILE) none would be left for a connection"};
}

Listener::Listener(loop::Loop& loop, Acceptor& acceptor) : loop_(loop), acceptor_(acceptor), poll_(std::make_unique<Poll>()) {}

Listener::~Listener() {
  RemoveFile();
  if (fd_ >= 0) close(fd_);
  if (spare_fd_ >= 0) close(spare_fd_);
}

base::Status Listener::Bind(const Address& address, int inherited) {
  address_ = address;
  if (inherited >= 0) WF_RETURN_IF_ERROR(CheckHandedOn(address, inherited));
  if (!address.path.empty()) return BindFile(inherited);
  sockaddr_storage system;
  socklen_t size = ToSystem(address, &system);
  if (size == 0) return NotNumeric(address);
  fd_ = inherited >= 0 ? inherited : socket(system.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd_ < 0 || !MakeOurs(fd_)) return inherited >= 0 ? NotHandedOn(inherited, errno) : Failed(address, errno);
  ReuseAddress(fd_);
  AskSilentPeers(fd_);
  if (!(inherited >= 0 && IsBound(fd_)) && bind(fd_, reinterpret_cast<sockaddr*>(&system), size) != 0) return Failed(address, errno);
  WF_RETURN_IF_ERROR(Listen());
  address_.port = PortOf(fd_);
  return {};
}

// Nobody can connect before it listens: by then the permissions are those that are wanted.
base::Status Listener::BindFile(int inherited) {
  if (inherited >= 0 && IsBound(inherited)) {
    fd_ = inherited;
    address_.path = *FileOf(inherited);
    return MakeOurs(fd_) ? Listen() : Failed(address_, errno);
  }
  WF_RETURN_IF_ERROR(CheckFile(address_, true));
  const sockaddr_un system = SystemFile(address_);
  fd_ = inherited >= 0 ? inherited : socket(AF_UNIX, SOCK_STREAM, 0);
  if (fd_ < 0 || !MakeOurs(fd_) || bind(fd_, reinterpret_cast<const sockaddr*>(&system), sizeof system) != 0)
    return Failed(address_, errno);
  struct stat made;
  if (lstat(address_.path.c_str(), &made) != 0) return Failed(address_, errno);
  file_device_ = made.st_dev;
  file_inode_ = made.st_ino;
  has_file_.store(inherited < 0);
  return chmod(address_.path.c_str(), address_.mode) == 0 ? Listen() : Failed(address_, errno);
}

base::Status Listener::Listen() {
  if (listen(fd_, kMaxWaiting) != 0) return Failed(address_, errno);
  spare_fd_ = OpenSpare();
  return spare_fd_ < 0 ? Failed(address_, errno) : base::Status();
}

void Listener::RemoveFile() noexcept {
  struct stat found;
  if (!has_file_.exchange(false) || lstat(address_.path.c_str(), &found) != 0) return;
  if (found.st_dev == file_device_ && found.st_ino == file_inode_) unlink(address_.path.c_str());
}

base::Status Listener::Start() {
  if (const int error = uv_poll_init(loop_.uv(), &poll_->handle, fd_); error != 0) return Failed(address_, -error);
  uv_timer_init(loop_.uv(), &poll_->again);
  poll_->handle.data = poll_->again.data = this;
  Watch();
  return {};
}

void Listener::Watch() noexcept {
  uv_poll_start(&poll_->handle, UV_READABLE, [](uv_poll_t* handle, int, int) noexcept { static_cast<Listener*>(handle->data)->Accept(); });
}

// What waits stays where it is, and would be told again at once.
void Listener::Rest() noexcept {
  uv_poll_stop(&poll_->handle);
  uv_timer_start(&poll_->again, [](uv_timer_t* timer) noexcept { static_cast<Listener*>(timer->data)->Watch(); }, kRestMs, 0);
}

void Listener::Drop(int fd) noexcept {
  close(fd);
  acceptor_.OnDropped();
}

bool Listener::Accept() noexcept {
  constexpr int kMaxPerTurn = 64;
  for (int i = 0; i < kMaxPerTurn && fd_ >= 0; ++i) {
    const int fd = accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      acceptor_.leaves_some() && IsLeft(fd) ? Drop(fd) : acceptor_.OnAccepted(fd);
      continue;
    }
    if ((errno == EMFILE || errno == ENFILE) && AcceptAndDrop()) continue;
    if (errno == ECONNABORTED || errno == EINTR) continue;
    if (errno != EAGAIN) Rest();
    return false;
  }
  return fd_ >= 0;
}

bool Listener::AcceptAndDrop() noexcept {
  if (spare_fd_ >= 0) close(spare_fd_);
  const int fd = accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  const int error = errno;
  if (fd >= 0) Drop(fd);
  spare_fd_ = OpenSpare();
  errno = error;
  return fd >= 0;
}

void Listener::Close() noexcept {
  if (fd_ < 0) return;
  RemoveFile();
  while (Accept()) {
  }
  uv_poll_stop(&poll_->handle);
  uv_timer_stop(&poll_->again);
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_->handle), nullptr);
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_->again), nullptr);
  close(fd_);
  fd_ = -1;
}

}  // namespace wf::net
