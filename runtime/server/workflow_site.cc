#include "runtime/server/workflow_site.h"

#include <algorithm>
#include <new>

#include "runtime/base/check.h"
#include "runtime/base/text.h"
#include "runtime/observe/crash.h"
#include "runtime/observe/log.h"
#include "runtime/protocol/oip/answer.h"
#include "runtime/protocol/oip/metadata.h"
#include "runtime/protocol/plain/plain.h"
#include "runtime/sched/catalogue.h"
#include "runtime/server/http_session.h"

namespace wf::server {
namespace {

enum Route { kNothing, kProbe, kWorkflow, kOip };

template <typename Read>
int64_t SumOver(const Shared& shared, Read&& read) {
  int64_t sum = 0;
  for (const auto& loop : shared.loops) sum += static_cast<int64_t>(read(*loop));
  return sum;
}

}  // namespace

void RequestCounts::Add(wf_code code, int64_t ns) noexcept {
  duration.Add(ns);
  if (code == 0) return ok.Add();
  for (ByCode& row : by_code) {
    const int32_t taken = row.code.load(std::memory_order_relaxed);
    if (taken != code && taken != 0) continue;
    row.code.store(code, std::memory_order_relaxed);
    row.count.Add();
    return;
  }
  other.Add();
}

LoopCounts::LoopCounts(size_t n_workflows, size_t n_services) : inflight(n_services) {
  for (size_t i = 0; i < n_workflows * kProtocols; ++i) requests.push_back(std::make_unique<RequestCounts>());
}

bool AnswersProbe(std::string_view path) { return path == "/livez" || path == "/readyz"; }

int ProbeStatus(const Shared& shared, std::string_view path) {
  if (path == "/livez") return 200;  // whoever asks a loop gets an answer only while it turns
  return shared.ready.load(std::memory_order_relaxed) && !shared.draining.load(std::memory_order_relaxed) ? 200 : 503;
}

void WorkflowSite::OnHead(Exchange& exchange) noexcept {
  const http1::Head& head = exchange.head;
  exchange.received_at = shared_.clock.Now();
  exchange.log_id = head.Find("x-request-id");
  exchange.max_body_bytes = HttpSession::kMaxDiscarded;
  std::string_view path = head.path;
  if (!http1::PercentDecode(head.path, false, &path, &path_)) path = {};
  exchange.workflow = shared_.router.Find(path);
  if (exchange.workflow != nullptr) return OnWorkflowHead(exchange);
  if (AnswersProbe(head.path)) {
    exchange.route = kProbe;
    if (head.method == http1::Method::kGet || head.method == http1::Method::kHead) return;
    exchange.allow_get = true;
    return exchange.Refuse(405, protocol::kInputParams, "the probes take GET");
  }
  if (oip::IsPath(head.path)) return OnOipHead(exchange);
  const std::string_view nearest = shared_.router.Nearest(head.path);
  base::TextBuilder message;
  message << "nothing is served at `";
  message.Quote(head.path) << "`";
  if (!nearest.empty()) message << "; did you mean `" << nearest << "`";
  exchange.Refuse(404, protocol::kNoService, message.str());
}

void WorkflowSite::OnOipHead(Exchange& exchange) noexcept {
  const http1::Head& head = exchange.head;
  exchange.route = kOip;
  exchange.protocol = Protocol::kOip;
  exchange.oip = oip::ParsePath(head.path);
  if (exchange.oip.call == oip::Call::kNone)
    return exchange.Refuse(404, protocol::kNoService, "the Open Inference Protocol has no such path");
  const bool infer = exchange.oip.call == oip::Call::kInfer;
  const bool get = head.method == http1::Method::kGet || head.method == http1::Method::kHead;
  if (infer ? head.method != http1::Method::kPost : !get) {
    (infer ? exchange.allow_post : exchange.allow_get) = true;
    return exchange.Refuse(405, protocol::kInputParams, infer ? "infer is called with POST" : "metadata and health are asked for with GET");
  }
  if (exchange.oip.model.empty()) return;
  if (!FindModel(exchange) || !infer) return;
  if (head.Find("inference-header-content-length").data() != nullptr)
    return exchange.Refuse(501, protocol::kNotImplemented, "raw tensors over REST are not built yet; send `data` as JSON");
  AdmitTo(exchange);
}

// A workflow of the program is version 1; a published model has those that were loaded.
std::vector<int64_t> WorkflowSite::VersionsOf(const wf_workflow& workflow) const {
  if (workflow.is_model == 0) return {1};
  std::vector<int64_t> numbers;
  for (const sched::ModelVersion& version : engine_->catalogue().versions) {
    if (version.model == workflow.model) numbers.insert(numbers.begin(), version.number);
  }
  return numbers;
}

bool WorkflowSite::FindVersion(Exchange& exchange, const wf_workflow& workflow) const {
  const std::string_view text = exchange.oip.version;
  if (text.empty()) return true;
  const std::vector<int64_t> versions = VersionsOf(workflow);
  const auto found = std::find_if(versions.begin(), versions.end(), [text](int64_t version) { return std::to_string(version) == text; });
  if (found == versions.end()) return false;
  exchange.version = *found;
  return true;
}

// The workflow that the path names, else a refusal. Afterwards the model's name is one that outlives the request.
bool WorkflowSite::FindModel(Exchange& exchange) noexcept {
  std::string_view name;
  std::vector<char> storage;
  const bool decoded = http1::PercentDecode(exchange.oip.model, false, &name, &storage);
  const oip::Names::Entry* const model = decoded ? shared_.models.Find(name) : nullptr;
  base::TextBuilder message;
  if (model == nullptr) {
    const std::string_view nearest = shared_.models.Nearest(name);
    message << "no model is called `";
    message.Quote(decoded ? name : exchange.oip.model) << "`";
    if (!nearest.empty()) message << "; did you mean `" << nearest << "`";
  } else if (!FindVersion(exchange, *model->second)) {
    message << "model `" << model->first << "` has no version `";
    message.Quote(exchange.oip.version) << "`; it has";
    for (const int64_t version : VersionsOf(*model->second)) message << " " << version;
  } else {
    exchange.oip.model = model->first;
    exchange.workflow = model->second;
    return true;
  }
  exchange.Refuse(404, protocol::kNoService, message.str());
  return false;
}

void WorkflowSite::OnWorkflowHead(Exchange& exchange) noexcept {
  exchange.route = kWorkflow;
  if (exchange.head.method == http1::Method::kPost) return AdmitTo(exchange);
  exchange.allow_post = true;
  exchange.Refuse(405, protocol::kInputParams, "a workflow is called with POST");
}

void WorkflowSite::AdmitTo(Exchange& exchange) noexcept {
  const uint64_t own = exchange.workflow->body_max;
  exchange.max_body_bytes = own == 0 ? static_cast<uint64_t>(settings_->body_bytes.value) : own;
  if (Admit(exchange)) return;
  exchange.retry_after_seconds = 1;
}

// In flight by service and bytes of bodies, over all loops: each loop writes its own numbers, so the limits may be passed by as many
// requests as there are loops.
bool WorkflowSite::Admit(Exchange& exchange) noexcept {
  const wf_workflow& workflow = *exchange.workflow;
  const size_t service = workflow.service_index;
  const int64_t most = workflow.inflight_max != 0 ? int64_t{workflow.inflight_max} : int64_t{settings_->inflight};
  if (SumOver(shared_, [service](const LoopCounts& loop) { return loop.inflight[service].value(); }) >= most) {
    counts_.refused_inflight.Add();
    exchange.Refuse(429, protocol::kRefused, "the service has as many requests in flight as it takes");
    return false;
  }
  const int64_t length = std::max<int64_t>(exchange.head.content_length, 0);
  if (static_cast<uint64_t>(length) > exchange.max_body_bytes) return true;  // the session answers 413, which no waiting cures
  if (length > static_cast<int64_t>(Body::kKeptBytes) && !TakeBytes(exchange, length)) return false;
  exchange.admitted = true;
  counts_.inflight[service].Add();
  counts_.inflight_all.Add();
  return true;
}

bool WorkflowSite::TakeBytes(Exchange& exchange, int64_t bytes) noexcept {
  const int64_t more = bytes - exchange.claimed_bytes;
  if (SumOver(shared_, [](const LoopCounts& loop) { return loop.claimed_bytes.value(); }) + more > shared_.claimable_bytes) {
    counts_.refused_bytes.Add();
    exchange.Refuse(429, protocol::kRefused, "the bodies of other requests take all the memory there is for them");
    exchange.retry_after_seconds = 1;
    return false;
  }
  exchange.claimed_bytes = bytes;
  counts_.claimed_bytes.Add(static_cast<uint64_t>(more));
  return true;
}

bool WorkflowSite::Claim(Exchange& exchange, int64_t bytes) noexcept {
  constexpr int64_t kStep = 64 * 1024;
  if (!exchange.admitted || bytes <= std::max<int64_t>(exchange.claimed_bytes, Body::kKeptBytes)) return true;
  return TakeBytes(exchange, (bytes + kStep - 1) / kStep * kStep);
}

void WorkflowSite::OnFinished(Exchange& exchange) noexcept {
  if (!exchange.admitted) return;
  counts_.inflight[exchange.workflow->service_index].Subtract();
  counts_.inflight_all.Subtract();
  counts_.claimed_bytes.Subtract(static_cast<uint64_t>(exchange.claimed_bytes));
}

void WorkflowSite::set_engine(sched::Engine* engine, bus::Memory& memory, base::Mailbox& mailbox) {
  engine_ = engine;
  memory_ = &memory;
  mailbox_ = &mailbox;
  OpenScratch(&scratch_);
}

// A bus of nobody: memory and a place for the failure of what is read before it is known which bus there will be.
void WorkflowSite::OpenScratch(bus::Bus* scratch) const {
  constexpr size_t kScratchBytes = 4096 - 64;
  scratch->plan_ = &shared_.plan;
  scratch->main.bus = scratch;
  scratch->main.arena = &scratch->arena;
  scratch->main.head.stop = &scratch->stop_word;
  scratch->arena.Open(*memory_, scratch->budget, kScratchBytes);
}

void WorkflowSite::OnRequest(Exchange& exchange) noexcept {
  if (exchange.route == kProbe) return AnswerProbe(exchange);
  if (exchange.route == kOip && exchange.oip.call != oip::Call::kInfer) return AnswerOip(exchange);
  const wf_bytes body = exchange.body.Seal();
  if (body.ptr == nullptr) return AnswerNoMemory(exchange);
  if (exchange.route == kOip)
    StartInfer(exchange, body);
  else
    StartPlain(exchange, body);
  observe::working.data_id = 0;
}

bus::Bus* WorkflowSite::Create(Exchange& exchange, uint32_t samples, int64_t timeout_ns, std::string_view log_id) noexcept {
  sched::Request request;
  request.workflow = exchange.workflow;
  request.client = &exchange;
  request.samples = samples;
  request.received_at = exchange.received_at;
  request.timeout_ns = timeout_ns;
  request.log_id = log_id;
  request.user = &exchange;
  if (exchange.workflow->is_model != 0) {
    request.version = engine_->catalogue().Find(exchange.workflow->model, exchange.version);
    WF_CHECK(request.version != nullptr, exchange.version);  // versions stay while the server runs
    exchange.version = request.version->number;
  }
  exchange.bus = engine_->Create(request);
  if (exchange.bus == nullptr) {
    AnswerNoMemory(exchange);
    return nullptr;
  }
  observe::working.data_id = exchange.bus->data_id();
  for (const http1::Header& header : exchange.head.headers()) exchange.metadata.push_back({header.name, header.value});
  exchange.bus->metadata = exchange.metadata;
  return exchange.bus;
}

void WorkflowSite::Begin(Exchange& exchange, wf_code code) noexcept {
  if (code != 0)
    engine_->Reject(*exchange.bus, code);
  else
    engine_->Start(*exchange.bus);
}

void WorkflowSite::StartPlain(Exchange& exchange, wf_bytes body) noexcept {
  bus::Bus* const bus = Create(exchange, 1, 0, exchange.log_id);
  if (bus == nullptr || Offload(exchange, body, false)) return;
  Begin(exchange, plain::ReadRequest(*bus, exchange.head, body));
}

void WorkflowSite::StartInfer(Exchange& exchange, wf_bytes body) noexcept {
  if (exchange.infer == nullptr) exchange.infer = std::make_unique<oip::InferRequest>();
  if (Offload(exchange, body, true)) return;
  scratch_.main.failure = nullptr;
  const wf_code code = CreateInfer(exchange, scratch_, exchange.infer->Read(scratch_.ctx(), shared_.plan, *exchange.workflow, body));
  if (exchange.bus != nullptr) Begin(exchange, code != 0 ? code : exchange.infer->Fill(*exchange.bus));
  scratch_.arena.Reset(true);
}

// The bus of an `infer` call whose samples are known, or which failed. Names and parameters are views of the body, or of the scratch memory
// where they were escaped: those that outlive this call move to the bus.
wf_code WorkflowSite::CreateInfer(Exchange& exchange, bus::Bus& scratch, wf_code read) noexcept {
  oip::InferRequest& infer = *exchange.infer;
  bus::Bus* const bus = Create(exchange, read == 0 ? infer.samples() : 1, read == 0 ? infer.timeout_ns() : 0, exchange.log_id);
  if (bus == nullptr) return WF_FAILED;
  const wf_code kept = infer.KeepTexts(*bus);
  if (exchange.log_id.empty()) exchange.log_id = bus->log_id_ = infer.id();
  exchange.metadata.insert(exchange.metadata.begin(), infer.parameters().begin(), infer.parameters().end());
  bus->metadata = exchange.metadata;
  if (read == 0) return kept;
  const bus::Failure& failure = scratch.main.TakeFailure(read);
  return bus->main.Fail(failure.code, 0, failure.message).code;
}

// A large body on its way through a decoding thread: once for plain JSON; for `infer` once to find the samples and once to fill them.
struct WorkflowSite::Decoding final : Decoders::Work {
  Decoding(WorkflowSite& answers, Exchange& request, wf_bytes text, bool finds)
      : site(answers), exchange(request), body(text), finds_samples(finds) {}
  void Run() noexcept override {
    if (finds_samples)
      code = exchange.infer->Read(scratch.ctx(), site.shared_.plan, *exchange.workflow, body);
    else if (exchange.protocol == Protocol::kOip)
      code = exchange.infer->Fill(*exchange.bus);
    else
      code = plain::ReadRequest(*exchange.bus, exchange.head, body);
  }
  void Deliver() noexcept override { site.OnDecoded(*this); }

