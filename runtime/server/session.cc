#include "runtime/server/session.h"

#include <new>

#include "runtime/server/http1_session.h"
#include "runtime/server/http2_session.h"

namespace wf::server {
namespace {

template <typename Kind>
Kind* TakeIdle(std::vector<Kind*>* idle, Sessions& owner) noexcept {
  if (idle->empty()) return new (std::nothrow) Kind(owner);
  Kind* const session = idle->back();
  idle->pop_back();
  return session;
}

template <typename Kind>
void KeepIdle(std::vector<Kind*>* idle, Kind& session, size_t most) noexcept {
  if (idle->size() < most)
    idle->push_back(&session);
  else
    delete &session;
}

}  // namespace

bool Session::ClaimUnsent(size_t bytes) noexcept {
  const size_t wanted = unsent() + bytes;
  if (wanted <= std::max(claimed_, kMaxUnclaimed)) return true;
  if (!owner_.site_.ClaimUnsent(static_cast<int64_t>(wanted - claimed_))) return false;
  claimed_ = wanted;
  return true;
}

void Session::UnclaimSent() noexcept {
  if (claimed_ == 0) return;
  const size_t left = connection_ == nullptr ? 0 : unsent();
  if (claimed_ <= left) return;
  owner_.site_.UnclaimUnsent(static_cast<int64_t>(claimed_ - left));
  claimed_ = left;
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
  UnclaimSent();
}

Sessions::~Sessions() {
  for (Http1Session* session : idle_http1_) delete session;
  for (Http2Session* session : idle_http2_) delete session;
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
