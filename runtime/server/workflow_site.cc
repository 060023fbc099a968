#include "runtime/server/workflow_site.h"

#include <algorithm>

#include "runtime/base/text.h"
#include "runtime/observe/crash.h"
#include "runtime/observe/log.h"
#include "runtime/protocol/plain/plain.h"
#include "runtime/server/http_session.h"

namespace wf::server {
namespace {

enum Route { kNothing, kProbe, kWorkflow };

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
  exchange.workflow = shared_.router.Find(head.path);
  if (exchange.workflow != nullptr) return OnWorkflowHead(exchange);
  if (AnswersProbe(head.path)) {
    exchange.route = kProbe;
    if (head.method == http1::Method::kGet || head.method == http1::Method::kHead) return;
    exchange.allow_get = true;
    return exchange.Refuse(405, protocol::kInputParams, "the probes take GET");
  }
  const std::string_view nearest = shared_.router.Nearest(head.path);
  base::TextBuilder message;
  message << "nothing is served at `";
  message.Quote(head.path) << "`";
  if (!nearest.empty()) message << "; did you mean `" << nearest << "`";
  exchange.Refuse(404, protocol::kNoService, message.str());
}

void WorkflowSite::OnWorkflowHead(Exchange& exchange) noexcept {
  exchange.route = kWorkflow;
  if (exchange.head.method != http1::Method::kPost) {
    exchange.allow_post = true;
    return exchange.Refuse(405, protocol::kInputParams, "a workflow is called with POST");
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
  const bool large = length > static_cast<int64_t>(Body::kKeptBytes);
  if (large && SumOver(shared_, [](const LoopCounts& loop) { return loop.claimed_bytes.value(); }) + length > shared_.claimable_bytes) {
    counts_.refused_bytes.Add();
    exchange.Refuse(429, protocol::kRefused, "the bodies of other requests take all the memory there is for them");
    return false;
  }
  exchange.admitted = true;
  exchange.claimed_bytes = large ? length : 0;
  counts_.inflight[service].Add();
  counts_.inflight_all.Add();
  if (large) counts_.claimed_bytes.Add(static_cast<uint64_t>(length));
  return true;
}

void WorkflowSite::OnFinished(Exchange& exchange) noexcept {
  if (!exchange.admitted) return;
  counts_.inflight[exchange.workflow->service_index].Subtract();
  counts_.inflight_all.Subtract();
  counts_.claimed_bytes.Subtract(static_cast<uint64_t>(exchange.claimed_bytes));
}

void WorkflowSite::FillMetadata(Exchange& exchange) {
  for (const http1::Header& header : exchange.head.headers()) exchange.metadata.push_back({header.name, header.value});
}

void WorkflowSite::OnRequest(Exchange& exchange) noexcept {
  if (exchange.route == kProbe) return AnswerProbe(exchange);
  const wf_bytes body = exchange.body.Seal();
  sched::Request request;
  request.workflow = exchange.workflow;
  request.client = &exchange;
  request.received_at = exchange.received_at;
  request.log_id = exchange.log_id;
  request.user = &exchange;
  bus::Bus* bus = body.ptr == nullptr ? nullptr : engine_->Create(request);
  if (bus == nullptr) {
    body_.Clear();
    plain::WriteError({3012, "MemoryCap", "no memory for the request", {}, 0, exchange.log_id}, &body_);
    return exchange.session->Reply(exchange, 429, plain::kJson, {}, body_);
  }
  exchange.bus = bus;
  observe::working.data_id = bus->data_id();
  FillMetadata(exchange);
  bus->metadata = exchange.metadata;
  const wf_code code = plain::ReadRequest(*bus, exchange.head, body);
  if (code != 0)
    engine_->Reject(*bus, code);
  else
    engine_->Start(*bus);
  observe::working.data_id = 0;
}

void WorkflowSite::OnAnswered(Exchange& exchange) noexcept {
  bus::Bus& bus = *exchange.bus;
  if (exchange.session == nullptr) return engine_->Release(bus);
  body_.Clear();
  headers_.clear();
  const plain::Answer answer = plain::WriteAnswer(bus, &body_, &headers_);
  const int64_t took = shared_.clock.Now() - exchange.received_at;
  const auto workflow = static_cast<size_t>(exchange.workflow - shared_.plan.workflows);
  counts_.requests[workflow * kProtocols + static_cast<size_t>(exchange.protocol)]->Add(answer.code, took);
  if (shared_.access_log) {
    observe::Log(observe::Level::kInfo, "request",
                 {{"path", exchange.head.path},
                  {"status", int64_t{answer.status}},
                  {"code", int64_t{answer.code}},
                  {"us", took / 1000},
                  {"data_id", static_cast<int64_t>(bus.data_id())},
                  {"log_id", exchange.log_id}});
  }
  exchange.pinned = answer.refers;
  exchange.session->Reply(exchange, answer.status, plain::kJson, headers_, body_);
  if (!exchange.pinned) engine_->Release(bus);
}

void WorkflowSite::OnSent(Exchange& exchange) noexcept { engine_->Release(*exchange.bus); }

void WorkflowSite::OnGone(Exchange& exchange) noexcept {
  if (exchange.bus != nullptr) engine_->Cancel(*exchange.bus);
}

void WorkflowSite::AnswerProbe(Exchange& exchange) noexcept {
  const int status = ProbeStatus(shared_, exchange.head.path);
  body_.Clear();
  const std::string_view text = status == 200 ? "ok\n" : "not ready\n";
  body_.Put(text.data(), text.size());
  exchange.session->Reply(exchange, status, "text/plain", {}, body_);
}

}  // namespace wf::server
