// gRPC's health checking: the whole server under the empty name, and each of its services.
#include <algorithm>

#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/grpc/files.h"
#include "runtime/protocol/protobuf/wire.h"
#include "runtime/server/grpc_calls.h"
#include "runtime/server/grpc_service.h"
#include "runtime/server/intake.h"
#include "runtime/server/own_answers.h"
#include "runtime/server/session.h"

namespace wf::server {
namespace {

enum Health : uint32_t { kServing = 1, kNotServing = 2, kServiceUnknown = 3 };

bool Find(const WorkflowSite&, std::string_view name, GrpcMethod* method) {
  method->streams = name == "Watch";
  return name == "Check" || name == "Watch";
}

Health HealthOf(const WorkflowSite& site, std::string_view service) {
  const auto is_called = [service](const GrpcService* row) { return row->name == service; };
  const auto services = GrpcServices();
  if (!service.empty() && std::none_of(services.begin(), services.end(), is_called)) return kServiceUnknown;
  return ProbeFailure(site.shared(), kReadyPath) == nullptr ? kServing : kNotServing;
}

void Put(Health health, wf_sink* message) { protobuf::PutInteger(message, 1, health); }

void Serve(WorkflowSite& site, Exchange& exchange, wf_bytes request) {
  protobuf::Reader reader(request);
  protobuf::Field field;
  std::string_view service;
  while (reader.Next(&field)) {
    if (field.Is(1, protobuf::Wire::kBytes)) service = field.text();
  }
  const Health health = HealthOf(site, service);
  Exchange* const watch = exchange.grpc.call;
  if (reader.broken()) {
    exchange.Refuse(400, code::kInputParams, "the message is no HealthCheckRequest");
  } else if (watch == nullptr && health == kServiceUnknown) {
    base::TextBuilder message;
    message << "no service of gRPC is called `";
    message.Quote(service) << "`";
    exchange.Refuse(404, code::kNoService, message.view());
  }
  if (exchange.refused()) return AnswerRefusal(exchange);
  if (watch != nullptr) {
    watch->grpc.stays = true;
    watch->grpc.last_told = health;
  }
  wf_sink message;
  Put(health, &message);
  ReplyMessage(exchange, &message);
}

// A service that is unknown stays so.
void Look(WorkflowSite& site, Exchange& watch) {
  if (watch.grpc.last_told == kServiceUnknown) return;
  const Health health = HealthOf(site, {});
  if (health == watch.grpc.last_told) return;
  watch.grpc.last_told = health;
  wf_sink message, body;
  Put(health, &message);
  PutMessage(watch, &message, &body);
  watch.session->Send(watch, body);
}

}  // namespace

constexpr GrpcService grpc_health = {.name = "grpc.health.v1.Health", .file = grpc::HealthFile, .find = Find, .serve = Serve, .look = Look};

}  // namespace wf::server
