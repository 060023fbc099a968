#pragma once

#include "runtime/protocol/coding/coding.h"
#include "runtime/protocol/grpc/messages.h"
#include "runtime/server/body.h"

namespace wf::server {

// What an exchange is beyond a request of HTTP when it is a call of gRPC: whose body is messages, each behind a prefix.
struct GrpcCall {
  bool on = false;
  bool has_message = false;                           // whole, in the body of the exchange
  bool coded = false;                                 // so it is
  coding::Coding coding = coding::Coding::kIdentity;  // of messages that say they are coded
  grpc::Messages messages;
  Body expanded;  // the message without its coding

  void Clear() noexcept {
    on = has_message = coded = false;
    expanded.Clear();
  }
};

}  // namespace wf::server
