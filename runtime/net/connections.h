#pragma once

#include <cstdint>

#include "runtime/net/connection.h"

namespace wf::net {

// Makes the handler of a new connection, which may set its time limit already, or null to refuse it.
class HandlerFactory {
 public:
  virtual ~HandlerFactory() = default;
  virtual Handler* NewHandler(Connection& connection) noexcept = 0;
  virtual void OnRefused() noexcept {}                          // a connection was closed unread: too many are open, or there is no memory
  virtual void OnHandshakeFailed(std::string_view) noexcept {}  // of a connection, which closes; why: a constant text
  virtual void OnBreach(std::string_view) noexcept {}  // of a limit, below the protocol; the connection closes; why: a constant text
  virtual void OnCutOff(std::string_view) noexcept {
  }  // the peer does not take what it is sent; the connection closes; why: a constant text
};

// The connections of one loop.
// Thread: loop-confined.   Owns: connections, open and pooled.   Borrows: wires, factory.
// Bounds: at most max_open connections; the pool keeps 1,024.   Cost: OnSecond O(open).
class Connections {
 public:
  Connections(Wires& wires, HandlerFactory& factory, uint32_t max_open = UINT32_MAX);
  ~Connections();  // REQUIRES: every wire is closed
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  void Adopt(int fd) noexcept;                 // takes the descriptor, also when the connection cannot be made
  void Refuse(int fd) noexcept;                // the same, and makes none
  void FlushDirty() noexcept;                  // at the end of a turn
  bool has_waiting() const { return waits_; }  // the loop must not sleep
  void OnSecond() noexcept;                    // fires time limits
  void CloseAll() noexcept;
  void DropPooled() noexcept;  // frees what is kept for connections to come
  template <typename Function>
  void ForEach(Function&& function) {
    for (Connection* at = first_; at != nullptr;) {
      Connection* const next = at->next_;
      function(*at);
      at = next;
    }
  }
  uint32_t count() const noexcept { return open_; }

  void set_limits(const ConnectionLimits& limits) { limits_ = limits; }

 private:
  friend class Connection;
  static constexpr uint32_t kMaxPooled = 1024;
  void MarkDirty(Connection& connection) noexcept;
  void Retire(Connection& connection) noexcept;  // its wire is closed
  static void Delete(Connection** list) noexcept;

  Wires& wires_;
  HandlerFactory& factory_;
  const uint32_t max_open_;
  Connection* dirty_ = nullptr;
  Connection* first_ = nullptr;
  Connection* pool_ = nullptr;
  uint32_t open_ = 0, pooled_ = 0;
  bool waits_ = false;
  ConnectionLimits limits_;
};

}  // namespace wf::net
