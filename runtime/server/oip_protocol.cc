// The Open Inference Protocol over REST: everything under /v2.
#include <algorithm>
#include <charconv>

#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/oip/answer.h"
#include "runtime/protocol/oip/metadata.h"
#include "runtime/protocol/oip/rest_reader.h"
#include "runtime/protocol/plain/plain.h"
#include "runtime/server/oip_questions.h"
#include "runtime/server/session.h"

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
  exchange.allow_post = verb == oip::Verb::kPost;
  exchange.allow_get = !exchange.allow_post;
  exchange.Refuse(
      405, code::kInputParams,
      exchange.allow_post ? "infer and the repository are called with POST" : "what the server says of itself is asked for with GET");
  return false;
}

void TakeCall(WorkflowSite& site, Exchange& exchange, std::string_view path) {
  exchange.oip = oip::ParsePath(path);
  if (exchange.oip.call == oip::Call::kNone) return exchange.Refuse(404, code::kNoService, "the Open Inference Protocol has no such path");
  if (!TakeMethod(exchange)) return;
  if (!exchange.oip.model.empty() && !FindModel(site, exchange)) return;
  if (exchange.oip.call != oip::Call::kInfer) {
    exchange.takes_body = exchange.head.method == http::Method::kPost;
    if (exchange.takes_body) exchange.max_body_bytes = Body::kKeptBytes;
    return;
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
  int status = probe.empty() || ProbeFailure(site.shared(), probe) == nullptr ? 200 : 503;
  if (code != 0) {
    const bus::Failure& failure = scratch.main.TakeFailure(code);
    const protocol::CodeInfo info = protocol::InfoOf(scratch.plan(), failure.code);
    status = oip::OipStatus(info.status);
    exchange.Refuse(status, failure.code, std::string(failure.message));
    answer.Clear();
    const uint64_t data_id = site.OnRefused(exchange);
    oip::WriteError({failure.code, info.name, exchange.refusal, {}, data_id, exchange.log_id}, &answer);
  }
  scratch.arena.Reset(true);
  exchange.session->Reply(exchange, {status, plain::kJson, {}, {}}, answer);
}

wf_code Read(Exchange& exchange, bus::Bus& scratch, wf_bytes body) {
  return oip::ReadRest(exchange.infer.get(), scratch.ctx(), scratch.plan(), *exchange.workflow, {body, JsonBytesOf(exchange.head)});
}
wf_code Fill(Exchange& exchange, bus::Bus&, wf_bytes) { return exchange.infer->Fill(*exchange.bus); }

// The bus of a call whose samples are known, or which failed. Names and parameters are views of the body, or of the scratch memory where
// they were escaped: those that outlive this call move to the bus.
wf_code CreateBus(WorkflowSite& site, Exchange& exchange, bus::Bus& scratch, wf_code read) {
  oip::InferRequest& infer = *exchange.infer;
  bus::Bus* const bus = site.Create(exchange, read == 0 ? infer.samples() : 1, read == 0 ? infer.timeout_ns() : 0);
  if (bus == nullptr) return WF_FAILED;
  const wf_code kept = infer.KeepTexts(*bus);
  if (exchange.log_id.empty()) exchange.log_id = bus->log_id_ = infer.id();
  exchange.metadata.insert(exchange.metadata.begin(), infer.parameters().begin(), infer.parameters().end());
  bus->metadata = exchange.metadata;
  if (read == 0) return kept;
  const bus::Failure& failure = scratch.main.TakeFailure(read);
  return bus->main.Fail(failure.code, 0, failure.message, failure.for_memory).code;
}

void GoOn(WorkflowSite& site, Exchange& exchange, bus::Bus& scratch, wf_bytes body, wf_code read) {
  const wf_code code = CreateBus(site, exchange, scratch, read);
  if (exchange.bus == nullptr) return;
  const bool large = code == 0 && exchange.infer->fill_bytes() >= site.shared().large_bytes;
  if (large && site.ReadElsewhere(exchange, body, Fill, nullptr)) return;
  site.Begin(exchange, code != 0 ? code : Fill(exchange, scratch, body));
}

void Start(WorkflowSite& site, Exchange& exchange, wf_bytes body) {
  if (exchange.oip.call != oip::Call::kInfer) return AnswerQuestion(site, exchange, body);
  if (exchange.infer == nullptr) exchange.infer = std::make_unique<oip::InferRequest>();
  const int64_t json_bytes = JsonBytesOf(exchange.head);
  const bool large = json_bytes == oip::kAllJson || static_cast<uint64_t>(json_bytes) >= site.shared().large_bytes;
  if (large && site.ReadElsewhere(exchange, body, Read, GoOn)) return;
  bus::Bus& scratch = site.TakeScratch();
  GoOn(site, exchange, scratch, body, Read(exchange, scratch, body));
  scratch.arena.Reset(true);
}

protocol::Answer Write(Exchange& exchange, wf_sink* body, std::vector<http::Header>* headers) {
  return oip::WriteAnswer(*exchange.bus, *exchange.infer, {exchange.oip.model, std::max<int64_t>(exchange.version, 1)}, body, headers);
}

}  // namespace

constexpr ProtocolRow oip_protocol = {"oip", TakeHead, Start, Write, oip::WriteError, oip::OipStatus};

}  // namespace wf::server
