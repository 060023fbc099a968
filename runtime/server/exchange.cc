#include "runtime/server/exchange.h"

#include <new>
#include <utility>

#include "runtime/base/reserve.h"
#include "runtime/server/session.h"

namespace wf::server {

void Exchange::OnAnswered(bus::Bus&) noexcept { site->OnAnswered(*this); }

void Exchange::OnHidden(bus::Bus& asked, const bus::Failure& cause, const bus::Failure* by) noexcept {
  site->OnHidden(*this, asked, cause, by);
}

void Exchange::OnDrained(bus::Bus& drained) noexcept {
  if (drained.spans() != nullptr) site->OnTraced(*this, drained);
  bus = nullptr;
  pool.GiveBackIfDone(*this);
}

void Exchange::Late::OnTime(base::TimerNode& node) noexcept {
  Exchange& exchange = static_cast<Late&>(node).exchange;
  if (exchange.elsewhere != nullptr)
    exchange.site->OnLate(exchange);
  else
    exchange.session->OnLate(exchange);
}

ExchangePool::~ExchangePool() { DropIdle(); }

void ExchangePool::DropIdle() noexcept {
  while (idle_ != nullptr) delete std::exchange(idle_, idle_->next);
  idle_count_ = 0;
}

Exchange* ExchangePool::Take(Session& session, Site& site) noexcept {
  Exchange* exchange = idle_;
  if (exchange != nullptr) {
    idle_ = exchange->next;
    --idle_count_;
  } else {
    exchange = new (std::nothrow) Exchange(*this);
    if (exchange == nullptr) return nullptr;
  }
  ++in_use_;
  exchange->session = &session;
  exchange->site = &site;
  return exchange;
}

void ExchangePool::Detach(Exchange& exchange) noexcept {
  exchange.site->Disarm(exchange);
  exchange.session->Drop(exchange);
  exchange.session = nullptr;
  GiveBackIfDone(exchange);
}

void ExchangePool::GiveBackIfDone(Exchange& exchange) noexcept {
  if (exchange.session != nullptr || exchange.bus != nullptr || exchange.elsewhere != nullptr || exchange.grpc.kept_parts != 0) return;
  exchange.site->OnFinished(exchange);
  --in_use_;
  Session* const told = exchange.returns_to;
  static_cast<RequestState&>(exchange) = {};
  exchange.head.Clear();
  exchange.body.Clear();
  exchange.expanded.Clear();
  exchange.fields.Clear();
  exchange.trace.Clear();
  exchange.metadata.clear();
  exchange.refusal.clear();
  Exchange* const call = exchange.grpc.call;
  if (exchange.grpc.on) exchange.grpc.Clear();
  if (idle_count_ >= kMaxIdle || base::Reserve::memory_is_short()) {
    delete &exchange;
  } else {
    exchange.next = idle_;
    idle_ = &exchange;
    ++idle_count_;
  }
  if (told != nullptr) told->OnReturned();
  if (call == nullptr) return;
  --call->grpc.kept_parts;
  GiveBackIfDone(*call);
}

}  // namespace wf::server
