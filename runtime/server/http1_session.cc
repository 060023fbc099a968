#include "runtime/server/http1_session.h"

#include <algorithm>

#include "runtime/base/error_codes.h"
#include "runtime/server/intake.h"

namespace wf::server {
namespace {

constexpr std::string_view kOthersWait = "requests of other connections that wait behind one another take all the memory there is for them",
                           kOtherHeads = "the headers of other requests that are still coming take all the memory there is for them",
                           kNoRoom = "other requests take all the memory there is for them; what waits behind them has no room";

}  // namespace

void Http1Session::Start(net::Connection& connection) noexcept {
  connection_ = &connection;
  decoder_ = http1::Decoder(owner_.limits_.head);
  exchange_ = nullptr;
  pending_.Clear();
  pending_at_ = 0;
  idle_ticks_ = 0;
  request_ = Request::kFirst;
  input_ = Input::kOpen;
  processing_ = false;
  connection.SetTimeout(owner_.limits_.header_ms);
}

void Http1Session::ArmIdle() noexcept { connection_->SetTimeout(owner_.limits_.idle_ms); }

void Http1Session::OnBytes(std::span<const uint8_t> bytes) noexcept {
  if (closing() || input_ == Input::kOverfull) return;
  const std::span<const uint8_t> rest = answering() || pending_bytes() != 0 ? bytes : Process(bytes);
  if (decoder_.is_http2() && request_ == Request::kFirst) return GoOnAsHttp2(rest);
  Hold(rest);
  if (!Settle() && counted_ != 0) GiveWay(kNoRoom);  // for the next ones of a peer that reads no answers Process waits
}

// The other session begins with the half of the preface that was taken for a head.
void Http1Session::GoOnAsHttp2(std::span<const uint8_t> rest) noexcept {
  net::Connection& connection = *connection_;
  FinishExchange();
  Session* const next = owner_.OpenHttp2(connection);
  if (next == nullptr) {
    input_ = Input::kClosing;
    return connection.Close();
  }
  connection.SetHandler(*next);
  End();
  next->OnBytes({reinterpret_cast<const uint8_t*>(http1::kHttp2Begin.data()), http1::kHttp2Begin.size()});
  next->OnBytes(rest);
}

// What was read goes before the buffer grows, once it is the larger part: each byte moves at most once.
void Http1Session::Hold(std::span<const uint8_t> bytes) noexcept {
  if (closing() || bytes.empty()) return;
  if (pending_at_ >= pending_bytes()) {
    pending_.DropFirst(pending_at_);
    pending_at_ = 0;
  }
  if (!pending_.Append(bytes)) return GiveWay(kMemoryShort);
  if (!CountWaiting(head_bytes_)) return GiveWay(kOthersWait);
  if (pending_bytes() < kMaxPending) return;
  input_ = Input::kHeld;
  connection_->PauseReading();
}

// Of a request that is answered the answer comes first, and what of others is written already.
void Http1Session::GiveWay(std::string_view why) noexcept {
  if (closing() || input_ == Input::kOverfull) return;
  if (exchange_ != nullptr && !answering()) {
    if (!exchange_->refused()) exchange_->RefuseForMemory(why);
    exchange_->body.Free();  // so that there is room for the answer
    return EndInRefusal(true);
  }
  input_ = Input::kOverfull;
  why_ = why;
  connection_->PauseReading();
  DropPending();
  (void)Settle();
  if (exchange_ == nullptr) GoOnNextTurn();
}

void Http1Session::DropPending() noexcept {
  pending_.Free();
  pending_at_ = 0;
  CountWaiting(head_bytes_);
}

void Http1Session::RefusePending() noexcept {
  if (!Begin()) return;
  exchange_->RefuseForMemory(why_);
  EndInRefusal(true);
}

bool Http1Session::Begin() noexcept {
  exchange_ = owner_.exchanges_.Take(*this, owner_.site_);
  if (exchange_ == nullptr) {
    input_ = Input::kClosing;
    connection_->Close();
    return false;
  }
  decoder_.set_limits(owner_.limits_.head);
  connection_->SetTimeout(owner_.limits_.header_ms);
  return true;
}

std::span<const uint8_t> Http1Session::Process(std::span<const uint8_t> bytes) noexcept {
  processing_ = true;
  ++reads_;
  for (int begun = 0; !closing() && !answering();) {
    if (exchange_ == nullptr) {
      if (bytes.empty()) break;
      if (connection_->out().size() >= owner_.limits_.of_connection.unsent_bytes || !ClaimUnsent(0)) break;  // OnFlushed goes on
      if (begun++ == kTurnRequests) {
        GoOnNextTurn();
        break;
      }
      if (!Begin()) break;
    }
    const http1::Event event = decoder_.Next(&bytes, &exchange_->head);
    if (event == http1::Event::kNeedMore) {
      if (decoder_.between_messages())
        FinishExchange();  // empty lines begin no request
      else if (decoder_.in_head())
        OnPartOfHead();
      break;
    }
    if (event == http1::Event::kHead) OnHead();
    if (event == http1::Event::kChunk) OnChunk();
    if (event == http1::Event::kBody) OnBody();
    if (event == http1::Event::kEnd) OnEnd();
    if (event == http1::Event::kHttp2) {
      if (request_ == Request::kFirst) break;
      AnswerBreach(505, "HTTP/2 begins where a connection does");
    }
    if (event == http1::Event::kError) OnError();
  }
  processing_ = false;
  return bytes;
}

// False: all connections together have more than they may.
bool Http1Session::CountWaiting(size_t head_bytes) noexcept {
  head_bytes_ = head_bytes;
  const size_t bytes = head_bytes + pending_.capacity();
  owner_.waiting_bytes_ += bytes - counted_;
  counted_ = bytes;
  return owner_.waiting_bytes_ <= owner_.limits_.waiting_bytes;
}

void Http1Session::OnPartOfHead() noexcept {
  if (CountWaiting(exchange_->head.stored_bytes())) return;
  GiveWay(kOtherHeads);
}

void Http1Session::OnHead() noexcept {
  CountWaiting(0);
  request_ = Request::kNext;
  Exchange& exchange = *exchange_;
  TakeHead(exchange);
  const int64_t length = exchange.head.content_length;
  if (length != 0) connection_->SetTimeout(kBodyCheckMs);
  if (exchange.refused() &&
      (length > static_cast<int64_t>(owner_.limits_.discarded_bytes) || (length != 0 && exchange.head.expects_continue))) {
    EndInRefusal(true);
  } else if (!exchange.refused() && exchange.head.expects_continue && length != 0) {
    http1::PutContinue(&connection_->out());
  }
}

// A chunk that would pass the limit is refused before it comes; one that is short enough is read, so that the connection can go on.
void Http1Session::OnChunk() noexcept {
  const uint64_t bytes = decoder_.chunk_bytes();
  AnnounceBody(*exchange_, bytes);
  if (exchange_->refused() && exchange_->discarded + bytes > owner_.limits_.discarded_bytes) EndInRefusal(true);
}

void Http1Session::OnBody() noexcept {
  TakeBody(*exchange_, decoder_.body());
  if (exchange_->discarded > owner_.limits_.discarded_bytes) EndInRefusal(true);
}

void Http1Session::OnEnd() noexcept {
  request_ = Request::kAnswering;
  TakeEnd(*exchange_);
  if (exchange_->refused() && !exchange_->begun) return EndInRefusal(false);
  connection_->SetTimeout(0);
  if (exchange_->answered) FinishExchange();
}

void Http1Session::OnError() noexcept {
  if (decoder_.status() == http::kNoMemory)
    GiveWay(decoder_.reason());
  else
    AnswerBreach(decoder_.status(), decoder_.reason());
}

void Http1Session::EndInRefusal(bool close) noexcept {
  if (close) exchange_->head.keep_alive = false;
  AnswerRefusal(*exchange_);
  FinishExchange();
}

// Bytes that are not HTTP: the answer says why, and the connection ends.
void Http1Session::AnswerBroken(int status, std::string_view reason) noexcept {
  const int32_t code = status == 408 ? code::kTimeout : status >= 500 ? code::kNotImplemented : code::kInputParams;
  exchange_->Refuse(status, code, reason);
  EndInRefusal(true);
}

void Http1Session::AnswerBreach(int status, std::string_view reason) noexcept {
  constexpr int kSlow = 408, kTooLarge = 413, kLongTarget = 414, kManyFields = 431;
  const bool passes = status == kTooLarge || status == kLongTarget || status == kManyFields;
  owner_.site_.OnBreach(status == kSlow ? http::Breach::kSlow : passes ? http::Breach::kLimit : http::Breach::kProtocol, reason);
  AnswerBroken(status, reason);
}

void Http1Session::Put(Exchange& exchange, const http::ReplyHead& head, wf_sink& body) noexcept {
  const bool ends = owner_.site_.closing() && exchange.head.keep_alive;  // which the client does not know, and may have sent more
  if (ends) exchange.head.keep_alive = false;
  wf_sink& out = connection_->out();
  http::ReplyHead whole = head;
  whole.more = owner_.site_.FieldsOf(exchange);
  bool fits = http1::PutHead(&out, whole, {body.size(), exchange.head.keep_alive, exchange.head.http_1_0});
  if (exchange.head.method == http::Method::kHead)
    body.Clear();
  else
    fits = out.Append(body) && fits;
  exchange.answered = true;
  if (!fits) {
    input_ = Input::kClosing;
    connection_->Close();
  } else if (!exchange.head.keep_alive) {
    input_ = Input::kClosing;
    connection_->CloseAfterFlush(ends || exchange.refused());
  }
  if (processing_) return;
  connection_->FlushLater();
  GoOnNextTurn();
}

// The answer is in the connection's buffer.
void Http1Session::FinishExchange() noexcept {
  CountWaiting(0);
  Exchange& done = *exchange_;
  exchange_ = nullptr;
  if (answering()) request_ = Request::kNext;
  owner_.exchanges_.Detach(done);
  if (!closing()) ArmIdle();
}

void Http1Session::Resume() noexcept {
  if (exchange_ != nullptr) {
    if (!exchange_->answered) return;
    FinishExchange();
  }
  if (input_ == Input::kOverfull) return RefusePending();
  if (closing()) return DropPending();
  if (pending_bytes() == 0) return;
  pending_at_ = pending_.size() - Process(std::span<const uint8_t>(pending_).subspan(pending_at_)).size();
  connection_->FlushLater();
  if (closing() || pending_bytes() == 0) DropPending();
  if (input_ == Input::kEnded && !HasLastWords()) return connection_->Close();
  if (input_ != Input::kHeld || pending_bytes() >= kMaxPending) return;
  input_ = Input::kOpen;
  connection_->ResumeReading();
}

void Http1Session::OnDrainTick() noexcept {
  if (closing() || exchange_ != nullptr || pending_bytes() != 0 || connection_->has_unread()) return;
  if (++idle_ticks_ == kIdleTicks) connection_->CloseAfterFlush(true);
  if (idle_ticks_ >= kIdleTicks + kLingerTicks && connection_->lingering()) connection_->Close();
}

void Http1Session::Abort() noexcept {
  if (closing()) return;
  if (exchange_ == nullptr) return connection_->CloseAfterFlush();
  if (exchange_->answered) return connection_->CloseAfterFlush();
  exchange_->Refuse(503, code::kClosed, "the server stops");
  EndInRefusal(true);
}

void Http1Session::OnMemoryShort() noexcept {
  const bool comes = exchange_ != nullptr && !answering();
  if (comes || !pending_.empty()) GiveWay(kMemoryShort);
}

void Http1Session::OnFlushed() noexcept {
  (void)Settle();
  if (exchange_ == nullptr && pending_bytes() != 0) GoOnNextTurn();
}

void Http1Session::OnTimeout() noexcept {
  if (answering() || closing()) return;
  if (exchange_ == nullptr && pending_bytes() != 0) {
    ArmIdle();
  } else if (exchange_ == nullptr || decoder_.between_messages()) {
    connection_->CloseAfterFlush();  // of a slow reader the answer may still be on its way
  } else if (decoder_.in_head()) {
    AnswerBreach(408, "the head of the request did not arrive in time");
  } else if (LookAtBody(*exchange_, owner_.limits_.body_rate)) {
    connection_->SetTimeout(kBodyCheckMs);
  } else {
    owner_.site_.OnBreach(http::Breach::kSlow, kSlowBody);
    EndInRefusal(true);
  }
}

void Http1Session::OnLate(Exchange& exchange) noexcept {
  if (closing() || exchange.refused()) return;
  if (RefuseLate(exchange))
    EndInRefusal(true);
  else
    exchange.site->Arm(exchange);  // a configuration has moved it
}

bool Http1Session::OnHalfClosed() noexcept {
  if (input_ == Input::kOpen || input_ == Input::kHeld) input_ = Input::kEnded;
  return closing() || HasLastWords();
}

// Requests that it has sent are still to be read; only who waits for an answer has left.
void Http1Session::OnEndUnread() noexcept {
  if (answering() && !exchange_->answered && !OnHalfClosed()) connection_->Close();
}

// To a peer that sends no more. Who waits for an answer has left (docs/adr/0044); what came whole before is answered, what is answered is
// sent, and half a request is told that it is one.
bool Http1Session::HasLastWords() noexcept {
  if (!answering() && pending_bytes() != 0) return true;  // read in turns to come
  if (!answering() && exchange_ != nullptr && exchange_->refused()) {
    EndInRefusal(true);
  } else if (!answering() && exchange_ != nullptr && !decoder_.between_messages()) {
    AnswerBroken(400, "the connection ends before the request is whole");
  } else if (!connection_->out().empty()) {
    connection_->CloseAfterFlush();
  } else {
    return false;
  }
  return true;
}

void Http1Session::OnClosed(net::Closed) noexcept {
  if (exchange_ != nullptr) {
    Exchange& left = *exchange_;
    exchange_ = nullptr;
    if (!left.answered) TellGone(left);
    owner_.exchanges_.Detach(left);
  }
  End();
}

void Http1Session::End() noexcept {
  Leave();
  head_bytes_ = 0;
  DropPending();
  owner_.GiveBack(*this);
}

}  // namespace wf::server
