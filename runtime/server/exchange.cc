#include "runtime/server/exchange.h"

#include <new>
#include <utility>

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

ExchangePool::~ExchangePool() {
  while (idle_ != nullptr) {
    Exchange* const following = idle_->next;
    delete idle_;
    idle_ = following;
  }
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
  exchange.session = nullptr;
  GiveBackIfDone(exchange);
}

void ExchangePool::GiveBackIfDone(Exchange& exchange) noexcept {
  if (exchange.session != nullptr || exchange.bus != nullptr || exchange.elsewhere || exchange.grpc.kept_parts != 0) return;
  exchange.site->OnFinished(exchange);
  --in_use_;
  exchange.head.Clear();
  exchange.body.Clear();
  exchange.expanded.Clear();
  exchange.coding = coding::Coding::kIdentity;
  exchange.max_body_bytes = exchange.discarded = exchange.body_mark = 0;
  exchange.until_deadline = exchange.has_head = exchange.begun = false;
  exchange.answered = exchange.needs_place = exchange.admitted = exchange.takes_body = exchange.for_memory = exchange.allow_post =
      exchange.allow_get = false;
  exchange.let = true;
  exchange.workflow = nullptr;
  exchange.own_path = {};
  exchange.protocol = Protocol::kPlain;
  exchange.fields.Clear();
  exchange.claimed_bytes = exchange.received_at = exchange.timeout_ns = 0;
  exchange.oip = {};
  exchange.version = 0;
  exchange.data_id = 0;
  exchange.trace.Clear();
  exchange.log_id = {};
  exchange.metadata.clear();
  exchange.refusal_status = 0;
  exchange.refusal_code = 0;
  exchange.refusal.clear();
  Exchange* const call = exchange.grpc.call;
  if (exchange.grpc.on) exchange.grpc.Clear();
  Session* const told = std::exchange(exchange.returns_to, nullptr);
  if (idle_count_ >= kMaxIdle) {
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
