// The Open Inference Protocol over gRPC.
#include <algorithm>
#include <string>

#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/grpc/files.h"
#include "runtime/protocol/grpc/status.h"
#include "runtime/protocol/oip/message_answer.h"
#include "runtime/protocol/oip/message_reader.h"
#include "runtime/protocol/oip/question_body.h"
#include "runtime/server/grpc_calls.h"
#include "runtime/server/grpc_service.h"
#include "runtime/server/intake.h"
#include "runtime/server/oip_calls.h"
#include "runtime/server/oip_questions.h"

namespace wf::server {
namespace {

bool Find(const WorkflowSite& site, std::string_view name, GrpcMethod* method) {
  const oip::Call call = oip::CallOf(name);
  if (call == oip::Call::kInfer) method->most_bytes = site.largest_body_limit();
  if (call == oip::Call::kLoad) method->too_large = oip::kNothingIsLoaded;
  method->streams = method->takes_many = name == "ModelStreamInfer";
  return call != oip::Call::kNone;
}

void AnswerQuestion(WorkflowSite& site, Exchange& exchange, wf_bytes message) {
  wf_sink answer;
  bus::Bus& scratch = site.TakeScratch();
  wf_code code = 0;
  {
    oip::MessageFields fields(&answer);
    code = PutAnswer(site, exchange, scratch.ctx(), {message, true}, fields);
  }
  if (code != 0) RefuseWith(exchange, scratch, code);
  scratch.arena.Reset(true);
  if (exchange.refused()) return AnswerRefusal(exchange);
  ReplyMessage(exchange, &answer);
}

wf_code Read(Exchange& exchange, bus::Bus& scratch, wf_bytes message) {
  return oip::ReadMessage(exchange.infer.get(), scratch.ctx(), scratch.plan(), *exchange.workflow, message);
}

// Which workflow a call is for stands in its message: it is admitted when that is there.
void AdmitMessage(WorkflowSite& site, Exchange& exchange, wf_bytes message) {
  const uint64_t most = site.BodyLimitOf(*exchange.workflow);
  if (message.len <= most) {
    site.Admit(exchange);
    if (exchange.needs_place) site.TakePlace(exchange);
    return;
  }
  exchange.Refuse(413, code::kInputParams, "the message is larger than the " + std::to_string(most) + " bytes that the service takes");
}

// Of a model, or a version, that is not there: clients wait for it by asking until it is.
void AnswerNotReady(Exchange& exchange) {
  wf_sink answer;
  exchange.refusal_status = 0;
  oip::MessageFields(&answer).Bool({"ready", 1}, false);
  ReplyMessage(exchange, &answer);
}

// No bus keeps the id of a call that does not begin: it is told where it stands.
void AnswerRefused(Exchange& exchange, wf_bytes message) {
  if (exchange.log_id.empty() && exchange.oip.call == oip::Call::kInfer) exchange.log_id = oip::IdOf(exchange.oip, message);
  AnswerRefusal(exchange);
}

// `long_work`: reading what the message says takes another thread.
void ServeRouted(WorkflowSite& site, Exchange& exchange, wf_bytes message, oip::RouteRead route, bool long_work) {
  const oip::Call call = exchange.oip.call;
  if (route != oip::RouteRead::kDone)
    exchange.Refuse(400, code::kInputParams, route == oip::RouteRead::kBroken ? "the message is none of this method" : oip::kTooManyFields);
  else if ((oip::NamesModel(call) || !exchange.oip.model.empty()) && !FindModel(site, exchange) && call == oip::Call::kModelReady)
    return AnswerNotReady(exchange);
  if (!exchange.refused() && call == oip::Call::kInfer) AdmitMessage(site, exchange, message);
  if (exchange.refused()) return AnswerRefused(exchange, message);
  if (call == oip::Call::kInfer)
    StartInfer(site, exchange, message, Read, long_work);
  else
    AnswerQuestion(site, exchange, message);
}

oip::RouteRead ReadRouteOf(Exchange& exchange, wf_bytes message, uint32_t most_fields, uint64_t* raw_bytes) {
  return oip::ReadRoute(exchange.grpc.method, message, most_fields, &exchange.oip, raw_bytes);
}

// On another thread; the RouteRead goes on as a code.
wf_code ReadLongRoute(Exchange& exchange, bus::Bus&, wf_bytes message) {
  uint64_t raw_bytes = 0;
  return static_cast<wf_code>(ReadRouteOf(exchange, message, oip::kMaxFields, &raw_bytes));
}

void GoOn(WorkflowSite& site, Exchange& exchange, bus::Bus&, wf_bytes message, wf_code route) {
  ServeRouted(site, exchange, message, static_cast<oip::RouteRead>(route), true);
}

void Serve(WorkflowSite& site, Exchange& exchange, wf_bytes message) {
  uint64_t raw_bytes = 0;
  oip::RouteRead route = ReadRouteOf(exchange, message, oip::kFieldsAtOnce, &raw_bytes);
  if (route == oip::RouteRead::kManyFields) {
    if (site.ReadElsewhere(exchange, message, ReadLongRoute, GoOn)) return;
    route = ReadRouteOf(exchange, message, oip::kMaxFields, &raw_bytes);
  }
  ServeRouted(site, exchange, message, route, message.len - raw_bytes >= site.shared().large_bytes);
}

oip::Served ServedBy(const Exchange& exchange) { return {exchange.oip.model, std::max<int64_t>(exchange.version, 1)}; }

// Of a stream: as a ModelStreamInferResponse.
bool WriteResult(Exchange& exchange, wf_sink* message, protocol::ErrorText* error) {
  bus::Bus& bus = *exchange.bus;
  if (exchange.grpc.call == nullptr) return oip::WriteMessage(bus, *exchange.infer, ServedBy(exchange), message, error);
  wf_sink response;
  if (!oip::WriteMessage(bus, *exchange.infer, ServedBy(exchange), &response, error)) return false;
  oip::WriteStreamed(&response, message);
  return true;
}

// While another thread reads the part nobody knows its id.
void WritePartError(const Exchange& part, const protocol::ErrorText& error, wf_sink* message) {
  if (part.elsewhere != nullptr) return oip::WriteStreamedError({}, error, message);
  const std::span<const uint8_t> request = part.body.bytes();
  oip::WriteStreamedError(oip::IdOf(part.oip, {request.data(), request.size()}), error, message);
}

protocol::Answer WriteAnswer(Exchange& exchange, wf_sink* body, std::vector<http::Header>* headers) {
  bus::Bus& bus = *exchange.bus;
  wf_sink message;
  protocol::ErrorText error;
  if (WriteResult(exchange, &message, &error)) {
    PutMessage(exchange, &message, body);
    headers->push_back(grpc::kOk);
    if (!body->failed()) return {};
    error = oip::FailureOf(bus, bus::WhyFailed(*body), *exchange.infer);
    body->Clear();
    headers->clear();
  }
  const base::StatusCode status = protocol::InfoOf(bus.plan(), error.code).status;
  if (exchange.grpc.call != nullptr) {
    message.Clear();
    WritePartError(exchange, error, &message);
    PutMessage(exchange, &message, body);
  } else {
    http::Head fields;
    grpc::PutStatus(error, status, &fields);
    for (const http::Header& field : fields.headers()) headers->push_back({oip::Keep(bus, field.name), oip::Keep(bus, field.value)});
  }
  return {error.code, base::HttpStatus(status), error.message, error.path};
}

}  // namespace

constexpr GrpcService grpc_inference = {.name = "inference.GRPCInferenceService",
                                        .file = grpc::InferenceFile,
                                        .find = Find,
                                        .serve = Serve,
                                        .write_part_error = WritePartError,
                                        .write_answer = WriteAnswer,
                                        .aligned_at = oip::RawAt};

}  // namespace wf::server
