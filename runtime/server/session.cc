#include "runtime/server/session.h"

#include <new>

#include "runtime/server/http1_session.h"

namespace wf::server {

bool Session::ClaimUnsent(size_t bytes) noexcept {
  const size_t wanted = unsent() + bytes;
  if (wanted <= std::max(claimed_, kMaxUnclaimed)) return true;
  if (!owner_.site_.ClaimUnsent(static_cast<int64_t>(wanted - claimed_))) return false;
  claimed_ = wanted;
  return true;
}

void Session::UnclaimSent() noexcept {
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
  for (Http1Session* session : idle_) delete session;
}

Session* Sessions::Open(net::Connection& connection) noexcept {
  Http1Session* session = nullptr;
  if (idle_.empty()) {
    session = new (std::nothrow) Http1Session(*this);
    if (session == nullptr) return nullptr;
  } else {
    session = idle_.back();
    idle_.pop_back();
  }
  session->Start(connection);
  return session;
}

void Sessions::GiveBack(Http1Session& session) noexcept {
  if (idle_.size() < kMaxIdle)
    idle_.push_back(&session);
  else
    delete &session;
}

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
