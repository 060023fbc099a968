#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/base/descriptor.h"
#include "runtime/base/status.h"
#include "runtime/loop/loop.h"

namespace wf::net {

struct Address {
  std::string host = "0.0.0.0";  // a numeric address, IPv4 or IPv6
  uint16_t port = 0;             // 0: the system picks one
  std::string path = {};         // of a Unix socket, in place of both; empty: none
  uint32_t mode = 0660;          // its permissions
  std::string ToString() const;  // "127.0.0.1:8080", "[::1]:8080", "unix:/run/a.sock"
};
// Whether Bind would have the address now; says what is wrong in its words. Nobody can connect meanwhile. Descriptors that Bind would keep
// are added to `held`.
base::Status CheckAddress(const Address& address, int inherited, std::vector<base::Descriptor>* held);

// Descriptors that are left to others where Acceptor::leaves_some says so.
constexpr uint64_t kLeftDescriptors = 8;
// Whether there is one more for a connection now, kLeftDescriptors left; says that too many files are open. Any thread.
base::Status CheckDescriptors();

// A listening socket whose connections are accepted on one loop.
// Thread: loop-confined.   Owns: the socket.   Borrows: loop, acceptor.
// Errors: Bind says what is wrong with the address or that the port is taken. The file of a Unix socket that nobody serves on any more is
// replaced, one that somebody serves on, or which is no socket, is not.
// Bounds: 64 connections accepted per turn. Without descriptors left, or with the last kLeftDescriptors where the acceptor leaves those, a
// waiting connection is accepted and closed; where not even that can be done it waits for kRestMs, so that the loop does not spin.
class Listener {
 public:
  class Acceptor {
   public:
    virtual ~Acceptor() = default;
    virtual void OnAccepted(int fd) noexcept = 0;  // takes the descriptor: non-blocking, close-on-exec
    virtual void OnDropped() noexcept {}           // a connection was closed for lack of descriptors
    virtual bool leaves_some() const noexcept { return false; }
  };

  Listener(loop::Loop& loop, Acceptor& acceptor);
  ~Listener();  // REQUIRES: Loop::Close was called
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Any thread, before Start. `inherited`: a socket that other processes hold too, bound by the first that has it, so that what connects
  // always finds somebody; its file is theirs to remove. -1: a socket of its own.
  base::Status Bind(const Address& address, int inherited = -1);
  const Address& address() const { return address_; }  // with the real port
  base::Status Start();                                // on the loop's thread, or before it runs
  void Close() noexcept;                               // accepts what waits, then closes the socket
  // Any thread. The file of a Unix socket goes, where it is still that of this one; Close does so too.
  void RemoveFile() noexcept;

 private:
  static constexpr uint64_t kRestMs = 100;
  struct Poll;
  base::Status BindFile(int inherited);
  base::Status Listen();
  void Watch() noexcept;
  void Rest() noexcept;
  void Drop(int fd) noexcept;
  bool Accept() noexcept;         // true: there may be more
  bool AcceptAndDrop() noexcept;  // false: errno says why not

  loop::Loop& loop_;
  Acceptor& acceptor_;
  Address address_;
  std::atomic<bool> has_file_{false};
  uint64_t file_device_ = 0, file_inode_ = 0;
  int fd_ = -1;
  int spare_fd_ = -1;  // given up for a moment when there are no descriptors left
  std::unique_ptr<Poll> poll_;
};

}  // namespace wf::net
