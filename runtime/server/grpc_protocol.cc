// Calls of gRPC: which service a path is of, and the way of a message there.
#include <algorithm>
#include <string>

#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/grpc/head.h"
#include "runtime/protocol/grpc/status.h"
#include "runtime/server/grpc_calls.h"
#include "runtime/server/grpc_service.h"
#include "runtime/server/intake.h"
#include "runtime/server/oip_calls.h"
#include "runtime/server/session.h"

namespace wf::server {
namespace {

// "/service/method"; null: there is no such service.
const GrpcService* FindService(std::string_view path, std::string_view* method) {
  const size_t slash = path.find('/', 1);
  if (slash == std::string_view::npos) return nullptr;
  const std::string_view name = path.substr(1, slash - 1);
  *method = path.substr(slash + 1);
  const auto services = GrpcServices();
  const auto found = std::find_if(services.begin(), services.end(), [name](const GrpcService* service) { return service->name == name; });
  return found == services.end() ? nullptr : *found;
}

void RefuseMethod(Exchange& exchange, bool has_service) {
  base::TextBuilder message;
  message << (has_service ? "the service has no method `" : "no service has the method `");
  message.Quote(has_service ? exchange.grpc.method : exchange.head.path_as_sent()) << "`";
  exchange.Refuse(501, code::kNotImplemented, message.view());
}

bool TakeHead(WorkflowSite& site, Exchange& exchange, std::string_view) {
  std::string_view name;
  const GrpcService* const service = FindService(exchange.head.path, &name);
  const bool is_grpc = exchange.stream != nullptr && grpc::IsContentType(exchange.head.Find("content-type"));
  if (!is_grpc && service == nullptr) return false;
  if (!is_grpc) {  // answered as HTTP does, so that no client takes the answer for that of its call
    exchange.protocol = Protocol::kPlain;
    exchange.Refuse(415, code::kInputParams, "calls of gRPC come over HTTP/2 with the content type `application/grpc`");
    return true;
  }
  GrpcMethod method;
  const bool found = service != nullptr && service->find(site, name, &method);
  exchange.grpc.service = service;
  exchange.grpc.method = name;
  TakeGrpcHead(exchange, method.most_bytes);
  exchange.too_large = method.too_large;
  if (!found) RefuseMethod(exchange, service != nullptr);
  if (exchange.refused()) return true;
  exchange.grpc.streams = method.streams;
  exchange.grpc.takes_many = method.takes_many;
  return true;
}

void Start(WorkflowSite& site, Exchange& exchange, wf_bytes message) { exchange.grpc.service->serve(site, exchange, message); }

protocol::Answer Write(Exchange& exchange, wf_sink* body, std::vector<http::Header>* headers) {
  return exchange.grpc.service->write_answer(exchange, body, headers);
}

void WriteError(Exchange& exchange, const protocol::ErrorText& error, base::StatusCode status, wf_sink* body) {
  const bool in_message = exchange.grpc.call != nullptr && exchange.grpc.service->write_part_error != nullptr;
  if (!in_message) return grpc::PutStatus(error, status, &exchange.fields);
  wf_sink message;
  exchange.grpc.service->write_part_error(exchange, error, &message);
  PutMessage(exchange, &message, body);
}

}  // namespace

void ReplyMessage(Exchange& exchange, wf_sink* message) noexcept {
  wf_sink body;
  PutMessage(exchange, message, &body);
  exchange.session->Reply(exchange, {200, {}, {&grpc::kOk, 1}, {}}, body);
}

constexpr ProtocolRow grpc_protocol = {"grpc", TakeHead, Start, Write, WriteError, base::HttpStatus, {"grpc-retry-pushback-ms", "1000"}};

}  // namespace wf::server
