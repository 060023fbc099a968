// The Open Inference Protocol over REST: everything under /v2.
#include <algorithm>
#include <charconv>

#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/oip/answer.h"
#include "runtime/protocol/oip/metadata.h"
#include "runtime/protocol/oip/question_body.h"
#include "runtime/protocol/oip/rest_reader.h"
#include "runtime/protocol/plain/plain.h"
#include "runtime/server/codings.h"
#include "runtime/server/intake.h"
#include "runtime/server/oip_calls.h"
#include "runtime/server/oip_questions.h"
#include "runtime/server/own_answers.h"

namespace wf::server {
namespace {

constexpr int64_t kNoNumber = -2;

// Where raw tensors begin in the body; oip::kAllJson: there are none. Twice or no number: kNoNumber.
int64_t JsonBytesOf(const http::Head& head) {
  int64_t bytes = oip::kAllJson;
  for (const http::Header& header : head.headers()) {
    if (header.name != oip::kJsonBytesHeader) continue;
    const char* const end = header.value.data() + header.value.size();
    if (bytes != oip::kAllJson || header.value.starts_with('-')) return kNoNumber;
    const auto [at, error] = std::from_chars(header.value.data(), end, bytes);
    if (error != std::errc() || at != end || header.value.empty()) return kNoNumber;
  }
  return bytes;
}

// Does the method fit the call? Else a refusal.
bool TakeMethod(Exchange& exchange) {
  const http::Method method = exchange.head.method;
  const bool post = method == http::Method::kPost, get = method == http::Method::kGet || method == http::Method::kHead;
  const oip::Verb verb = oip::VerbOf(exchange.oip.call);
  if (verb == oip::Verb::kEither ? post || get : verb == oip::Verb::kPost ? post : get) return true;
  exchange.allow_post = verb != oip::Verb::kGet;
  exchange.allow_get = verb != oip::Verb::kPost;
  exchange.Refuse(
      405, code::kInputParams,
      verb == oip::Verb::kPost ? "infer and the repository are called with POST" : "what the server says of itself is asked for with GET");
  return false;
}

void TakeCall(WorkflowSite& site, Exchange& exchange, std::string_view path) {
  exchange.oip = oip::ParsePath(path);
  if (exchange.oip.call == oip::Call::kNone) return exchange.Refuse(404, code::kNoService, "the Open Inference Protocol has no such path");
  if (!TakeMethod(exchange)) return;
  if (!exchange.oip.model.empty() && !FindModel(site, exchange)) return;
  if (exchange.oip.call != oip::Call::kInfer) {
    exchange.takes_body = exchange.head.method == http::Method::kPost;
    if (!exchange.takes_body) return;
    exchange.max_body_bytes = Body::kKeptBytes;
    if (exchange.oip.call == oip::Call::kLoad) exchange.too_large = oip::kNothingIsLoaded;
    return TakeCoding(exchange);
  }
  const int64_t json_bytes = JsonBytesOf(exchange.head);
  if (json_bytes == kNoNumber)
    return exchange.Refuse(400, code::kInputParams, "`inference-header-content-length` is one whole number of bytes");
  if (json_bytes > 0) exchange.body.AlignAt(static_cast<size_t>(json_bytes));
  site.AdmitTo(exchange);
}

bool TakeHead(WorkflowSite& site, Exchange& exchange, std::string_view path) {
  if (!oip::IsPath(path.empty() ? exchange.head.path : path)) return false;
  TakeCall(site, exchange, path);
  return true;
}

// The probe that a question stands for; empty: none, its answer is always given.
std::string_view ProbeOfQuestion(oip::Call call) {
  if (call == oip::Call::kServerLive) return kLivePath;
  return call == oip::Call::kServerReady || call == oip::Call::kModelReady ? kReadyPath : std::string_view();
}

// Everything but a call.
void AnswerQuestion(WorkflowSite& site, Exchange& exchange, wf_bytes body) {
  wf_sink answer;
  bus::Bus& scratch = site.TakeScratch();
  wf_code code = 0;
  {
    oip::JsonFields fields(&answer, exchange.oip.call == oip::Call::kIndex);
    code = PutAnswer(site, exchange, scratch.ctx(), {body}, fields);
  }
  const std::string_view probe = ProbeOfQuestion(exchange.oip.call);
  const int status = probe.empty() || ProbeFailure(site.shared(), probe) == nullptr ? 200 : 503;
  if (code != 0) RefuseWith(exchange, scratch, code);
  scratch.arena.Reset(true);
  if (exchange.refused()) return AnswerRefusal(exchange);
  ReplyCoded(exchange, site.code_from(), {status, plain::kJson, {}, {}}, answer);
}

wf_code Read(Exchange& exchange, bus::Bus& scratch, wf_bytes body) {
  return oip::ReadRest(exchange.infer.get(), scratch.ctx(), scratch.plan(), *exchange.workflow, {body, JsonBytesOf(exchange.head)});
}

void Start(WorkflowSite& site, Exchange& exchange, wf_bytes body) {
  if (exchange.oip.call != oip::Call::kInfer) return AnswerQuestion(site, exchange, body);
  const int64_t json_bytes = JsonBytesOf(exchange.head);
  const uint64_t to_read = json_bytes == oip::kAllJson ? body.len : static_cast<uint64_t>(json_bytes);
  StartInfer(site, exchange, body, Read, to_read >= site.shared().large_bytes);
}

protocol::Answer Write(Exchange& exchange, wf_sink* body, std::vector<http::Header>* headers) {
  return oip::WriteAnswer(*exchange.bus, *exchange.infer, {exchange.oip.model, std::max<int64_t>(exchange.version, 1)}, body, headers);
}

void WriteError(Exchange&, const protocol::ErrorText& error, base::StatusCode, wf_sink* body) { oip::WriteError(error, body); }

}  // namespace

constexpr ProtocolRow oip_protocol = {"oip", TakeHead, Start, Write, WriteError, oip::OipStatus, kRetryAfter};

}  // namespace wf::server
