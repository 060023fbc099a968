#include "runtime/server/grpc_calls.h"

#include <algorithm>
#include <string>

#include "runtime/base/ascii.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/grpc/head.h"
#include "runtime/server/codings.h"
#include "runtime/server/grpc_service.h"

namespace wf::server {
namespace {

using coding::Coding;

constexpr size_t kLeastCoded = 1024;  // a shorter message is sent as it is

void RefuseMessage(Exchange& exchange, std::string_view what) { exchange.Refuse(400, code::kInputParams, std::string(what)); }

void RefuseLength(Exchange& exchange) {
  if (!exchange.too_large.empty()) return exchange.Refuse(501, code::kNotImplemented, exchange.too_large);
  exchange.Refuse(413, code::kInputParams,
                  "the message is larger than the " + std::to_string(exchange.max_body_bytes) + " bytes that are taken");
}

// What messages may be coded with: fewer than bodies of HTTP, by the names that the protocol gives them and no others.
constexpr Coding kMessageCodings[] = {Coding::kIdentity, Coding::kGzip, Coding::kDeflate};
constexpr http::Header kAcceptedCodings = {"grpc-accept-encoding", "identity,gzip,deflate"};

// By its `grpc-accept-encoding`. A client that says nothing takes what it sends.
bool ClientTakes(const http::Head& head, Coding coding) {
  bool says = false;
  for (const http::Header& header : head.headers()) {
    if (header.name != kAcceptedCodings.name) continue;
    says = true;
    for (std::string_view rest = header.value; !rest.empty();) {
      if (base::TakeUpTo(',', &rest) == coding::NameOf(coding)) return true;
    }
  }
  return !says;
}

void TakeCoding(Exchange& exchange, std::string_view name) {
  if (name.empty()) return;
  const auto* const found = std::find_if(std::begin(kMessageCodings), std::end(kMessageCodings),
                                         [name](Coding coding) { return coding::NameOf(coding) == name; });
  if (found != std::end(kMessageCodings)) {
    exchange.grpc.coding = *found;
    exchange.grpc.coding_is_taken = ClientTakes(exchange.head, *found);
    return;
  }
  base::TextBuilder message;
  message << "messages coded `";
  message.Quote(name) << "`; send them as they are, or with gzip or deflate";
  exchange.fields.AddLast(kAcceptedCodings);
  exchange.Refuse(501, code::kNotImplemented, message.view());
}

void BeginMessage(Exchange& exchange) {
  GrpcCall& call = exchange.grpc;
  const auto bytes = static_cast<int64_t>(call.messages.left());
  if (call.has_message) return exchange.Refuse(501, code::kNotImplemented, "the method takes one message, and more came");
  call.coded = call.messages.compressed();
  exchange.coding = call.coded ? call.coding : Coding::kIdentity;
  if (call.coded && call.coding == Coding::kIdentity)
    return RefuseMessage(exchange, "a message is marked as compressed, and no `grpc-encoding` says with what");
  if (exchange.site->Announce(exchange, bytes) && !exchange.body.ReserveAnnounced(static_cast<size_t>(bytes)))
    exchange.RefuseForMemory("no memory for the message");
}

// So that what is large in it need not be copied to where it is aligned. There is room for it.
void AlignMessage(Exchange& exchange, std::span<const uint8_t> begin) {
  const GrpcCall& call = exchange.grpc;
  constexpr uint64_t kLeastAligned = Body::kKeptBytes;
  const bool pays = !call.coded && call.messages.left() + begin.size() > kLeastAligned;
  if (!pays || call.service == nullptr || call.service->aligned_at == nullptr) return;
  exchange.body.AlignAt(call.service->aligned_at(begin));
  exchange.body.Reserve(begin.size());
}

void PutPrefix(size_t bytes, bool coded, wf_sink* body) {
  const grpc::Prefix prefix(static_cast<uint32_t>(bytes), coded);
  body->Put(prefix.text, sizeof prefix.text);
}

}  // namespace

void TakeGrpcHead(Exchange& exchange, uint64_t max_message_bytes) noexcept {
  const http::Head& head = exchange.head;
  exchange.grpc.on = true;
  exchange.takes_body = true;
  exchange.max_body_bytes = max_message_bytes;
  exchange.grpc.messages = grpc::Messages(max_message_bytes);
  exchange.grpc.coding = Coding::kIdentity;
  if (head.content_length > 0) exchange.head.content_length = -1;  // of all messages with their prefixes
  if (head.method != http::Method::kPost) return RefuseMessage(exchange, "gRPC calls with POST");
  if (const std::string_view text = head.Find("grpc-timeout"); text.data() != nullptr) {
    if (head.SaysTwo("grpc-timeout")) return RefuseMessage(exchange, "two headers `grpc-timeout` differ");
    const int64_t ns = grpc::ParseTimeout(text);
    if (ns < 0) return RefuseMessage(exchange, "`grpc-timeout` is a number and a unit, as `100m`");
    exchange.timeout_ns = std::max<int64_t>(ns, 1);
  }
  if (head.SaysTwo("grpc-encoding")) return RefuseMessage(exchange, "two headers `grpc-encoding` differ");
  TakeCoding(exchange, head.Find("grpc-encoding"));
}

void TakeMessages(Exchange& exchange, std::span<const uint8_t> part) noexcept {
  while (!exchange.refused() && !part.empty()) TakeMessage(exchange, &part);
}

bool TakeMessage(Exchange& exchange, std::span<const uint8_t>* part) noexcept {
  using MessageStep = grpc::Messages::Step;
  std::span<const uint8_t> data;
  while (!exchange.refused()) {
    switch (exchange.grpc.messages.Next(part, &data)) {
      case MessageStep::kNeedMore:
        return false;
      case MessageStep::kMessage:
        BeginMessage(exchange);
        break;
      case MessageStep::kData:
        if (exchange.body.size() == 0) AlignMessage(exchange, data);
        if (exchange.site->Claim(exchange, static_cast<int64_t>(exchange.body.size() + data.size())) && !exchange.body.Append(data))
          exchange.RefuseForMemory("no memory for the message");
        break;
      case MessageStep::kEnd:
        exchange.grpc.has_message = true;
        return true;
      case MessageStep::kError:
        if (exchange.grpc.messages.too_long())
          RefuseLength(exchange);
        else
          RefuseMessage(exchange, "a message begins with neither 0 nor 1");
    }
  }
  return false;
}

void TakeLastMessage(Exchange& exchange) noexcept {
  if (!exchange.grpc.messages.at_end()) return RefuseMessage(exchange, "the call ends within a message");
  if (!exchange.grpc.has_message) exchange.Refuse(501, code::kNotImplemented, "the method takes one message, and none came");
}

void PutMessage(const Exchange& exchange, wf_sink* message, wf_sink* body) {
  if (exchange.grpc.coded && exchange.grpc.coding_is_taken && message->size() >= kLeastCoded) {
    wf_sink coded;
    if (Compress(exchange.grpc.coding, *message, &coded)) {
      PutPrefix(coded.size(), true, body);
      body->Append(coded);
      return;
    }
  }
  PutPrefix(message->size(), false, body);
  body->Append(*message);
}

http::ReplyHead GrpcHead(const Exchange& exchange, const http::ReplyHead& head, bool has_message) noexcept {
  static constexpr http::Header kGzip[] = {kAcceptedCodings, {"grpc-encoding", "gzip"}};
  static constexpr http::Header kDeflate[] = {kAcceptedCodings, {"grpc-encoding", "deflate"}};
  http::ReplyHead answer = {200, grpc::kContentType, {}, {}};
  if (!has_message) {
    answer.headers = head.headers;
    return answer;
  }
  answer.trailers = head.headers;
  const bool may_be_coded = (exchange.grpc.coded || exchange.grpc.streams) && exchange.grpc.coding_is_taken;
  const Coding coding = may_be_coded ? exchange.grpc.coding : Coding::kIdentity;
  answer.headers = {&kAcceptedCodings, 1};
  if (coding == Coding::kGzip) answer.headers = kGzip;
  if (coding == Coding::kDeflate) answer.headers = kDeflate;
  return answer;
}

}  // namespace wf::server
