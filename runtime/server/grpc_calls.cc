#include "runtime/server/grpc_calls.h"

#include <algorithm>
#include <optional>
#include <string>

#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/coding/compressor.h"
#include "runtime/protocol/coding/expander.h"
#include "runtime/protocol/grpc/head.h"
#include "runtime/protocol/json/reader.h"

namespace wf::server {
namespace {

using coding::Coding;
using coding::Step;

constexpr size_t kBlockBytes = 16 * 1024;
constexpr size_t kLeastCoded = 1024;  // a shorter message is sent as it is

void RefuseMessage(Exchange& exchange, std::string_view what) { exchange.Refuse(400, code::kInputParams, std::string(what)); }

void RefuseLength(Exchange& exchange) {
  exchange.Refuse(413, code::kInputParams,
                  "the message is larger than the " + std::to_string(exchange.max_body_bytes) + " bytes that are taken");
}

void TakeCoding(Exchange& exchange, std::string_view name) {
  if (name.empty()) return;
  const std::optional<Coding> coding = coding::CodingOf(name);
  base::TextBuilder message;
  message << "messages coded `";
  message.Quote(name) << "`; send them as they are, or with gzip or deflate";
  if (coding)
    exchange.grpc.coding = *coding;
  else
    exchange.Refuse(501, code::kNotImplemented, message.str());
}

void BeginMessage(Exchange& exchange) {
  GrpcCall& call = exchange.grpc;
  const auto bytes = static_cast<int64_t>(call.messages.left());
  if (call.has_message) return exchange.Refuse(501, code::kNotImplemented, "the method takes one message, and more came");
  call.coded = call.messages.compressed();
  if (call.coded && call.coding == Coding::kIdentity)
    return RefuseMessage(exchange, "a message says that it is coded, and `grpc-encoding` says with nothing");
  if (exchange.site->Claim(exchange, bytes) && !exchange.body.Reserve(static_cast<size_t>(bytes)))
    exchange.RefuseForMemory("no memory for the message");
}

coding::Expander& ExpanderOfThread() {
  thread_local coding::Expander expander;
  return expander;
}

coding::Compressor& CompressorOfThread() {
  thread_local coding::Compressor compressor;
  return compressor;
}

// False: `body` holds a part of it.
bool Compress(Coding coding, wf_sink& message, wf_sink* body) {
  coding::Compressor& compressor = CompressorOfThread();
  if (!compressor.Begin(coding)) return false;
  const std::span<const base::SinkPiece> pieces = message.Pieces();
  for (size_t i = 0; i < pieces.size();) {
    std::span<const uint8_t> input(pieces[i].data, pieces[i].bytes);
    Step step = Step::kNeedOutput;
    while (step == Step::kNeedOutput) {
      uint8_t* const at = body->Reserve(wf_sink::kMaxReserve);
      if (at == nullptr) return false;
      std::span<uint8_t> room(at, wf_sink::kMaxReserve);
      step = compressor.Next(&input, i + 1 == pieces.size(), &room);
      body->Commit(room.data());
    }
    if (step == Step::kEnd) return true;
    if (step != Step::kNeedInput) return false;
    ++i;
  }
  return false;
}

void PutPrefix(size_t bytes, bool coded, wf_sink* body) {
  const grpc::Prefix prefix(static_cast<uint32_t>(bytes), coded);
  body->Put(prefix.text, sizeof prefix.text);
}

wf_code FailExpansion(wf_ctx* scratch, wf_code code, std::string_view what) {
  base::TextBuilder message;
  message << what;
  return json::Record(scratch, code, message);
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
  if (const std::string_view text = head.Find("grpc-timeout"); !text.empty()) {
    const int64_t ns = grpc::ParseTimeout(text);
    if (ns < 0) return RefuseMessage(exchange, "`grpc-timeout` is a number and a unit, as `100m`");
    exchange.timeout_ns = std::max<int64_t>(ns, 1);
  }
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
        if (!exchange.body.Append(data)) exchange.RefuseForMemory("no memory for the message");
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

wf_code ExpandMessage(WorkflowSite& site, Exchange& exchange, wf_ctx* scratch, wf_bytes message) {
  coding::Expander& expander = ExpanderOfThread();
  Body& expanded = exchange.grpc.expanded;
  std::span<const uint8_t> input(message.ptr, message.len);
  bool going = expander.Begin(exchange.grpc.coding);
  Step step = going ? Step::kNeedOutput : Step::kNoMemory;
  while (going) {
    uint8_t block[kBlockBytes];
    std::span<uint8_t> room(block);
    step = expander.Next(&input, &room);
    const size_t bytes = sizeof block - room.size();
    if (bytes > exchange.max_body_bytes - expanded.size())
      return FailExpansion(scratch, code::kMemoryCap, "the message is larger without its coding than messages may be");
    const bool has_room = site.GrowClaim(exchange, static_cast<int64_t>(message.len + expanded.size() + bytes));
    if (!has_room || !expanded.Append({block, bytes}))
      return FailExpansion(scratch, code::kRefused, "there is no memory for the message without its coding");
    going = step == Step::kNeedOutput || (step == Step::kEnd && !input.empty());
  }
  if (step == Step::kEnd) return 0;
  if (step == Step::kNoMemory) return FailExpansion(scratch, code::kRefused, "there is no memory to take the message's coding off");
  return FailExpansion(scratch, code::kInputParams, "the message is not coded as `grpc-encoding` says, or cut");
}

void PutMessage(const Exchange& exchange, wf_sink* message, wf_sink* body) {
  if (exchange.grpc.coded && message->size() >= kLeastCoded) {
    wf_sink coded;
    if (Compress(exchange.grpc.coding, *message, &coded) && coded.size() < message->size()) {
      PutPrefix(coded.size(), true, body);
      body->Append(coded);
      return;
    }
  }
  PutPrefix(message->size(), false, body);
  body->Append(*message);
}

http::ReplyHead GrpcHead(const Exchange& exchange, const http::ReplyHead& head, bool has_message) noexcept {
  static constexpr http::Header kAccepted = {"grpc-accept-encoding", "identity,gzip,deflate"};
  static constexpr http::Header kGzip[] = {kAccepted, {"grpc-encoding", "gzip"}};
  static constexpr http::Header kDeflate[] = {kAccepted, {"grpc-encoding", "deflate"}};
  static constexpr http::Header kZstd[] = {kAccepted, {"grpc-encoding", "zstd"}};
  http::ReplyHead answer = {200, grpc::kContentType, {}, {}};
  if (!has_message) {
    answer.headers = head.headers;
    return answer;
  }
  answer.trailers = head.headers;
  switch (exchange.grpc.coded || exchange.grpc.streams ? exchange.grpc.coding : Coding::kIdentity) {
    case Coding::kIdentity:
      answer.headers = {&kAccepted, 1};
      break;
    case Coding::kGzip:
      answer.headers = kGzip;
      break;
    case Coding::kDeflate:
      answer.headers = kDeflate;
      break;
    case Coding::kZstd:
      answer.headers = kZstd;
      break;
  }
  return answer;
}

}  // namespace wf::server
