#include "runtime/server/workflow_site.h"

#include <algorithm>
#include <new>

#include "runtime/abi/view.h"
#include "runtime/base/check.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/reserve.h"
#include "runtime/base/slices.h"
#include "runtime/base/text.h"
#include "runtime/base/units.h"
#include "runtime/observe/crash.h"
#include "runtime/observe/log.h"
#include "runtime/sched/catalogue.h"
#include "runtime/server/codings.h"
#include "runtime/server/grpc_service.h"
#include "runtime/server/intake.h"
#include "runtime/server/own_answers.h"
#include "runtime/server/session.h"

namespace wf::server {
namespace {

constexpr std::string_view kNoRoomForBody = "other requests take all the memory there is for them; the body has no room";

template <typename Read>
int64_t SumOver(const Shared& shared, Read&& read) {
  int64_t sum = 0;
  for (const auto& loop : shared.loops) sum += static_cast<int64_t>(read(*loop));
  return sum;
}

// It stands in every answer and line of the log about the request; what is long, or no plain word, is as if it were not there.
std::string_view LogIdOf(const http::Head& head) {
  constexpr size_t kMostBytes = 128;
  const std::string_view text = head.Find("x-request-id");
  const bool is_word = std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
  return is_word && text.size() <= kMostBytes ? text : std::string_view();
}

}  // namespace

void WorkflowSite::OnBreach(http::Breach breach, std::string_view why) noexcept {
  counts_.breaches[static_cast<size_t>(breach)].Add();
  ++breaches_;
  breach_ = {};
  breach_ << why;
}

void WorkflowSite::LogBreaches() noexcept {
  if (breaches_ == 0) return;
  observe::Log(observe::Level::kInfo, "connections were ended for what came on them",
               {{"count", breaches_}, {"last_reason", breach_.view()}});
  breaches_ = 0;
}

void WorkflowSite::OnHead(Exchange& exchange) noexcept {
  const http::Head& head = exchange.head;
  exchange.received_at = shared_.clock.Now();
  exchange.log_id = LogIdOf(head);
  exchange.trace.Take(head, NextSpan());
  if (spans_ != nullptr) Sample(exchange);
  exchange.max_body_bytes = static_cast<uint64_t>(settings_->discarded_bytes.value);
  exchange.let = keys_ == nullptr || keys_->Let(head);
  if (IsPreflight(head)) {  // shows no key, ever
    exchange.own_path = kPreflight;
    return;
  }
  TakePath(exchange);
  if (!exchange.let && !IsFree(exchange)) Deny(exchange);
}

void WorkflowSite::TakePath(Exchange& exchange) noexcept {
  const http::Head& head = exchange.head;
  std::string_view path = head.path;
  if (!http::PercentDecode(head.path, http::Part::kPath, &path, &path_)) path = {};
  if (TakeOwn(exchange, path)) return;
  for (int i = 0; i < kProtocols; ++i) {
    exchange.protocol = static_cast<Protocol>(i);
    if (RowOf(exchange.protocol).take_head(*this, exchange, path)) return;
  }
  exchange.protocol = Protocol::kPlain;
  const std::string_view nearest = shared_.router.Nearest(head.path);
  base::TextBuilder message;
  message << "nothing is served at `";
  message.Quote(head.path_as_sent()) << "`";
  if (!nearest.empty()) message << "; did you mean `" << nearest << "`";
  exchange.Refuse(404, code::kNoService, message.view());
}

void WorkflowSite::OnPart(Exchange& part) noexcept {
  const Exchange& call = *part.grpc.call;
  part.received_at = shared_.clock.Now();
  part.protocol = call.protocol;
  part.log_id = call.log_id;
  part.trace = call.trace;
  if (IsTraced(part)) part.trace.SetSpan(NextSpan());
  if (call.timeout_ns != 0) part.timeout_ns = std::max<int64_t>(1, call.received_at + call.timeout_ns - part.received_at);
}

bool WorkflowSite::OnCallOver(Exchange& call) noexcept {
  const GrpcService& service = *call.grpc.service;
  if (service.end != nullptr) service.end(*this, call);
  return service.end != nullptr;
}

void WorkflowSite::OnLook(Exchange& call) noexcept { call.grpc.service->look(*this, call); }

// INT64_MAX: none.
base::TimePoint WorkflowSite::DeadlineOf(const Exchange& exchange) const noexcept {
  if (exchange.workflow == nullptr && (!exchange.grpc.on || (exchange.grpc.streams && exchange.timeout_ns == 0))) return INT64_MAX;
  const sched::Deadlines& deadlines = engine_->catalogue().deadlines;
  // Which workflow a call of gRPC is for stands in its message.
  int64_t most = exchange.workflow == nullptr ? deadlines.most_ns : deadlines.Of(*exchange.workflow);
  if (exchange.timeout_ns != 0) most = exchange.grpc.streams ? exchange.timeout_ns : std::min(most, exchange.timeout_ns);
  return exchange.received_at + most;
}

bool WorkflowSite::IsLate(const Exchange& exchange) const noexcept {
  const base::TimePoint deadline = DeadlineOf(exchange);
  return deadline != INT64_MAX && shared_.clock.Now() >= deadline;
}

void WorkflowSite::Arm(Exchange& exchange) noexcept {
  if (const base::TimePoint deadline = DeadlineOf(exchange); deadline != INT64_MAX) engine_->Arm(exchange.late, deadline);
}

void WorkflowSite::Disarm(Exchange& exchange) noexcept {
  if (exchange.late.armed()) engine_->Disarm(exchange.late);
}

std::vector<int64_t> WorkflowSite::VersionsOf(const wf_workflow& workflow) const {
  if (workflow.is_model == 0) return {1};
  std::vector<int64_t> numbers;
  for (const sched::ModelVersion& version : engine_->catalogue().versions) {
    if (version.model == workflow.model) numbers.insert(numbers.begin(), version.number);
  }
  return numbers;
}

void WorkflowSite::AdmitTo(Exchange& exchange) noexcept {
  TakeCoding(exchange);
  if (exchange.refused()) return;
  exchange.max_body_bytes = BodyLimitOf(*exchange.workflow);
  exchange.takes_body = true;
  Admit(exchange);
}

uint64_t WorkflowSite::BodyLimitOf(const wf_workflow& workflow) const {
  return workflow.body_max == 0 ? static_cast<uint64_t>(settings_->body_bytes.value) : workflow.body_max;
}

void WorkflowSite::set_settings(const Settings& settings) {
  settings_ = &settings;
  largest_body_limit_ = 0;
  for (uint32_t i = 0; i < shared_.plan.n_workflows; ++i)
    largest_body_limit_ = std::max(largest_body_limit_, BodyLimitOf(shared_.plan.workflows[i]));
}

// In flight by service, over all loops: each loop writes its own numbers, so the limit may be passed by as many requests as there are
// loops.
bool WorkflowSite::HasPlace(Exchange& exchange) noexcept {
  const wf_workflow& workflow = *exchange.workflow;
  const size_t service = workflow.service_index;
  const int64_t most = workflow.inflight_max != 0 ? int64_t{workflow.inflight_max} : int64_t{settings_->inflight};
  if (SumOver(shared_, [service](const LoopCounts& loop) { return loop.inflight[service].value(); }) >= most) {
    counts_.refused_inflight.Add();
    exchange.Refuse(429, code::kRefused, "the service has as many requests in flight as it takes");
    return false;
  }
  return true;
}

// Nobody's body is read for an answer that would come too late. It may have come a while after the head: the engine looks again.
bool WorkflowSite::MayBeInTime(Exchange& exchange) noexcept {
  const wf_workflow& workflow = *exchange.workflow;
  const auto& catalogue = engine_->catalogue();
  int64_t most_ns = catalogue.deadlines.Of(workflow);
  if (exchange.timeout_ns != 0) most_ns = std::min(most_ns, exchange.timeout_ns);
  const sched::ModelVersion* const version = workflow.is_model == 0 ? nullptr : catalogue.Find(workflow.model, exchange.version);
  const int64_t wait_ns = engine_->HopelessNs(workflow, version, exchange.received_at, exchange.received_at + most_ns);
  if (wait_ns == 0) return true;
  counts_.refused_late.Add();
  exchange.Refuse(429, code::kRefused, sched::kWouldBeLate);
  exchange.retry_s = (wait_ns + base::kNsPerSecond - 1) / base::kNsPerSecond;
  return false;
}

// A request takes its place when it is whole: those whose bodies come slowly would leave none to others.
void WorkflowSite::Admit(Exchange& exchange) noexcept {
  if (!exchange.let || !HasPlace(exchange) || !MayBeInTime(exchange)) return;  // about to be denied, or refused
  if (base::Reserve::memory_is_short()) return exchange.RefuseForMemory(kMemoryShort);
  const int64_t length = std::max<int64_t>(exchange.head.content_length, 0);
  if (static_cast<uint64_t>(length) > exchange.max_body_bytes) return;  // the session answers 413, which no waiting cures
  if (!Announce(exchange, length)) return;
  exchange.needs_place = true;
}

bool WorkflowSite::TakePlace(Exchange& exchange) noexcept {
  exchange.needs_place = false;
  if (!HasPlace(exchange)) return false;
  exchange.admitted = true;
  counts_.inflight[exchange.workflow->service_index].Add();
  counts_.inflight_all.Add();
  return true;
}

bool WorkflowSite::FitsMemory(Exchange& exchange, int64_t bytes) const noexcept {
  const int64_t most = memory_->most_bytes();
  if (bytes <= most) return true;
  exchange.Refuse(413, code::kInputParams,
                  "the body is larger than the " + std::to_string(most) + " bytes that bodies may have of `limits.memory_bytes`");
  return false;
}

// What is only announced takes no room from others: next to nothing would keep the bodies of all of them out.
bool WorkflowSite::Announce(Exchange& exchange, int64_t bytes) noexcept {
  if (bytes <= static_cast<int64_t>(Body::kKeptBytes)) return true;
  exchange.announced_bytes = bytes;
  if (!FitsMemory(exchange, bytes)) return false;
  if (memory_->HasRoom(bytes)) return true;
  exchange.RefuseForMemory(kNoRoomForBody);
  return false;
}

bool WorkflowSite::TakeBytes(Exchange& exchange, int64_t bytes) noexcept {
  if (!FitsMemory(exchange, bytes)) return false;
  if (!memory_->Claim(bytes - exchange.claimed_bytes)) {
    exchange.RefuseForMemory(kNoRoomForBody);
    return false;
  }
  exchange.claimed_bytes = bytes;
  return true;
}

int64_t WorkflowSite::StepOf(int64_t bytes) const {
  constexpr int64_t kStep = 64 * 1024;
  return std::max(bytes, std::min((bytes + kStep - 1) / kStep * kStep, memory_->most_bytes()));
}

bool WorkflowSite::Claim(Exchange& exchange, int64_t bytes) noexcept {
  if (bytes <= std::max<int64_t>(exchange.claimed_bytes, Body::kKeptBytes)) return true;
  const int64_t step = StepOf(bytes);
  return TakeBytes(exchange, exchange.announced_bytes == 0 ? step : std::min(step, std::max(bytes, exchange.announced_bytes)));
}

bool WorkflowSite::GrowClaim(Exchange& exchange, int64_t bytes) noexcept {
  if (bytes <= std::max<int64_t>(exchange.claimed_bytes, Body::kKeptBytes)) return true;
  const int64_t grown = StepOf(bytes);
  if (!memory_->Claim(grown - exchange.claimed_bytes)) return false;
  exchange.claimed_bytes = grown;
  return true;
}

void WorkflowSite::OnFinished(Exchange& exchange) noexcept {
  if (exchange.claimed_bytes != 0) memory_->Unclaim(exchange.claimed_bytes);
  if (!exchange.admitted) return;
  counts_.inflight[exchange.workflow->service_index].Subtract();
  counts_.inflight_all.Subtract();
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
  scratch->budget.StartWith(*memory_);
  scratch->arena.Open(*memory_, scratch->budget, kScratchBytes);
}

bus::Bus& WorkflowSite::TakeScratch() noexcept {
  scratch_.main.failure = nullptr;
  return scratch_;
}

void WorkflowSite::OnRequest(Exchange& exchange) noexcept {
  if (exchange.own_path == kPreflight) return AnswerPreflight(exchange);
  if (!exchange.own_path.empty()) return AnswerOwn(shared_, exchange, &body_);
  if (exchange.needs_place && !TakePlace(exchange)) return AnswerRefusal(exchange);
  base::SliceScope slice(base::SliceKind::kServe, NameOf(exchange));
  // What came with its head was whole with it.
  if (exchange.whole_at == 0)  // else its coding has been taken off
    exchange.whole_at = exchange.head_read == exchange.session->reads() ? exchange.received_at : shared_.clock.Now();
  const wf_bytes body = exchange.body.Seal();
  if (body.ptr == nullptr) return AnswerNoMemory(exchange, bus::kNoRoom);
  if (exchange.coding != coding::Coding::kIdentity) return TakeCodingOff(*this, exchange, body);
  RowOf(exchange.protocol).start(*this, exchange, body);
  if (slice.on()) slice.slice().data_id = observe::working.data_id;
  observe::working.data_id = 0;
}

std::string_view WorkflowSite::NameOf(const Exchange& exchange) {
  return exchange.workflow == nullptr ? RowOf(exchange.protocol).name : abi::View(exchange.workflow->name);
}

bus::Bus* WorkflowSite::Create(Exchange& exchange, uint32_t samples, int64_t timeout_ns) noexcept {
  sched::Request request;
  request.workflow = exchange.workflow;
  request.client = &exchange;
  request.samples = samples;
  request.received_at = exchange.received_at;
  request.whole_at = exchange.whole_at;
  request.timeout_ns =
      exchange.timeout_ns == 0 || timeout_ns == 0 ? std::max(exchange.timeout_ns, timeout_ns) : std::min(exchange.timeout_ns, timeout_ns);
  request.log_id = exchange.log_id;
  request.user = &exchange;
  request.traced = IsTraced(exchange);
  request.held_bytes = exchange.claimed_bytes;
  const bus::Failure* why = &bus::kNoRoom;
  request.why = &why;
  if (exchange.workflow->is_model != 0) {
    request.version = engine_->catalogue().Find(exchange.workflow->model, exchange.version);
    WF_CHECK(request.version != nullptr, exchange.version);  // versions stay while the server runs
    exchange.version = request.version->number;
  }
  exchange.bus = engine_->Create(request);
  if (exchange.bus == nullptr) {
    AnswerNoMemory(exchange, *why);
    return nullptr;
  }
  observe::working.data_id = exchange.data_id = exchange.bus->data_id();
  for (const http::Header& header : exchange.call_head().headers()) exchange.metadata.push_back({header.name, header.value});
  exchange.bus->metadata = exchange.metadata;
  return exchange.bus;
}

void WorkflowSite::Begin(Exchange& exchange, wf_code code) noexcept {
  if (code != 0)
    engine_->Reject(*exchange.bus, code);
  else
    engine_->Start(*exchange.bus);
}

// A large body on its way through another thread.
struct WorkflowSite::Reading final : CodecQueue::Work {
  Reading(WorkflowSite& answers, Exchange& request, wf_bytes text, ReadFunction reads, ThenFunction goes_on)
      : site(answers), exchange(request), body(text), read(reads), then(goes_on) {}
  void Run() noexcept override {
    const base::SliceScope slice(base::SliceKind::kRead, NameOf(exchange), exchange.data_id);
    code = read(exchange, scratch, body);
  }
  void Deliver() noexcept override { site.OnRead(*this); }

