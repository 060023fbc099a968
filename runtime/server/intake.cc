#include "runtime/server/intake.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/grpc/status.h"
#include "runtime/protocol/plain/plain.h"
#include "runtime/server/grpc_calls.h"
#include "runtime/server/session.h"

namespace wf::server {
namespace {

constexpr wf_plan kNoPlan = {};  // refusals are given by the runtime, never by a program

void RefuseSize(Exchange& exchange) {
  if (!exchange.too_large.empty()) return exchange.Refuse(501, code::kNotImplemented, exchange.too_large);
  exchange.Refuse(413, code::kInputParams,
                  "the body is larger than the " + std::to_string(exchange.max_body_bytes) + " bytes that the service takes");
}

// Of a call that streams, between its messages or while we hold it back.
bool IsIdle(const Exchange& exchange) {
  return exchange.grpc.streams && (exchange.grpc.messages.at_end() || exchange.grpc.held_bytes() != 0);
}

// `soon` says one second, in its own unit.
void AddRetry(Exchange& exchange, const http::Header& soon) {
  if (exchange.retry_s == 1) return exchange.fields.AddLast(soon);
  base::TextBuilder later;
  later << exchange.retry_s << soon.value.substr(1);
  exchange.fields.Add(soon.name, later.view());
}

std::string_view AllowedBy(const Exchange& exchange) {
  if (!exchange.allow_get) return "POST";
  return exchange.allow_post ? "GET, HEAD, POST" : "GET, HEAD";
}

void TakePart(Exchange& exchange, std::span<const uint8_t> part) {
  if (!exchange.refused() && exchange.takes_body) exchange.site->Claim(exchange, static_cast<int64_t>(exchange.body.size() + part.size()));
  if (!exchange.refused() && exchange.takes_body) {
    if (exchange.body.Append(part)) return;
    exchange.RefuseForMemory("no memory for the body");
    exchange.body.Free();  // so that there is room for the answer
  }
  exchange.discarded += part.size();
}

bool IsTooLarge(int status) { return status == 413 || status == 414 || status == 431; }

}  // namespace

// Who has not sent a whole request in the time that there was is told so (RFC 9110, 15.5.9): no server was late. gRPC has one status for
// both.
bool RefuseLate(Exchange& exchange) noexcept {
  if (exchange.refused() || !exchange.site->IsLate(exchange)) return false;
  const char* const message = exchange.grpc.streams ? "the call's deadline has passed"
                              : exchange.grpc.on    ? "the call's deadline passed before its message was read"
                                                    : "the deadline passed before the whole body had come";
  exchange.Refuse(exchange.grpc.on ? 504 : 408, code::kTimeout, message);
  return true;
}

void TakeHead(Exchange& exchange) noexcept {
  exchange.has_head = true;
  exchange.head_read = exchange.session->reads();
  exchange.site->OnHead(exchange);
  const int64_t length = exchange.head.content_length;
  if (!exchange.refused() && length > 0 && static_cast<uint64_t>(length) > exchange.max_body_bytes) RefuseSize(exchange);
  if (!exchange.refused() && exchange.takes_body && length > 0 && !exchange.body.ReserveAnnounced(static_cast<size_t>(length)))
    exchange.RefuseForMemory("no memory for the body");
  if (length != 0 || exchange.workflow != nullptr) exchange.session->Keep(exchange);  // probes that are whole are answered at once
  if (length != 0 && !exchange.refused()) exchange.site->Arm(exchange);
}

void AnnounceBody(Exchange& exchange, uint64_t bytes) noexcept {
  if (!exchange.grpc.on && !exchange.refused() && bytes > exchange.max_body_bytes - exchange.came) RefuseSize(exchange);
}

void TakeBody(Exchange& exchange, std::span<const uint8_t> part) noexcept {
  exchange.came += part.size();
  if (exchange.grpc.on)
    TakeMessages(exchange, part);
  else
    TakePart(exchange, part);
  exchange.session->Keep(exchange);
}

void TakeEnd(Exchange& exchange) noexcept {
  exchange.site->Disarm(exchange);
  if (exchange.timeout_ns != 0 || exchange.head_read != exchange.session->reads()) RefuseLate(exchange);
  if (exchange.grpc.on && !exchange.refused()) TakeLastMessage(exchange);
  if (exchange.refused()) return;
  exchange.session->Drop(exchange);
  exchange.begun = true;
  exchange.site->OnRequest(exchange);
}

bool LookAtBody(Exchange& exchange, int64_t least_rate) noexcept {
  const uint64_t now = exchange.came - std::exchange(exchange.came_before, exchange.came);
  if (IsIdle(exchange) || now >= static_cast<uint64_t>(least_rate * (kBodyCheckMs / 1000))) return true;
  if (!exchange.refused()) exchange.Refuse(408, code::kTimeout, kSlowBody);
  return false;
}

// Told before it is cancelled: what is told of the request may be in the memory of its bus.
void TellGone(Exchange& exchange) noexcept {
  if (!exchange.has_head) return;
  exchange.site->OnGone(exchange);
  if (exchange.begun) exchange.site->Cancel(exchange);
}

void AnswerRefusal(Exchange& exchange) noexcept {
  wf_sink body;
  const protocol::CodeInfo info = protocol::InfoOf(kNoPlan, exchange.refusal_code);
  const ProtocolRow& row = RowOf(exchange.protocol);
  // Load has a status of each protocol; the others are those of HTTP.
  if (exchange.refusal_code == code::kRefused) exchange.refusal_status = row.status_of(info.status);
  const uint64_t data_id = exchange.site->OnRefused(exchange);
  const base::StatusCode status = IsTooLarge(exchange.refusal_status) ? base::kResourceExhausted
                                  : exchange.refusal_status == 401    ? grpc::kUnauthenticated
                                                                      : info.status;
  row.write_error(exchange, {exchange.refusal_code, info.name, exchange.refusal, {}, data_id, exchange.log_id}, status, &body);
  if (protocol::IsForLoad(exchange.refusal_code)) AddRetry(exchange, row.retry_soon);
  if (exchange.refusal_status == 405) exchange.fields.AddLast({"allow", AllowedBy(exchange)});
  exchange.session->Reply(exchange, {exchange.refusal_status, plain::kJson, exchange.fields.headers(), {}}, body);
  if (exchange.begun) exchange.site->Cancel(exchange);
}

}  // namespace wf::server
