#include "runtime/server/workflow_site.h"

#include <algorithm>
#include <new>

#include "runtime/base/text.h"
#include "runtime/observe/crash.h"
#include "runtime/protocol/plain/plain.h"
#include "runtime/server/http_session.h"

namespace wf::server {
namespace {

enum Route { kNothing, kProbe, kWorkflow, kOip };

bool IsIdentity(std::string_view coding) {
  constexpr std::string_view kIdentity = "identity";
  return std::equal(coding.begin(), coding.end(), kIdentity.begin(), kIdentity.end(),
                    [](char c, char lower) { return (c >= 'A' && c <= 'Z' ? c | 0x20 : c) == lower; });
}

template <typename Read>
int64_t SumOver(const Shared& shared, Read&& read) {
  int64_t sum = 0;
  for (const auto& loop : shared.loops) sum += static_cast<int64_t>(read(*loop));
  return sum;
}

}  // namespace

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
  if (!http1::PercentDecode(head.path, http1::Part::kPath, &path, &path_)) path = {};
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

// The workflow that the path names, else a refusal. Afterwards the model's name is one that outlives the request.
bool WorkflowSite::FindModel(Exchange& exchange) noexcept {
  std::string_view name;
  std::vector<char> storage;
  const bool decoded = http1::PercentDecode(exchange.oip.model, http1::Part::kPath, &name, &storage);
  const oip::Names::Entry* const model = decoded ? shared_.models.Find(name) : nullptr;
  base::TextBuilder message;
  if (model == nullptr) {
    const std::string_view nearest = shared_.models.Nearest(name);
    message << "no model is called `";
    message.Quote(decoded ? name : exchange.oip.model) << "`";
    if (!nearest.empty()) message << "; did you mean `" << nearest << "`";
  } else if (!exchange.oip.version.empty() && exchange.oip.version != "1") {
    message << "model `" << model->first << "` has version 1 only, found `";
    message.Quote(exchange.oip.version) << "`";
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
  for (const http1::Header& header : exchange.head.headers()) {
    if (header.name != "content-encoding" || IsIdentity(header.value)) continue;
    base::TextBuilder message;
    message << "a body coded `";
    message.Quote(header.value) << "`; send it as it is";
    return exchange.Refuse(415, protocol::kInputParams, message.str());
  }
  const uint64_t own = exchange.workflow->body_max;
  exchange.max_body_bytes = own == 0 ? shared_.default_body_bytes : own;
  if (Admit(exchange)) return;
  exchange.retry_after_seconds = 1;
}

// In flight by service and bytes of bodies, over all loops: each loop writes its own numbers, so the limits may be passed by as many
// requests as there are loops.
bool WorkflowSite::Admit(Exchange& exchange) noexcept {
  const wf_workflow& workflow = *exchange.workflow;
  const size_t service = workflow.service_index;
  if (workflow.inflight_max != 0 &&
      SumOver(shared_, [service](const LoopCounts& loop) { return loop.inflight[service].value(); }) >= workflow.inflight_max) {
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
  exchange.bus = engine_->Create(request);
  if (exchange.bus == nullptr) {
    AnswerNoMemory(exchange);
    return nullptr;
  }
  observe::working.data_id = exchange.data_id = exchange.bus->data_id();
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
struct WorkflowSite::Decoding final : Codecs::Work {
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
  if (body.len < Codecs::kLargeBytes || shared_.codecs == nullptr) return false;
  auto* const decoding = new (std::nothrow) Decoding(*this, exchange, body, finds_samples);
  if (decoding == nullptr) return false;
  if (finds_samples) OpenScratch(&decoding->scratch);
  decoding->home = mailbox_;
  exchange.elsewhere = true;
  shared_.codecs->Push(*decoding);
  return true;
}

void WorkflowSite::OnDecoded(Decoding& decoding) noexcept {
  Exchange& exchange = decoding.exchange;
  const std::unique_ptr<Decoding> owned(&decoding);
  exchange.elsewhere = false;
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

}  // namespace wf::server
