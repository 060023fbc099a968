#include "runtime/server/http_session.h"

#include <algorithm>

#include "runtime/base/error_codes.h"
#include "runtime/protocol/plain/plain.h"

namespace wf::server {
namespace {

constexpr wf_plan kNoPlan = {};  // refusals are given by the runtime, never by a program
constexpr int64_t kBodyCheckMs = 5'000;
constexpr uint64_t kBodyBytesPerCheck = 5 * 1024;  // 1 KiB/s

}  // namespace

HttpSessions::~HttpSessions() {
  for (HttpSession* session : idle_) delete session;
}

HttpSession* HttpSessions::Open(net::Connection& connection) noexcept {
  HttpSession* session = nullptr;
  if (idle_.empty()) {
    session = new (std::nothrow) HttpSession(*this);
    if (session == nullptr) return nullptr;
  } else {
    session = idle_.back();
    idle_.pop_back();
  }
  session->Start(connection);
  return session;
}

// A session that is listed meanwhile waits for the next turn, so that those with much to ask leave room for the others.
void HttpSessions::ResumeWaiting() noexcept {
  resuming_.swap(waiting_);
  for (size_t i = 0; i < resuming_.size(); ++i) {
    HttpSession* const session = resuming_[i];
    if (session == nullptr) continue;
    session->listed_ = false;
    session->Resume();
  }
  resuming_.clear();
}

void HttpSession::Start(net::Connection& connection) noexcept {
  connection_ = &connection;
  decoder_ = http1::Decoder(owner_.limits_.head);
  exchange_ = nullptr;
  pending_.clear();
  pending_at_ = 0;
  discarded_ = body_mark_ = 0;
  waiting_ = processing_ = closing_ = held_ = overfull_ = listed_ = false;
  connection.SetTimeout(owner_.limits_.header_ms);
}

void HttpSession::ArmIdle() noexcept { connection_->SetTimeout(owner_.limits_.idle_ms); }

void HttpSession::OnBytes(std::span<const uint8_t> bytes) noexcept {
  if (closing_ || overfull_) return;
  Hold(waiting_ || pending_bytes() != 0 ? bytes : Process(bytes));
}

// What was read goes before the buffer grows, once it is the larger part: each byte moves at most once.
void HttpSession::Hold(std::span<const uint8_t> bytes) noexcept {
  if (closing_ || bytes.empty()) return;
  if (pending_at_ >= pending_bytes()) {
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<ptrdiff_t>(pending_at_));
    pending_at_ = 0;
  }
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  overfull_ = !CountWaiting(head_bytes_);
  if (!overfull_ && pending_bytes() < kMaxPending) return;
  held_ = true;
  connection_->PauseReading();
  if (!overfull_) return;
  DropPending();
  if (exchange_ == nullptr) GoOnNextTurn();
}

void HttpSession::DropPending() noexcept {
  pending_ = {};
  pending_at_ = 0;
  CountWaiting(head_bytes_);
}

void HttpSession::RefusePending() noexcept {
  if (!Begin()) return;
  exchange_->RefuseForMemory("requests of other connections that wait behind one another take all the memory there is for them");
  AnswerRefusal(true);
}

void HttpSession::GoOnNextTurn() noexcept {
  if (listed_) return;
  listed_ = true;
  owner_.waiting_.push_back(this);
}

bool HttpSession::Begin() noexcept {
  exchange_ = owner_.exchanges_.Take(*this, owner_.site_);
  if (exchange_ == nullptr) {
    closing_ = true;
    connection_->Close();
    return false;
  }
  connection_->SetTimeout(owner_.limits_.header_ms);
  return true;
}

std::span<const uint8_t> HttpSession::Process(std::span<const uint8_t> bytes) noexcept {
  processing_ = true;
  for (int begun = 0; !closing_ && !waiting_;) {
    if (exchange_ == nullptr) {
      if (bytes.empty()) break;
      if (connection_->out().size() >= net::Connection::kHighMarkBytes || !ClaimUnsent(0)) break;  // OnFlushed goes on
      if (begun++ == kTurnRequests) {
        GoOnNextTurn();
        break;
      }
      if (!Begin()) break;
    }
    const http1::Event event = decoder_.Next(&bytes, &exchange_->head);
    if (event == http1::Event::kNeedMore) {
      if (decoder_.in_head()) OnPartOfHead();
      break;
    }
    if (event == http1::Event::kHead) OnHead();
    if (event == http1::Event::kChunk) OnChunk();
    if (event == http1::Event::kBody) OnBody();
    if (event == http1::Event::kEnd) OnEnd();
    if (event == http1::Event::kError) AnswerBroken(decoder_.status(), decoder_.reason());
  }
  processing_ = false;
  return bytes;
}

// False: all connections together have more than they may.
bool HttpSession::CountWaiting(size_t head_bytes) noexcept {
  head_bytes_ = head_bytes;
  const size_t bytes = head_bytes + pending_.capacity();
  owner_.waiting_bytes_ += bytes - counted_;
  counted_ = bytes;
  return owner_.waiting_bytes_ <= owner_.limits_.waiting_bytes;
}

