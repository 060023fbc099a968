#include "runtime/server/session.h"

#include <new>
#include <utility>

#include "runtime/base/reserve.h"
#include "runtime/server/http1_session.h"
#include "runtime/server/http2_session.h"
#include "runtime/server/intake.h"

namespace wf::server {
namespace {

constexpr size_t kShort = 1024;     // an answer that is told even where there is no room for it
constexpr size_t kStep = 4 * 1024;  // of claims

template <typename Kind>
Kind* TakeIdle(std::vector<Kind*>* idle, Sessions& owner) noexcept {
  if (idle->empty()) return new (std::nothrow) Kind(owner);
  Kind* const session = idle->back();
  idle->pop_back();
  return session;
}

template <typename Kind>
void KeepIdle(std::vector<Kind*>* idle, Kind& session, size_t most) noexcept {
  if (idle->size() < most && !base::Reserve::memory_is_short())
    idle->push_back(&session);
  else
    delete &session;
}

}  // namespace

void Session::Reply(Exchange& exchange, const http::ReplyHead& head, wf_sink& body) noexcept {
  if (body.size() <= kShort || exchange.refused() || ClaimUnsent(body.size())) return Put(exchange, head, body);
  exchange.RefuseForMemory("other requests take all the memory there is for them; the answer has no room");
  AnswerRefusal(exchange);
}

// In steps, so that what comes in small parts costs others little.
bool Session::Claim(size_t wanted) noexcept {
  if (wanted <= std::max(claimed_, kMaxUnclaimed)) return true;
  const size_t stepped = (wanted + kStep - 1) / kStep * kStep;
  if (!owner_.site_.ClaimUnsent(static_cast<int64_t>(stepped - claimed_))) return false;
  claimed_ = stepped;
  return true;
}

bool Session::ClaimUnsent(size_t bytes, base::MemoryClaim* claim) noexcept {
  const size_t before = claim == nullptr ? 0 : static_cast<size_t>(claim->bytes());
  claimed_ += before;
  const bool has_room = Claim(held() + bytes);
  if (!has_room) claimed_ -= before;
  if (has_room && claim != nullptr) claim->Leave();
  return has_room;
}

void Session::Keep(Exchange& exchange) noexcept {
  const size_t bytes = request_bytes_ + exchange.head.stored_bytes() + (exchange.claimed_bytes == 0 ? exchange.body.size() : 0);
  kept_ += bytes - exchange.kept_bytes;
  exchange.kept_bytes = bytes;
  if (exchange.refused() || Claim(held())) return;
  exchange.RefuseForMemory("other requests take all the memory there is for them; what is coming has no room");
  exchange.body.Free();  // of HTTP/1.1 the refusal waits for the rest
}

void Session::Drop(Exchange& exchange) noexcept { kept_ -= std::exchange(exchange.kept_bytes, 0); }

bool Session::Settle() noexcept {
  const size_t now = held();
  const size_t worth = now <= kMaxUnclaimed ? 0 : (now + kStep - 1) / kStep * kStep;
  if (claimed_ > worth) owner_.site_.UnclaimUnsent(static_cast<int64_t>(claimed_ - worth));
  if (claimed_ < worth && !owner_.site_.ClaimLast(static_cast<int64_t>(worth - claimed_))) return false;
  claimed_ = worth;
  return true;
}

void Session::GoOnNextTurn() noexcept {
  if (listed_) return;
  listed_ = true;
  owner_.waiting_.push_back(this);
}

void Session::Leave() noexcept {
  for (auto* const list : {&owner_.waiting_, &owner_.resuming_})
    if (listed_) std::replace(list->begin(), list->end(), this, static_cast<Session*>(nullptr));
  listed_ = false;
  connection_ = nullptr;
  kept_ = 0;
  (void)Settle();  // nothing is held
}

Sessions::~Sessions() { DropIdle(); }

void Sessions::DropIdle() noexcept {
  for (Http1Session* session : std::exchange(idle_http1_, {})) delete session;
  for (Http2Session* session : std::exchange(idle_http2_, {})) delete session;
  exchanges_.DropIdle();
  http2_.DropIdle();
}

Session* Sessions::Open(net::Connection& connection) noexcept {
  Http1Session* const session = TakeIdle(&idle_http1_, *this);
  if (session != nullptr) session->Start(connection);
  return session;
}

Session* Sessions::OpenHttp2(net::Connection& connection) noexcept {
  Http2Session* const session = TakeIdle(&idle_http2_, *this);
  if (session == nullptr || session->Start(connection)) return session;
  GiveBack(*session);
  return nullptr;
}

void Sessions::GiveBack(Http1Session& session) noexcept { KeepIdle(&idle_http1_, session, kMaxIdle); }
void Sessions::GiveBack(Http2Session& session) noexcept { KeepIdle(&idle_http2_, session, kMaxIdle); }

// A session that is listed meanwhile waits for the next turn, so that those with much to ask leave room for the others.
void Sessions::ResumeWaiting() noexcept {
  resuming_.swap(waiting_);
  for (size_t i = 0; i < resuming_.size(); ++i) {
    Session* const session = resuming_[i];
    if (session == nullptr) continue;
    session->listed_ = false;
    session->Resume();
  }
  resuming_.clear();
}

}  // namespace wf::server
