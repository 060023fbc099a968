#include "runtime/server/http2_session.h"

#include <algorithm>

#include "runtime/net/connections.h"
#include "runtime/protocol/grpc/head.h"
#include "runtime/server/grpc_calls.h"
#include "runtime/server/intake.h"

namespace wf::server {
namespace {

constexpr int64_t kTickMs = 1'000;
constexpr size_t kExchangeBytes = 2 * 1024;  // with the room of its fields

Exchange* ExchangeOf(http2::Stream& stream) { return static_cast<Exchange*>(stream.user); }

// Of a head that is refused, as far as it was read: clients of gRPC take no other answer.
void NoteGrpc(Exchange& exchange) {
  if (!grpc::IsContentType(exchange.head.Find("content-type"))) return;
  exchange.protocol = Protocol::kGrpc;
  exchange.grpc.on = true;
}

}  // namespace

Http2Session::Http2Session(Sessions& owner) : Session(owner, kExchangeBytes), session_(owner.http2_, *this) {}

bool Http2Session::Start(net::Connection& connection) noexcept {
  connection_ = &connection;
  held_calls_ = 0;
  drain_ticks_ = 0;
  stall_ms_ = 0;
  may_read_ = true;
  closing_ = processing_ = false;
  waits_for_ = Wait::kNothing;
  streams_ = owner_.limits_.of_http2.streams;
  if (session_.Open(owner_.limits_.of_http2)) return true;
  session_.Close();
  connection_ = nullptr;
  return false;
}

void Http2Session::OnBytes(std::span<const uint8_t> bytes) noexcept {
  if (closing_ || !may_read_) return;
  processing_ = true;
  ++reads_;
  session_.set_head_limits(owner_.limits_.head);
  may_read_ = session_.Receive(bytes, connection_->now_ms());
  if (session_.has_ended()) GiveUp();
  TakeHeld();
  BeginWhole();
  processing_ = false;
  Pump();
}

http::Head* Http2Session::OnBegin(http2::Stream& stream) noexcept {
  if (closing_ || places_ >= streams_) return nullptr;
  Exchange* const exchange = owner_.exchanges_.Take(*this, owner_.site_);
  if (exchange == nullptr) return nullptr;
  ++places_;
  if (waits_for_ == Wait::kIdle) waits_for_ = Wait::kNothing;  // it may be over before anybody looks
  exchange->returns_to = this;
  exchange->stream = &stream;
  exchange->look_ms = owner_.limits_.header_ms;
  stream.user = exchange;
  return &exchange->head;
}

void Http2Session::OnHead(http2::Stream& stream) noexcept {
  Exchange& exchange = *ExchangeOf(stream);
  TakeHead(exchange);
  if (exchange.refused()) return AnswerRefusal(exchange);
  if (stream.ended()) return;
  exchange.look_ms = kBodyCheckMs;
  if (exchange.head.expects_continue) session_.Continue(stream);
}

void Http2Session::OnBadHead(http2::Stream& stream, int status, std::string_view reason) noexcept {
  Exchange& exchange = *ExchangeOf(stream);
  NoteGrpc(exchange);
  if (status == http::kNoMemory)
    exchange.RefuseForMemory(reason);
  else
    exchange.Refuse(status, code::kInputParams, reason);
  AnswerRefusal(exchange);
}

size_t Http2Session::OnBody(http2::Stream& stream, std::span<const uint8_t> part) noexcept {
  Exchange* const exchange = ExchangeOf(stream);
  if (exchange == nullptr) return part.size();  // answered
  if (exchange->grpc.streams) return TakeParts(*exchange, part);
  AnnounceBody(*exchange, part.size());
  TakeBody(*exchange, part);
  if (exchange->refused()) AnswerRefusal(*exchange);
  return part.size();
}

// Work begins when the read is over: it may answer, and take its time.
void Http2Session::OnEnd(http2::Stream& stream) noexcept {
  Exchange* const exchange = ExchangeOf(stream);
  if (exchange == nullptr) return;
  if (!exchange->grpc.streams) return whole_.push_back(exchange);
  exchange->grpc.ended = true;
  EndIfOver(*exchange);
}

void Http2Session::OnClosed(http2::Stream& stream) noexcept {
  Exchange* const left = ExchangeOf(stream);
  if (left == nullptr) return;  // answered
  stream.user = nullptr;
  left->stream = nullptr;
  if (left->grpc.streams) {
    LeaveCall(*left);
  } else {
    std::replace(whole_.begin(), whole_.end(), left, static_cast<Exchange*>(nullptr));
    TellGone(*left);
  }
  owner_.exchanges_.Detach(*left);
}

void Http2Session::BeginWhole() noexcept {
  for (size_t i = 0; i < whole_.size(); ++i) {
    if (whole_[i] == nullptr) continue;
    Exchange& exchange = *whole_[i];
    TakeEnd(exchange);
    if (exchange.refused() && !exchange.begun) AnswerRefusal(exchange);
  }
  whole_.clear();
  FinishAnswered();
}

http::ReplyHead Http2Session::HeadOf(const Exchange& exchange, const http::ReplyHead& head, bool has_body) noexcept {
  http::ReplyHead whole = exchange.grpc.on ? GrpcHead(exchange, head, has_body) : head;
  whole.more = owner_.site_.FieldsOf(exchange);
  return whole;
}

void Http2Session::Put(Exchange& exchange, const http::ReplyHead& head, wf_sink& body) noexcept {
  if (exchange.grpc.call != nullptr) return ReplyPart(exchange, head, body);
  if (exchange.grpc.streams) {
    if (!body.empty()) Send(exchange, body);
    return EndCall(exchange, head.headers);
  }
  http2::Stream& stream = *exchange.stream;
  stream.user = nullptr;
  exchange.stream = nullptr;
  exchange.answered = true;
  const http::ReplyHead whole = HeadOf(exchange, head, !body.empty());
  const bool sent = session_.Answer(stream, whole, body, exchange.head.method == http::Method::kHead);
  if (!sent) Break();
  answered_.push_back(&exchange);
  if (!processing_) GoOnNextTurn();
}

// A single small block is what its bytes are: each connection that has anything to say has one.
size_t Http2Session::unsent() const noexcept {
  const wf_sink& out = connection_->out();
  return (out.block_bytes() <= base::SinkBlock::kSmall ? out.size() : out.held_bytes()) + session_.held_bytes();
}

void Http2Session::FinishAnswered() noexcept {
  for (Exchange* const exchange : answered_) owner_.exchanges_.Detach(*exchange);
  answered_.clear();
}

void Http2Session::OnReturned() noexcept {
  --places_;
  if (connection_ == nullptr && places_ == 0) owner_.GiveBack(*this);
}

void Http2Session::Resume() noexcept {
  FinishAnswered();
  if (closing_) return;
  processing_ = true;
  TakeHeld();
  BeginWhole();
  processing_ = false;
  Pump();
  if (!closing_) connection_->FlushLater();
}

void Http2Session::Pump() noexcept {
  if (closing_) return;
  if (!session_.Send(&connection_->out(), owner_.limits_.of_connection.unsent_bytes)) return Break();
  if (session_.has_ended()) GiveUp();
  if (session_.over()) {
    closing_ = true;
    connection_->CloseAfterFlush(true);
  }
  if (!Settle()) return BreakForMemory();
  Arm();
}

// The connection may linger: for its requests that is no reason to go on.
void Http2Session::GiveUp() noexcept {
  session_.ForEach([this](http2::Stream& stream) { OnClosed(stream); });
}

void Http2Session::Break() noexcept {
  closing_ = true;
  connection_->Close();
}

// The connection is told of its end with others at the end of the turn, until when they would hold as much again.
void Http2Session::BreakForMemory() noexcept {
  owner_.site_.OnBrokenForMemory();
  Break();
  FinishAnswered();
  session_.Close();
  whole_.clear();
  (void)Settle();
}

// What is due stays due, however much comes meanwhile: pings, and parts of frames, make an idle connection no busier.
void Http2Session::Arm() noexcept {
  if (closing_) return;
  const Wait wait = session_.open_streams() != 0 ? Wait::kTick : session_.is_greeted() ? Wait::kIdle : Wait::kGreeting;
  if (wait == waits_for_) return;
  waits_for_ = wait;
  connection_->SetTimeout(wait == Wait::kTick ? kTickMs : wait == Wait::kIdle ? owner_.limits_.idle_ms : owner_.limits_.header_ms);
}

void Http2Session::OnFlushed() noexcept {
  if (!Settle() && !closing_) return BreakForMemory();
  if (!closing_ && (session_.has_output() || held_calls_ != 0)) GoOnNextTurn();
}

void Http2Session::OnTimeout() noexcept {
  if (closing_) return;
  waits_for_ = Wait::kNothing;
  if (!session_.is_greeted()) OnBreach(http::Breach::kSlow, "no frame came behind the preface in time");
  if (session_.open_streams() == 0)
    session_.GoAway();
  else
    Tick();
  Pump();
}

// Of a call whose messages are under way they are late, too: the last one that is answered ends it.
void Http2Session::OnLate(Exchange& exchange) noexcept {
  if (closing_ || exchange.answered || exchange.refused() || exchange.grpc.first_part != nullptr) return;
  if (RefuseLate(exchange))
    AnswerRefusal(exchange);
  else
    exchange.site->Arm(exchange);  // a configuration has moved it
}

void Http2Session::Tick() noexcept {
  session_.ForEach([this](http2::Stream& stream) {
    Exchange* const exchange = ExchangeOf(stream);
    if (exchange != nullptr && exchange->grpc.stays) owner_.site_.OnLook(*exchange);
    if (exchange == nullptr || stream.ended() || (exchange->look_ms -= kTickMs) > 0) return;
    if (!exchange->has_head)
      session_.Fail();
    else if (LookAtBody(*exchange, owner_.limits_.body_rate))
      exchange->look_ms = kBodyCheckMs;
    else
      AnswerRefusal(*exchange);
  });
  session_.ResetLingering();
  session_.ResetOverdue(connection_->now_ms(), owner_.limits_.of_connection.answer_timeout_ms);
  stall_ms_ += kTickMs;
  if (stall_ms_ < owner_.limits_.of_connection.write_timeout_ms || !connection_->out().empty()) return;  // which has a limit of its own
  session_.ResetStalled(static_cast<uint64_t>(stall_ms_ * net::ConnectionLimits::kLeastRate / 1000));
  stall_ms_ = 0;
}

// A client is asked to begin no more, then told what was served: what it sent in between is.
void Http2Session::OnDrainTick() noexcept {
  if (closing_) return;
  if (drain_ticks_ == 0) session_.Warn();
  if (drain_ticks_ == 1) session_.GoAway();
  if (drain_ticks_ >= 1) EndIdleCalls();
  ++drain_ticks_;
  Pump();
  if (!closing_) connection_->FlushLater();
}

void Http2Session::Abort() noexcept {
  if (closing_) return;
  session_.ForEach([](http2::Stream& stream) {
    Exchange* const exchange = ExchangeOf(stream);
    if (exchange == nullptr || !exchange->has_head) return;
    exchange->Refuse(503, code::kClosed, "the server stops");
    AnswerRefusal(*exchange);
  });
  session_.GoAway();
  Pump();
  if (closing_) return;
  closing_ = true;
  connection_->CloseAfterFlush();
}

// Calls that stream go on where nothing of a next message has come, or others are under way, which give back what they have when they end.
void Http2Session::OnMemoryShort() noexcept {
  if (closing_) return;
  session_.ForEach([](http2::Stream& stream) {
    if (Exchange* const exchange = ExchangeOf(stream); exchange != nullptr && !exchange->has_head) NoteGrpc(*exchange);
  });
  session_.DropHead();
  session_.ForEach([](http2::Stream& stream) {
    Exchange* const exchange = ExchangeOf(stream);
    if (exchange == nullptr || !exchange->has_head || stream.ended()) return;
    if (exchange->grpc.streams && (exchange->body.size() == 0 || exchange->grpc.first_part != nullptr)) return;
    exchange->RefuseForMemory(kMemoryShort);
    exchange->body.Free();  // so that there is room for the answer
    AnswerRefusal(*exchange);
  });
  Pump();
  if (!closing_) connection_->FlushLater();
}

void Http2Session::OnClosed(net::Closed) noexcept {
  FinishAnswered();
  session_.Close();
  whole_.clear();
  Leave();
  if (places_ == 0) owner_.GiveBack(*this);
}

}  // namespace wf::server