void HttpSession::OnPartOfHead() noexcept {
  if (CountWaiting(exchange_->head.stored_bytes())) return;
  exchange_->RefuseForMemory("the headers of other requests that are still coming take all the memory there is for them");
  AnswerRefusal(true);
}

void HttpSession::OnHead() noexcept {
  CountWaiting(0);
  Exchange& exchange = *exchange_;
  owner_.site_.OnHead(exchange);
  const int64_t length = exchange.head.content_length;
  if (exchange.refusal_status == 0 && length > 0 && static_cast<uint64_t>(length) > exchange.max_body_bytes) RefuseSize();
  if (exchange.refusal_status == 0 && exchange.takes_body && length > 0 && !exchange.body.Reserve(static_cast<size_t>(length)))
    exchange.RefuseForMemory("no memory for the body");
  discarded_ = body_mark_ = 0;
  if (length != 0) ArmBody();
  if (exchange.refusal_status != 0 && (length > static_cast<int64_t>(kMaxDiscarded) || (length != 0 && exchange.head.expects_continue))) {
    AnswerRefusal(true);
  } else if (exchange.refusal_status == 0 && exchange.head.expects_continue && length != 0) {
    http1::PutContinue(&connection_->out());
  }
}

void HttpSession::RefuseSize() noexcept {
  exchange_->Refuse(413, code::kInputParams,
                    "the body is larger than the " + std::to_string(exchange_->max_body_bytes) + " bytes that the service takes");
}

// A chunk that would pass the limit is refused before it comes; one that is short enough is read, so that the connection can go on.
void HttpSession::OnChunk() noexcept {
  const uint64_t bytes = decoder_.chunk_bytes();
  if (exchange_->refusal_status == 0 && bytes > exchange_->max_body_bytes - received()) RefuseSize();
  if (exchange_->refusal_status != 0 && bytes > kMaxDiscarded - discarded_) AnswerRefusal(true);
}

void HttpSession::OnBody() noexcept {
  Exchange& exchange = *exchange_;
  const std::span<const uint8_t> part = decoder_.body();
  const bool grows = exchange.takes_body && exchange.head.content_length < 0;
  if (exchange.refusal_status == 0 && grows) owner_.site_.Claim(exchange, static_cast<int64_t>(exchange.body.size() + part.size()));
  if (exchange.refusal_status == 0 && exchange.takes_body) {
    if (exchange.body.Append(part)) return;
    exchange.RefuseForMemory("no memory for the body");
  }
  discarded_ += part.size();
  if (discarded_ > kMaxDiscarded) AnswerRefusal(true);
}

// Until the next look at how fast the body comes, or until the deadline.
void HttpSession::ArmBody() noexcept {
  const int64_t left = owner_.site_.MsLeft(*exchange_);
  until_deadline_ = exchange_->refusal_status == 0 && left <= kBodyCheckMs;
  connection_->SetTimeout(until_deadline_ ? std::max<int64_t>(left, 1) : kBodyCheckMs);
}

bool HttpSession::RefuseLate() noexcept {
  if (exchange_->refusal_status != 0 || owner_.site_.MsLeft(*exchange_) > 0) return false;
  exchange_->Refuse(504, code::kTimeout, "the deadline passed before the whole body had come");
  return true;
}

void HttpSession::OnEnd() noexcept {
  if (exchange_->head.content_length != 0) RefuseLate();
  if (exchange_->refusal_status != 0) return AnswerRefusal(false);
  connection_->SetTimeout(0);
  waiting_ = true;
  owner_.site_.OnRequest(*exchange_);
  if (exchange_->answered) FinishExchange();
}

void HttpSession::AnswerRefusal(bool close) noexcept {
  Exchange& exchange = *exchange_;
  wf_sink body;
  const protocol::CodeInfo info = protocol::InfoOf(kNoPlan, exchange.refusal_code);
  const ProtocolRow& row = RowOf(exchange.protocol);
  // Load and time have a status of each protocol; the others are those of HTTP.
  if (exchange.refusal_code == code::kRefused || exchange.refusal_code == code::kTimeout)
    exchange.refusal_status = row.status_of(info.status);
  const uint64_t data_id = owner_.site_.OnRefused(exchange);
  row.write_error({exchange.refusal_code, info.name, exchange.refusal, {}, data_id, exchange.log_id}, &body);
  if (close) exchange.head.keep_alive = false;
  const bool retry = protocol::IsForLoad(exchange.refusal_code);
  const http1::Header header = retry ? kRetrySoon : http1::Header{"allow", exchange.allow_post ? "POST" : "GET, HEAD"};
  const bool has_header = retry || exchange.refusal_status == 405;
  const bool under_way = waiting_;
  waiting_ = true;
  Reply(exchange, exchange.refusal_status, plain::kJson, {&header, has_header ? size_t{1} : size_t{0}}, body);
  if (under_way) owner_.site_.Cancel(exchange);
  FinishExchange();
}

