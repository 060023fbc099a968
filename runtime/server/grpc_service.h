#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "runtime/server/body.h"
#include "runtime/server/workflow_site.h"

namespace wf::server {

struct GrpcMethod {
  bool streams = false, takes_many = false;  // answers, messages
  uint64_t most_bytes = Body::kKeptBytes;    // of a message
  std::string_view too_large;                // Exchange::too_large of a larger one
};

// What gRPC calls a service, whose methods are paths below its name. Calls come on the site's loop, but for write_answer.
struct GrpcService {
  std::string_view name;
  std::string_view (*file)();  // its FileDescriptorProto
  // False: it has no such method.
  bool (*find)(const WorkflowSite& site, std::string_view method, GrpcMethod* found);
  // One message of the method that exchange.grpc names; ends in WorkflowSite::Begin, or in an answer. That of a part may be several
  // messages, each behind its prefix, or none and no field: nothing is sent for it then.
  void (*serve)(WorkflowSite& site, Exchange& exchange, wf_bytes message);
  // How a part of a call says that it failed; null: its call ends with the failure.
  void (*write_part_error)(const Exchange& part, const protocol::ErrorText& error, wf_sink* message) = nullptr;
  // Of a service that calls workflows.
  protocol::Answer (*write_answer)(Exchange& exchange, wf_sink* body, std::vector<http::Header>* headers) = nullptr;
  // Where in a message, of which these are the first bytes, something begins that is used in place if it is aligned; 0: not in them.
  size_t (*aligned_at)(std::span<const uint8_t> begin) = nullptr;
  // Of a service whose calls stay.
  void (*look)(WorkflowSite& site, Exchange& call) = nullptr;
  // Every message of a call that streams has come and been served: ends it with Session::Reply, whose body, if any, is its last message.
  // Null: it ends well.
  void (*end)(WorkflowSite& site, Exchange& call) = nullptr;
  // A field of the head of an answer, a view of the call's own head; without a value there is none.
  http::Header (*field)(const Exchange& call) = nullptr;
};

std::span<const GrpcService* const> GrpcServices();
extern const GrpcService grpc_inference, grpc_health, grpc_reflection, grpc_reflection_v1alpha;

// Answers with one message.
void ReplyMessage(Exchange& exchange, wf_sink* message) noexcept;

}  // namespace wf::server
