// Calls of gRPC that stream: messages out of their bodies while there is room for more parts, and their ends.
#include <algorithm>

#include "runtime/protocol/grpc/status.h"
#include "runtime/server/grpc_calls.h"
#include "runtime/server/http2_session.h"
#include "runtime/server/intake.h"

namespace wf::server {
namespace {

void Unlink(Exchange& part) {
  Exchange** at = &part.grpc.call->grpc.first_part;
  while (*at != &part) at = &(*at)->grpc.next_part;
  *at = part.grpc.next_part;
  --part.grpc.call->grpc.parts;
}

}  // namespace

// For more of its messages to be taken.
bool Http2Session::HasRoom(const Exchange& call) const noexcept {
  return call.grpc.parts < owner_.limits_.stream_messages && call.stream->unsent() < owner_.limits_.of_connection.unsent_bytes;
}

size_t Http2Session::TakeParts(Exchange& call, std::span<const uint8_t> bytes) noexcept {
  std::span<const uint8_t> left = bytes;
  call.came += bytes.size();
  if (call.grpc.held_bytes() == 0) TakeMessages(call, &left);
  Keep(call);
  if (!call.refused() && !left.empty() && Hold(call, left)) return bytes.size() - left.size();
  if (call.refused()) AnswerRefusal(call);
  return bytes.size();
}

// As many as there is room for.
void Http2Session::TakeMessages(Exchange& call, std::span<const uint8_t>* bytes) noexcept {
  while (!call.refused() && !bytes->empty() && HasRoom(call)) {
    if (TakeMessage(call, bytes)) BeginPart(call);
  }
}

// The message that is whole becomes an exchange of its own.
void Http2Session::BeginPart(Exchange& call) noexcept {
  GrpcCall& grpc = call.grpc;
  Exchange* const part = owner_.exchanges_.Take(*this, owner_.site_);
  if (part == nullptr) return call.RefuseForMemory("no memory for the message");
  part->grpc.on = part->grpc.has_message = part->has_head = part->takes_body = true;
  part->grpc.call = &call;
  part->grpc.service = grpc.service;
  part->grpc.method = grpc.method;
  part->grpc.coded = grpc.coded;
  part->grpc.coding = grpc.coding;
  part->grpc.coding_is_taken = grpc.coding_is_taken;
  part->coding = call.coding;
  part->max_body_bytes = call.max_body_bytes;
  part->body.Swap(call.body);
  Keep(call);
  std::swap(part->claimed_bytes, call.claimed_bytes);
  part->grpc.next_part = grpc.first_part;
  grpc.first_part = part;
  ++grpc.parts;
  ++grpc.kept_parts;
  grpc.has_message = !grpc.takes_many;
  owner_.site_.OnPart(*part);
  whole_.push_back(part);
}

// False: refused, there is no memory.
bool Http2Session::Hold(Exchange& call, std::span<const uint8_t> bytes) noexcept {
  const auto count = static_cast<int64_t>(bytes.size());
  if (!owner_.site_.ClaimUnsent(count)) {
    call.RefuseForMemory("other requests take all the memory there is for them; the call has no room for more messages");
    return false;
  }
  held_calls_ += call.grpc.held_bytes() == 0 ? 1 : 0;
  if (call.grpc.held.Append(bytes)) return true;
  held_calls_ -= call.grpc.held_bytes() == 0 ? 1 : 0;
  owner_.site_.UnclaimUnsent(count);
  call.RefuseForMemory("no memory for the messages of the call");
  return false;
}

void Http2Session::TakeHeld() noexcept {
  if (held_calls_ == 0) return;
  session_.ForEach([this](http2::Stream& stream) {
    auto* const call = static_cast<Exchange*>(stream.user);
    if (call != nullptr && call->grpc.held_bytes() != 0) TakeHeldOf(*call);
  });
}

void Http2Session::TakeHeldOf(Exchange& call) noexcept {
  GrpcCall& grpc = call.grpc;
  std::span<const uint8_t> left = grpc.held.bytes().subspan(grpc.held_at);
  const size_t before = left.size();
  TakeMessages(call, &left);
  const size_t taken = before - left.size();
  if (taken != 0) {
    grpc.held_at += taken;
    owner_.site_.UnclaimUnsent(static_cast<int64_t>(taken));
    session_.Consume(*call.stream, taken);
  }
  if (left.empty()) {
    grpc.held.Clear();
    grpc.held_at = 0;
    --held_calls_;
  } else if (grpc.held_at > left.size()) {  // so that each byte is moved once
    grpc.held.DropFirst(grpc.held_at);
    grpc.held_at = 0;
  }
  if (call.refused())
    AnswerRefusal(call);
  else
    EndIfOver(call);
}

void Http2Session::Send(Exchange& call, wf_sink& message) noexcept {
  GrpcCall& grpc = call.grpc;
  const bool begins = !grpc.answers;
  grpc.answers = true;
  if (begins && !session_.Begin(*call.stream, HeadOf(call, {}, true))) return Break();
  if (!session_.Add(*call.stream, message)) return Break();
  if (!processing_) GoOnNextTurn();
}

// A part that has fields instead of a message ends its call; one that has neither is over, and its call goes on.
void Http2Session::ReplyPart(Exchange& part, const http::ReplyHead& head, wf_sink& body) noexcept {
  Exchange& call = *part.grpc.call;
  Unlink(part);
  part.answered = true;
  answered_.push_back(&part);
  if (body.empty() && !head.headers.empty()) return EndCall(call, head.headers);
  if (!body.empty()) Send(call, body);
  if (call.grpc.held_bytes() != 0) GoOnNextTurn();
  EndIfOver(call);
}

void Http2Session::EndCall(Exchange& call, std::span<const http::Header> trailers) noexcept {
  http2::Stream& stream = *call.stream;
  wf_sink none;
  const bool sent =
      call.grpc.answers ? session_.End(stream, trailers) : session_.Answer(stream, HeadOf(call, {200, {}, trailers, {}}, false), none);
  LeaveCall(call);
  stream.user = nullptr;
  call.stream = nullptr;
  call.answered = true;
  answered_.push_back(&call);
  if (!sent) Break();
  if (!processing_) GoOnNextTurn();
}

void Http2Session::EndIfOver(Exchange& call) noexcept {
  const GrpcCall& grpc = call.grpc;
  if (grpc.first_part != nullptr || grpc.stays) return;
  if (!RefuseLate(call)) {
    if (!grpc.ended || grpc.held_bytes() != 0) return;
    if (!grpc.messages.at_end() || !grpc.takes_many) TakeLastMessage(call);
  }
  if (call.refused()) return AnswerRefusal(call);
  if (!owner_.site_.OnCallOver(call)) EndCall(call, {&grpc::kOk, 1});
}

void Http2Session::LeaveCall(Exchange& call) noexcept {
  while (call.grpc.first_part != nullptr) {
    Exchange& part = *call.grpc.first_part;
    Unlink(part);
    std::replace(whole_.begin(), whole_.end(), &part, static_cast<Exchange*>(nullptr));
    TellGone(part);
    owner_.exchanges_.Detach(part);
  }
  if (call.grpc.held_bytes() == 0) return;
  owner_.site_.UnclaimUnsent(static_cast<int64_t>(call.grpc.held_bytes()));
  call.grpc.held_at = call.grpc.held.size();
  --held_calls_;
}

// While the server drains: what is under way is answered, more is not waited for.
void Http2Session::EndIdleCalls() noexcept {
  session_.ForEach([this](http2::Stream& stream) {
    auto* const call = static_cast<Exchange*>(stream.user);
    if (call == nullptr || !call->grpc.streams) return;
    if (call->grpc.stays) owner_.site_.OnLook(*call);
    if (call->grpc.first_part != nullptr || call->grpc.held_bytes() != 0) return;
    call->Refuse(503, code::kClosed, "the server stops");
    AnswerRefusal(*call);
  });
}

}  // namespace wf::server