// Bytes that are not HTTP: the answer says why, and the connection ends.
void HttpSession::AnswerBroken(int status, std::string_view reason) noexcept {
  exchange_->Refuse(status, code::kInputParams, std::string(reason));
  AnswerRefusal(true);
}

void HttpSession::Reply(Exchange& exchange, int status, std::string_view content_type, std::span<const http1::Header> headers,
                        wf_sink& body) noexcept {
  if (owner_.site_.closing()) exchange.head.keep_alive = false;
  http1::ReplyHead head;
  head.status = status;
  head.content_type = content_type;
  head.content_length = body.size();
  head.keep_alive = exchange.head.keep_alive;
  head.http_1_0 = exchange.head.http_1_0;
  head.headers = headers;
  wf_sink& out = connection_->out();
  bool fits = http1::PutHead(&out, head);
  if (exchange.head.method == http1::Method::kHead)
    body.Clear();
  else
    fits = out.Append(body) && fits;
  exchange.answered = true;
  if (!fits) {
    closing_ = true;
    connection_->Close();
  } else if (!exchange.head.keep_alive) {
    closing_ = true;
    connection_->CloseAfterFlush(exchange.refusal_status != 0);
  }
  if (processing_) return;
  connection_->FlushLater();
  GoOnNextTurn();
}

bool HttpSession::ClaimUnsent(size_t bytes) noexcept {
  const size_t unsent = connection_->out().size() + bytes;
  if (unsent <= std::max(claimed_, kMaxUnclaimed)) return true;
  if (!owner_.site_.ClaimUnsent(static_cast<int64_t>(unsent - claimed_))) return false;
  claimed_ = unsent;
  return true;
}

void HttpSession::UnclaimUnsent() noexcept {
  if (claimed_ != 0) owner_.site_.UnclaimUnsent(static_cast<int64_t>(claimed_));
  claimed_ = 0;
}

// The answer is in the connection's buffer.
void HttpSession::FinishExchange() noexcept {
  CountWaiting(0);
  Exchange& done = *exchange_;
  exchange_ = nullptr;
  waiting_ = false;
  owner_.exchanges_.Detach(done);
  if (!closing_) ArmIdle();
}

void HttpSession::Resume() noexcept {
  if (exchange_ != nullptr) {
    if (!exchange_->answered) return;
    FinishExchange();
  }
  if (!closing_ && overfull_) return RefusePending();
  if (closing_ || pending_bytes() == 0) return;
  pending_at_ = pending_.size() - Process(std::span(pending_).subspan(pending_at_)).size();
  connection_->FlushLater();
  if (pending_bytes() == 0) DropPending();
  if (!held_ || pending_bytes() >= kMaxPending) return;
  held_ = false;
  connection_->ResumeReading();
}

void HttpSession::Abort() noexcept {
  if (closing_) return;
  if (exchange_ == nullptr) return connection_->CloseAfterFlush();
  if (exchange_->answered) return connection_->CloseAfterFlush();
  exchange_->Refuse(503, code::kClosed, "the server stops");
  AnswerRefusal(true);
}

void HttpSession::OnFlushed() noexcept {
  UnclaimUnsent();
  if (exchange_ == nullptr && pending_bytes() != 0) GoOnNextTurn();
}

void HttpSession::OnTimeout() noexcept {
  if (waiting_ || closing_) return;
  if (exchange_ == nullptr && pending_bytes() != 0) {
    ArmIdle();
  } else if (exchange_ == nullptr || decoder_.between_messages()) {
    connection_->CloseAfterFlush();  // of a slow reader the answer may still be on its way
  } else if (decoder_.in_head()) {
    AnswerBroken(408, "the head of the request did not arrive in time");
  } else if (RefuseLate()) {
    AnswerRefusal(true);
  } else if (until_deadline_) {
    ArmBody();
  } else {
    if (received() - body_mark_ < kBodyBytesPerCheck) return AnswerBroken(408, "the body of the request arrives too slowly");
    body_mark_ = received();
    ArmBody();
  }
}

void HttpSession::OnClosed(net::Closed) noexcept {
  UnclaimUnsent();
  if (exchange_ != nullptr) {
    Exchange& left = *exchange_;
    exchange_ = nullptr;
    if (!left.answered && (waiting_ || !decoder_.in_head())) {
      owner_.site_.OnGone(left);  // before Cancel: what it tells of the request may be in the memory of its bus
      if (waiting_) owner_.site_.Cancel(left);
    }
    owner_.exchanges_.Detach(left);
  }
  for (auto* const list : {&owner_.waiting_, &owner_.resuming_})
    if (listed_) std::replace(list->begin(), list->end(), this, static_cast<HttpSession*>(nullptr));
  connection_ = nullptr;
  head_bytes_ = 0;
  DropPending();
  if (owner_.idle_.size() < HttpSessions::kMaxIdle)
    owner_.idle_.push_back(this);
  else
    delete this;
}

}  // namespace wf::server