  WorkflowSite& site;
  Exchange& exchange;
  const wf_bytes body;
  const ReadFunction read;
  const ThenFunction then;
  wf_code code = 0;
  bus::Bus scratch;
};

bool WorkflowSite::ReadElsewhere(Exchange& exchange, wf_bytes body, ReadFunction read, ThenFunction then) noexcept {
  if (shared_.codecs == nullptr) return false;
  auto* const reading = new (std::nothrow) Reading(*this, exchange, body, read, then);
  if (reading == nullptr) return false;
  OpenScratch(&reading->scratch);
  PushElsewhere(exchange, *reading, exchange.bus != nullptr ? exchange.bus->deadline() : DeadlineOf(exchange));
  return true;
}

void WorkflowSite::OnRead(Reading& reading) noexcept {
  Exchange& exchange = reading.exchange;
  const std::unique_ptr<Reading> owned(&reading);
  exchange.elsewhere = nullptr;
  Disarm(exchange);
  if (!exchange.is_awaited()) {  // the client has left, or a drain's end has answered it
    if (exchange.bus != nullptr)
      engine_->Cancel(*exchange.bus);
    else
      exchange.pool.GiveBackIfDone(exchange);
  } else if (exchange.bus == nullptr && IsLate(exchange)) {
    OnLate(exchange);
  } else if (reading.then != nullptr) {
    reading.then(*this, exchange, reading.scratch, reading.body, reading.code);
  } else {
    Begin(exchange, reading.code);  // where it is late, the engine sees it
  }
}

}  // namespace wf::server
