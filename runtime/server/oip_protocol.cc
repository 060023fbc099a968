// The Open Inference Protocol over REST: everything under /v2.
#include <algorithm>

#include "runtime/base/error_codes.h"
#include "runtime/base/text.h"
#include "runtime/protocol/oip/answer.h"
#include "runtime/protocol/oip/metadata.h"
#include "runtime/protocol/plain/plain.h"
#include "runtime/server/session.h"
#include "runtime/server/workflow_site.h"

namespace wf::server {
namespace {

bool FindVersion(const WorkflowSite& site, const wf_workflow& workflow, Exchange& exchange) {
  const std::string_view text = exchange.oip.version;
  if (text.empty()) return true;
  const std::vector<int64_t> versions = site.VersionsOf(workflow);
  const auto found = std::find_if(versions.begin(), versions.end(), [text](int64_t version) { return std::to_string(version) == text; });
  if (found == versions.end()) return false;
  exchange.version = *found;
  return true;
}

// The workflow that the path names, else a refusal. Afterwards no part of the route is a view of the path.
bool FindModel(const WorkflowSite& site, Exchange& exchange) {
  const Shared& shared = site.shared();
  const std::string_view name = exchange.oip.model;
  const oip::Names::Entry* const model = shared.models.Find(name);
  base::TextBuilder message;
  if (model == nullptr) {
    const std::string_view nearest = shared.models.Nearest(name);
    message << "no model is called `";
    message.Quote(name) << "`";
    if (!nearest.empty()) message << "; did you mean `" << nearest << "`";
  } else if (!FindVersion(site, *model->second, exchange)) {
    message << "model `" << model->first << "` has no version `";
    message.Quote(exchange.oip.version) << "`; it has";
    for (const int64_t version : site.VersionsOf(*model->second)) message << " " << version;
  } else {
    exchange.oip.model = model->first;
    exchange.oip.version = {};
    exchange.workflow = model->second;
    return true;
  }
  exchange.oip.model = exchange.oip.version = {};
  exchange.Refuse(404, code::kNoService, message.str());
  return false;
}

void TakeCall(WorkflowSite& site, Exchange& exchange, std::string_view path) {
  const http::Head& head = exchange.head;
  exchange.oip = oip::ParsePath(path);
  if (exchange.oip.call == oip::Call::kNone) return exchange.Refuse(404, code::kNoService, "the Open Inference Protocol has no such path");
  const bool infer = exchange.oip.call == oip::Call::kInfer;
  const bool get = head.method == http::Method::kGet || head.method == http::Method::kHead;
  if (infer ? head.method != http::Method::kPost : !get) {
    (infer ? exchange.allow_post : exchange.allow_get) = true;
    return exchange.Refuse(405, code::kInputParams, infer ? "infer is called with POST" : "metadata and health are asked for with GET");
  }
  if (exchange.oip.model.empty()) return;
  if (!FindModel(site, exchange) || !infer) return;
  if (head.Find("inference-header-content-length").data() != nullptr)
    return exchange.Refuse(501, code::kNotImplemented, "raw tensors over REST are not built yet; send `data` as JSON");
  site.AdmitTo(exchange);
}

bool TakeHead(WorkflowSite& site, Exchange& exchange, std::string_view path) {
  if (!oip::IsPath(path.empty() ? exchange.head.path : path)) return false;
  TakeCall(site, exchange, path);
  return true;
}

// Everything but a call.
void AnswerQuestion(const WorkflowSite& site, Exchange& exchange) {
  const Shared& shared = site.shared();
  const bool ready = ProbeStatus(shared, "/readyz") == 200;
  int status = 200;
  wf_sink body;
  switch (exchange.oip.call) {
    case oip::Call::kServerMetadata:
      oip::WriteServerMetadata(&body);
      break;
    case oip::Call::kServerLive:
      oip::WriteHealth("live", true, &body);
      break;
    case oip::Call::kServerReady:
      oip::WriteHealth("ready", ready, &body);
      status = ready ? 200 : 503;
      break;
    case oip::Call::kModelMetadata:
      oip::WriteModelMetadata(shared.plan, *exchange.workflow, exchange.oip.model, site.VersionsOf(*exchange.workflow), &body);
      break;
    case oip::Call::kModelReady:
      oip::WriteModelReady(exchange.oip.model, ready, &body);
      status = ready ? 200 : 503;
      break;
    case oip::Call::kInfer:
    case oip::Call::kNone:
      break;
  }
  exchange.session->Reply(exchange, {status, plain::kJson, {}, {}}, body);
}

wf_code Read(Exchange& exchange, bus::Bus& scratch, wf_bytes body) {
  return exchange.infer->Read(scratch.ctx(), scratch.plan(), *exchange.workflow, body);
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
  return bus->main.Fail(failure.code, 0, failure.message).code;
}

void GoOn(WorkflowSite& site, Exchange& exchange, bus::Bus& scratch, wf_bytes body, wf_code read) {
  const wf_code code = CreateBus(site, exchange, scratch, read);
  if (exchange.bus == nullptr || (code == 0 && site.ReadElsewhere(exchange, body, Fill, nullptr))) return;
  site.Begin(exchange, code != 0 ? code : Fill(exchange, scratch, body));
}

void Start(WorkflowSite& site, Exchange& exchange, wf_bytes body) {
  if (exchange.oip.call != oip::Call::kInfer) return AnswerQuestion(site, exchange);
  if (exchange.infer == nullptr) exchange.infer = std::make_unique<oip::InferRequest>();
  if (site.ReadElsewhere(exchange, body, Read, GoOn)) return;
  bus::Bus& scratch = site.TakeScratch();
  GoOn(site, exchange, scratch, body, Read(exchange, scratch, body));
  scratch.arena.Reset(true);
}

protocol::Answer Write(Exchange& exchange, wf_sink* body, std::vector<http::Header>*) {
  return oip::WriteAnswer(*exchange.bus, *exchange.infer, exchange.oip.model, std::max<int64_t>(exchange.version, 1), body);
}

}  // namespace

constexpr ProtocolRow oip_protocol = {"oip", TakeHead, Start, Write, oip::WriteError, oip::OipStatus};

}  // namespace wf::server
