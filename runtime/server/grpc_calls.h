#pragma once

#include <cstdint>
#include <span>

#include "runtime/protocol/http/reply.h"
#include "runtime/server/exchange.h"
#include "runtime/server/workflow_site.h"

// gRPC between HTTP/2 and the services: heads, messages, codings, answers. Each call may leave a refusal in the exchange.
namespace wf::server {

// Of a request whose content type is gRPC's: what its head says of the call, whose messages have at most so many bytes.
void TakeGrpcHead(Exchange& exchange, uint64_t max_message_bytes) noexcept;
void TakeMessages(Exchange& exchange, std::span<const uint8_t> part) noexcept;  // of a body that is one
bool TakeMessage(Exchange& exchange, std::span<const uint8_t>* part) noexcept;  // true: one is whole, and what is left is behind it
void TakeLastMessage(Exchange& exchange) noexcept;                              // the body is over: exactly one has come

// Moves `message` behind its prefix, coded as the request was where that pays.
void PutMessage(const Exchange& exchange, wf_sink* message, wf_sink* body);

// The head of an answer: what `head` says of the call stands behind the message, or is all there is where there is none.
http::ReplyHead GrpcHead(const Exchange& exchange, const http::ReplyHead& head, bool has_message) noexcept;

}  // namespace wf::server
