#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/protocol/coding/coding.h"
#include "runtime/protocol/grpc/messages.h"
#include "runtime/server/body.h"

namespace wf::server {

struct Exchange;
struct GrpcService;

// What an exchange is beyond a request of HTTP when it is a call of gRPC: whose body is messages, each behind a prefix. The messages of a
// call that streams are exchanges of their own, its parts; each is answered with one message, and the call ends when it has none left.
struct GrpcCall {
  bool on = false;
  bool has_message = false;                           // whole, in the body of the exchange
  bool coded = false;                                 // so it is
  coding::Coding coding = coding::Coding::kIdentity;  // of messages that say they are coded
  bool coding_is_taken = true;                        // by the client, in answers
  grpc::Messages messages;
  const GrpcService* service = nullptr;
  std::string_view method;  // in the head of the call

  // ---- of a call that streams ----
  bool streams = false;
  bool takes_many = false;         // messages; else one, which is answered with many
  bool ended = false;              // no more come
  bool answers = false;            // the head of its answer has left
  bool stays = false;              // its service sends more until the client leaves or the server drains
  uint32_t last_told = 0;          // the service's own
  Exchange* first_part = nullptr;  // under way, the newest first
  uint32_t parts = 0;
  uint32_t kept_parts = 0;  // that still look at the call's head
  Body held;                // what came while there was no room for more parts
  size_t held_at = 0;       // of it is taken
  size_t held_bytes() const { return held.size() - held_at; }

  // ---- of a part ----
  Exchange* call = nullptr;
  Exchange* next_part = nullptr;

  void Clear() noexcept {
    on = has_message = coded = streams = takes_many = ended = answers = stays = false;
    coding = coding::Coding::kIdentity;
    coding_is_taken = true;
    messages = grpc::Messages();
    service = nullptr;
    method = {};
    last_told = parts = kept_parts = 0;
    first_part = call = next_part = nullptr;
    held.Clear();
    held_at = 0;
  }
};

}  // namespace wf::server
