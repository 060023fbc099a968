#include "runtime/net/connections.h"

#include <new>
#include <utility>

#include "runtime/base/reserve.h"

namespace wf::net {

Connections::Connections(Wires& wires, HandlerFactory& factory, uint32_t max_open)
    : wires_(wires), factory_(factory), max_open_(max_open) {}

Connections::~Connections() {
  Delete(&first_);
  DropPooled();
}

void Connections::Delete(Connection** list) noexcept {
  while (*list != nullptr) delete std::exchange(*list, (*list)->next_);
}

void Connections::DropPooled() noexcept {
  Delete(&pool_);
  pooled_ = 0;
}

void Connections::Refuse(int fd) noexcept {
  wires_.Refuse(fd);
  factory_.OnRefused();
}

void Connections::Adopt(int fd) noexcept {
  if (open_ >= max_open_) return Refuse(fd);
  Connection* connection = pool_;
  if (connection != nullptr) {
    pool_ = connection->next_;
    --pooled_;
  } else {
    connection = new (std::nothrow) Connection(*this);
  }
  Handler* const handler = connection == nullptr ? nullptr : factory_.NewHandler(*connection);
  if (handler == nullptr) {
    if (connection != nullptr) {
      connection->next_ = pool_;
      pool_ = connection;
      ++pooled_;
    }
    return Refuse(fd);
  }
  connection->previous_ = nullptr;
  connection->next_ = first_;
  if (first_ != nullptr) first_->previous_ = connection;
  first_ = connection;
  ++open_;
  if (!connection->Open(fd, handler)) connection->Finish(Closed::kByError);
}

void Connections::MarkDirty(Connection& connection) noexcept {
  if (connection.dirty_) return;
  connection.dirty_ = true;
  connection.next_dirty_ = dirty_;
  dirty_ = &connection;
}

void Connections::FlushDirty() noexcept {
  waits_ = wires_.OnTurn();
  Connection* list = dirty_;
  dirty_ = nullptr;
  while (list != nullptr) {
    Connection& connection = *list;
    list = connection.next_dirty_;
    connection.dirty_ = false;
    connection.Flush();
  }
}

void Connections::OnSecond() noexcept {
  const int64_t now = wires_.now_ms();
  ForEach([now](Connection& connection) {
    if (connection.closing_) return;
    if (connection.paused_ && !connection.half_closed_ && connection.wire_->ended()) {
      connection.handler_->OnEndUnread();
      connection.FlushLater();
    }
    if (connection.closing_) return;
    if (connection.due_bytes_ != 0 && now >= connection.due_at_ms_) {
      connection.CutOff("an answer was not taken within `limits.answer_timeout`");
    } else if (connection.write_timeout_at_ms_ != 0 && now >= connection.write_timeout_at_ms_) {
      connection.OnWriteTimeout();
    } else if (connection.timeout_at_ms_ != 0 && now >= connection.timeout_at_ms_) {
      connection.timeout_at_ms_ = 0;
      connection.handler_->OnTimeout();
      connection.FlushLater();
    }
  });
}

void Connections::CloseAll() noexcept {
  ForEach([](Connection& connection) { connection.Close(); });
}

void Connections::Retire(Connection& connection) noexcept {
  if (connection.dirty_) {
    Connection** link = &dirty_;
    while (*link != &connection) link = &(*link)->next_dirty_;
    *link = connection.next_dirty_;
    connection.dirty_ = false;
  }
  (connection.previous_ == nullptr ? first_ : connection.previous_->next_) = connection.next_;
  if (connection.next_ != nullptr) connection.next_->previous_ = connection.previous_;
  --open_;
  if (pooled_ >= kMaxPooled || base::Reserve::memory_is_short()) {
    delete &connection;
    return;
  }
  connection.next_ = pool_;
  pool_ = &connection;
  ++pooled_;
}

}  // namespace wf::net