  WorkflowSite& site;
  Exchange& exchange;
  const wf_bytes body;
  bool finds_samples;
  wf_code code = 0;
  bus::Bus scratch;
};

bool WorkflowSite::Offload(Exchange& exchange, wf_bytes body, bool finds_samples) noexcept {
  if (body.len < Decoders::kLargeBytes || shared_.decoders == nullptr) return false;
  auto* const decoding = new (std::nothrow) Decoding(*this, exchange, body, finds_samples);
  if (decoding == nullptr) return false;
  if (finds_samples) OpenScratch(&decoding->scratch);
  decoding->home = mailbox_;
  exchange.decoding = true;
  shared_.decoders->Push(*decoding);
  return true;
}

void WorkflowSite::OnDecoded(Decoding& decoding) noexcept {
  Exchange& exchange = decoding.exchange;
  const std::unique_ptr<Decoding> owned(&decoding);
  exchange.decoding = false;
  if (exchange.session == nullptr) {  // the client left meanwhile
    if (exchange.bus != nullptr)
      engine_->Cancel(*exchange.bus);
    else
      exchange.pool.GiveBackIfDone(exchange);
    return;
  }
  wf_code code = decoding.code;
  if (decoding.finds_samples) {
    code = CreateInfer(exchange, decoding.scratch, code);
    if (exchange.bus == nullptr || (code == 0 && Offload(exchange, decoding.body, false))) return;
    if (code == 0) code = exchange.infer->Fill(*exchange.bus);
  }
  Begin(exchange, code);
}

void WorkflowSite::AnswerNoMemory(Exchange& exchange) noexcept {
  body_.Clear();
  const protocol::CodeInfo info = protocol::InfoOf(shared_.plan, bus::kMemoryCap);
  const protocol::ErrorText error{bus::kMemoryCap, info.name, "no memory for the request", {}, 0, exchange.log_id};
  const bool oip = exchange.protocol == Protocol::kOip;
  (oip ? oip::WriteError : plain::WriteError)(error, &body_);
  exchange.session->Reply(exchange, oip ? oip::OipStatus(info.status) : base::HttpStatus(info.status), plain::kJson, {}, body_);
}

void WorkflowSite::AnswerOip(Exchange& exchange) noexcept {
  const bool ready = ProbeStatus(shared_, "/readyz") == 200;
  int status = 200;
  body_.Clear();
  switch (exchange.oip.call) {
    case oip::Call::kServerMetadata:
      oip::WriteServerMetadata(&body_);
      break;
    case oip::Call::kServerLive:
      oip::WriteHealth("live", true, &body_);
      break;
    case oip::Call::kServerReady:
      oip::WriteHealth("ready", ready, &body_);
      status = ready ? 200 : 503;
      break;
    case oip::Call::kModelMetadata:
      oip::WriteModelMetadata(shared_.plan, *exchange.workflow, exchange.oip.model, VersionsOf(*exchange.workflow), &body_);
      break;
    case oip::Call::kModelReady:
      oip::WriteModelReady(exchange.oip.model, ready, &body_);
      status = ready ? 200 : 503;
      break;
    case oip::Call::kInfer:
    case oip::Call::kNone:
      break;
  }
  exchange.session->Reply(exchange, status, plain::kJson, {}, body_);
}

// What the caller is not to blame for; refusals and deadlines show in the metrics.
void WorkflowSite::LogFailure(const Exchange& exchange, wf_code code) noexcept {
  const bus::Failure* const failure = exchange.bus->failure();
  if (code >= protocol::kTimeout && code < protocol::kTimeout + 1000) return;
  observe::Log(observe::Level::kWarning, "a request failed",
               {{"path", exchange.head.path},
                {"code", int64_t{code}},
                {"reason", failure == nullptr ? std::string_view() : failure->message},
                {"data_id", static_cast<int64_t>(exchange.bus->data_id())},
                {"log_id", exchange.log_id}});
}

void WorkflowSite::OnAnswered(Exchange& exchange) noexcept {
  bus::Bus& bus = *exchange.bus;
  if (exchange.session == nullptr) return engine_->Release(bus);
  body_.Clear();
  headers_.clear();
  plain::Answer answer;
  if (exchange.protocol == Protocol::kOip) {
    const oip::Answer infer = oip::WriteAnswer(bus, *exchange.infer, exchange.oip.model, std::max<int64_t>(exchange.version, 1), &body_);
    answer = {infer.code, infer.status, false};
  } else {
    answer = plain::WriteAnswer(bus, &body_, &headers_);
  }
  const int64_t took = shared_.clock.Now() - exchange.received_at;
  const auto workflow = static_cast<size_t>(exchange.workflow - shared_.plan.workflows);
  counts_.requests[workflow * kProtocols + static_cast<size_t>(exchange.protocol)]->Add(answer.code, took);
  if (settings_->access_log) {
    observe::Log(observe::Level::kInfo, "request",
                 {{"path", exchange.head.path},
                  {"status", int64_t{answer.status}},
                  {"code", int64_t{answer.code}},
                  {"us", took / 1000},
                  {"data_id", static_cast<int64_t>(bus.data_id())},
                  {"log_id", exchange.log_id}});
  }
  if (answer.status >= 500) LogFailure(exchange, answer.code);
  exchange.pinned = answer.refers;
  exchange.session->Reply(exchange, answer.status, plain::kJson, headers_, body_);
  if (!exchange.pinned) engine_->Release(bus);
}

void WorkflowSite::OnSent(Exchange& exchange) noexcept { engine_->Release(*exchange.bus); }

void WorkflowSite::OnGone(Exchange& exchange) noexcept {
  if (exchange.bus != nullptr && !exchange.decoding) engine_->Cancel(*exchange.bus);
}

void WorkflowSite::AnswerProbe(Exchange& exchange) noexcept {
  const int status = ProbeStatus(shared_, exchange.head.path);
  body_.Clear();
  const std::string_view text = status == 200 ? "ok\n" : "not ready\n";
  body_.Put(text.data(), text.size());
  exchange.session->Reply(exchange, status, "text/plain", {}, body_);
}

}  // namespace wf::server
