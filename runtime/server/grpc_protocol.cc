// Calls of gRPC: the services that the server has, by their paths.
#include <algorithm>
#include <string>

#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/grpc/head.h"
#include "runtime/protocol/grpc/status.h"
#include "runtime/protocol/oip/message_answer.h"
#include "runtime/protocol/oip/message_reader.h"
#include "runtime/server/grpc_calls.h"
#include "runtime/server/intake.h"
#include "runtime/server/oip_calls.h"
#include "runtime/server/oip_questions.h"
#include "runtime/server/session.h"

namespace wf::server {
namespace {

constexpr std::string_view kInference = "/inference.GRPCInferenceService/";

// What is not gRPC answers as HTTP does, so that no client takes the answer for that of its call.
bool RefuseType(Exchange& exchange, std::string_view path) {
  if (!path.starts_with(kInference)) return false;
  exchange.protocol = Protocol::kPlain;
  exchange.Refuse(415, code::kInputParams, "calls of gRPC come over HTTP/2 with the content type `application/grpc`");
  return true;
}

bool TakeHead(WorkflowSite& site, Exchange& exchange, std::string_view) {
  const std::string_view path = exchange.head.path;
  const bool is_grpc = exchange.stream != nullptr && grpc::IsContentType(exchange.head.Find("content-type"));
  if (!is_grpc) return RefuseType(exchange, path);
  const bool is_ours = path.starts_with(kInference);
  if (is_ours) oip::ReadRoute(path.substr(kInference.size()), {}, &exchange.oip);
  TakeGrpcHead(exchange, exchange.oip.call == oip::Call::kInfer ? site.LargestBodyLimit() : Body::kKeptBytes);
  if (exchange.oip.call != oip::Call::kNone || exchange.refused()) return true;
  base::TextBuilder message;
  message << (is_ours ? "the service has no method `" : "no service has the method `");
  message.Quote(path.substr(is_ours ? kInference.size() : 0)) << "`";
  exchange.Refuse(501, code::kNotImplemented, message.str());
  return true;
}

void AnswerQuestion(WorkflowSite& site, Exchange& exchange, wf_bytes message) {
  wf_sink answer, body;
  bus::Bus& scratch = site.TakeScratch();
  wf_code code = 0;
  {
    oip::MessageFields fields(&answer);
    code = PutAnswer(site, exchange, scratch.ctx(), {message, true}, fields);
  }
  if (code != 0) RefuseWith(exchange, scratch, code);
  scratch.arena.Reset(true);
  if (exchange.refused()) return AnswerRefusal(exchange);
  PutMessage(exchange, &answer, &body);
  exchange.session->Reply(exchange, {200, {}, {&grpc::kOk, 1}, {}}, body);
}

wf_code Read(Exchange& exchange, bus::Bus& scratch, wf_bytes message) {
  return oip::ReadMessage(exchange.infer.get(), scratch.ctx(), scratch.plan(), *exchange.workflow, message);
}

// Which workflow a call is for stands in its message: it is admitted when that is there.
void AdmitMessage(WorkflowSite& site, Exchange& exchange, wf_bytes message) {
  const uint64_t most = site.BodyLimitOf(*exchange.workflow);
  if (message.len <= most) return site.Admit(exchange);
  exchange.Refuse(413, code::kInputParams, "the message is larger than the " + std::to_string(most) + " bytes that the service takes");
}

void Serve(WorkflowSite& site, Exchange& exchange, wf_bytes message) {
  const oip::Call call = exchange.oip.call;
  const std::string_view method = exchange.head.path.substr(kInference.size());
  if (!oip::ReadRoute(method, message, &exchange.oip))
    exchange.Refuse(400, code::kInputParams, "the message is none of this method");
  else if (oip::NamesModel(call) || !exchange.oip.model.empty())
    FindModel(site, exchange);
  if (!exchange.refused() && call == oip::Call::kInfer) AdmitMessage(site, exchange, message);
  if (exchange.refused()) return AnswerRefusal(exchange);
  if (call == oip::Call::kInfer)
    StartInfer(site, exchange, message, Read, false);
  else
    AnswerQuestion(site, exchange, message);
}

wf_code Expand(Exchange& exchange, bus::Bus& scratch, wf_bytes message) {
  return ExpandMessage(static_cast<WorkflowSite&>(*exchange.site), exchange, scratch.ctx(), message);
}

void GoOn(WorkflowSite& site, Exchange& exchange, bus::Bus& scratch, wf_bytes, wf_code expanded) {
  if (expanded != 0) {
    RefuseWith(exchange, scratch, expanded);
    return AnswerRefusal(exchange);
  }
  const wf_bytes message = exchange.grpc.expanded.Seal();
  if (message.ptr != nullptr) return Serve(site, exchange, message);
  exchange.RefuseForMemory("no memory for the message");
  AnswerRefusal(exchange);
}

void Start(WorkflowSite& site, Exchange& exchange, wf_bytes message) {
  constexpr uint64_t kMostTimes = 64;  // that a coded message is long without its coding, to be read on the loop
  TakeLastMessage(exchange);
  if (exchange.refused()) return AnswerRefusal(exchange);
  if (!exchange.grpc.coded) return Serve(site, exchange, message);
  if (message.len * kMostTimes >= site.shared().large_bytes && site.ReadElsewhere(exchange, message, Expand, GoOn)) return;
  bus::Bus& scratch = site.TakeScratch();
  const wf_code code = Expand(exchange, scratch, message);
  GoOn(site, exchange, scratch, message, code);
  scratch.arena.Reset(true);
}

void WriteError(Exchange& exchange, const protocol::ErrorText& error, base::StatusCode status, wf_sink*) {
  grpc::PutStatus(error, status, &exchange.fields);
}

protocol::Answer Write(Exchange& exchange, wf_sink* body, std::vector<http::Header>* headers) {
  bus::Bus& bus = *exchange.bus;
  wf_sink message;
  protocol::ErrorText error;
  if (oip::WriteMessage(bus, *exchange.infer, {exchange.oip.model, std::max<int64_t>(exchange.version, 1)}, &message, &error)) {
    PutMessage(exchange, &message, body);
    if (!body->failed()) {
      headers->push_back(grpc::kOk);
      return {};
    }
    body->Clear();
    error = oip::FailureOf(bus, bus::kOutOfMemory, *exchange.infer);
  }
  const base::StatusCode status = protocol::InfoOf(bus.plan(), error.code).status;
  http::Head fields;
  grpc::PutStatus(error, status, &fields);
  for (const http::Header& field : fields.headers()) headers->push_back({oip::Keep(bus, field.name), oip::Keep(bus, field.value)});
  return {error.code, base::HttpStatus(status), error.message};
}

}  // namespace

constexpr ProtocolRow grpc_protocol = {"grpc", TakeHead, Start, Write, WriteError, base::HttpStatus, {"grpc-retry-pushback-ms", "1000"}};

}  // namespace wf::server
