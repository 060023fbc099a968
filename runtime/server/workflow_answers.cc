// What leaves: answers, refusals, and what is told of both.
#include <new>

#include "runtime/base/dtype.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/load.h"
#include "runtime/base/slices.h"
#include "runtime/observe/log.h"
#include "runtime/protocol/json/size.h"
#include "runtime/protocol/plain/plain.h"
#include "runtime/sched/catalogue.h"
#include "runtime/server/codings.h"
#include "runtime/server/intake.h"
#include "runtime/server/session.h"
#include "runtime/server/workflow_site.h"

namespace wf::server {

namespace {

constexpr size_t kMostTold = 512;       // of a text of the client's, in a line of the log
constexpr size_t kCodingTimes = 8;      // as long as writing an answer takes coding it
constexpr uint64_t kTimedBytes = 4096;  // of an answer: fewer are written in little more than it takes to look at the clock
constexpr uint64_t kRawTimes = 16;      // as fast as text are elements that are copied as they are

// Refusals for load, timeouts and wishes for what is not built do, and need no line of the log.
bool ShowsInMetrics(wf_code code) {
  return code::ClassOf(code) == code::kTimeout || protocol::IsForLoad(code) || code == code::kNotImplemented;
}

// Of a tensor that is answered in raw bytes; 0: it is none, or is not.
uint64_t RawBytesOf(const Exchange& exchange, uint32_t result, const wf_type& type, const std::byte* value) {
  if (exchange.protocol == Protocol::kPlain || exchange.infer == nullptr || type.kind != WF_T_TENSOR) return 0;
  for (uint32_t i = 0; i < exchange.infer->n_answered(); ++i) {
    const oip::AskedOutput asked = exchange.infer->answered(i);
    if (asked.result == result && (!exchange.infer->is_binary(asked) || asked.classes != 0)) return 0;
  }
  const auto tensor = base::Load<wf_tensor>(value);
  auto bytes = static_cast<uint64_t>(base::DTypeSize(tensor.dtype));
  for (uint32_t axis = 0; axis < tensor.rank; ++axis) bytes *= static_cast<uint64_t>(tensor.dim[axis]);
  return bytes;
}

// In a header stand the first 4 KiB of each at most.
uint64_t AnnotationBytesOf(const Exchange& exchange) {
  uint64_t bytes = 0;
  if (exchange.protocol == Protocol::kPlain) return bytes;
  for (const bus::Annotation* at = exchange.bus->annotations(); at != nullptr; at = at->next) bytes += at->value.size();
  return bytes;
}

// A question about a workflow, as for its settings, and what no method of it takes are no calls of it, however they end.
bool IsCall(const Exchange& exchange) {
  if (exchange.oip.call != oip::Call::kNone) return exchange.oip.call == oip::Call::kInfer;
  return exchange.call_head().method == http::Method::kPost;
}

}  // namespace

// Every request whose head was understood, or which was refused for it, is counted once, and told once when that is asked for.
void WorkflowSite::Record(const Exchange& exchange, int status, wf_code code) noexcept {
  const base::TimePoint now = exchange.received_at == 0 ? 0 : shared_.clock.Now();
  const int64_t took = now - exchange.received_at;
  if (exchange.writes_at != 0 && exchange.bus != nullptr) exchange.bus->NoteWriting(exchange.writes_at, now);
  const bool is_call = exchange.workflow != nullptr && IsCall(exchange);
  const size_t workflow = is_call ? static_cast<size_t>(exchange.workflow - shared_.plan.workflows) : shared_.plan.n_workflows;
  const bool is_of_model = is_call && exchange.workflow->is_model != 0;
  const size_t version = is_of_model ? engine_->catalogue().PlaceOf(exchange.workflow->model, exchange.version) : 0;
  counts_.Of(workflow, exchange.protocol, version).Add(code, took, exchange.bus);
  if (base::SlicesOn() && exchange.received_at != 0) [[unlikely]] {
    const base::TimePoint end = exchange.received_at + took;
    base::NoteSlice({base::SliceKind::kRequest, 0, NameOf(exchange), exchange.received_at, end, exchange.data_id, nullptr, code});
  }
  if (IsTraced(exchange)) PutRequestSpan(exchange, status, code, exchange.received_at + took);
  if (!settings_->access_log || !IsTold(exchange, status)) return;
  observe::Log(observe::Level::kInfo, "request",
               {{"method", exchange.call_head().method_name.substr(0, kMostTold)},
                {"target", exchange.call_head().path_as_sent().substr(0, kMostTold)},
                {"status", int64_t{status}},
                {"code", int64_t{code}},
                {"us", took / 1000},
                {"data_id", exchange.data_id},
                {"log_id", exchange.log_id.substr(0, kMostTold)},
                {"trace_id", exchange.trace.trace_id()},
                {"span_id", exchange.trace.span_id()}});
}

uint64_t WorkflowSite::OnRefused(Exchange& exchange) noexcept {
  if (exchange.data_id == 0) exchange.data_id = engine_->NextDataId();
  if (exchange.for_memory) counts_.refused_bytes.Add();
  Record(exchange, exchange.refusal_status, exchange.refusal_code);
  return exchange.data_id;
}

void WorkflowSite::Cancel(Exchange& exchange) noexcept {
  if (exchange.elsewhere != nullptr)
    exchange.elsewhere->Abandon();
  else if (exchange.bus != nullptr)
    engine_->Cancel(*exchange.bus);
}

void WorkflowSite::OnGone(Exchange& exchange) noexcept {
  constexpr int kClientClosed = 499;
  if (exchange.refusal_status != 0) {
    OnRefused(exchange);
    return;
  }
  if (exchange.data_id == 0) exchange.data_id = engine_->NextDataId();
  Record(exchange, kClientClosed, code::kCancelled);
}

void WorkflowSite::AnswerNoMemory(Exchange& exchange, const bus::Failure& why) noexcept {
  exchange.data_id = engine_->NextDataId();
  ReplyForMemory(exchange, why.code, why.message, body_);
}

void WorkflowSite::ReplyForMemory(Exchange& exchange, wf_code code, std::string_view why, wf_sink& body) noexcept {
  const bool for_load = protocol::IsForLoad(code);
  if (for_load) counts_.refused_bytes.Add();
  const protocol::CodeInfo info = protocol::InfoOf(shared_.plan, code);
  const ProtocolRow& row = RowOf(exchange.protocol);
  const int status = row.status_of(info.status);
  body.Clear();
  row.write_error(exchange, {code, info.name, why, {}, exchange.data_id, exchange.log_id}, info.status, &body);
  if (for_load) exchange.fields.AddLast(row.retry_soon);
  Record(exchange, status, code);
  if (!for_load) LogFailure(exchange, {code, status, why});
  exchange.refusal_status = status;  // told whether there is room or not
  exchange.session->Reply(exchange, {status, plain::kJson, exchange.fields.headers(), {}}, body);
}

// What the caller is not to blame for, and what no waiting cures.
void WorkflowSite::LogFailure(const Exchange& exchange, const protocol::Answer& answer) noexcept {
  if (ShowsInMetrics(answer.code)) return;
  observe::Log(observe::Level::kWarning, "a request failed",
               {{"target", exchange.call_head().path_as_sent().substr(0, kMostTold)},
                {"path", answer.path},
                {"code", int64_t{answer.code}},
                {"reason", answer.reason},
                {"data_id", exchange.data_id},
                {"log_id", exchange.log_id.substr(0, kMostTold)},
                {"trace_id", exchange.trace.trace_id()},
                {"span_id", exchange.trace.span_id()}});
}

// Counted once, though several nodes catch it.
void WorkflowSite::OnCaught(const bus::Failure& cause) noexcept {
  if (cause.Hide()) counts_.hidden.Add(cause.code);
}

// What is told, or would have been, is the caller's to mend where it is a 4xx, and then of interest to those who look for it only.
void WorkflowSite::OnHidden(const Exchange& exchange, const bus::Bus& bus, const bus::Failure& cause, const bus::Failure* by) noexcept {
  constexpr int kFirstServerStatus = 500;
  OnCaught(cause);
  const wf_code told = by == nullptr ? cause.code : by->code;
  const int status = RowOf(exchange.protocol).status_of(protocol::InfoOf(shared_.plan, told).status);
  const bool ours = status >= kFirstServerStatus && !ShowsInMetrics(cause.code);
  const bus::Failure* const answered = by == nullptr ? bus.failure() : by;
  observe::Log(ours ? observe::Level::kWarning : observe::Level::kDebug,
               by == nullptr ? "a failure that the request was decided without" : "a fallback failed in place of a failure",
               {{"path", bus::PathOf(shared_.plan, cause)},
                {"code", int64_t{cause.code}},
                {"reason", cause.message},
                {"answered_code", int64_t{answered == nullptr ? 0 : answered->code}},
                {"data_id", bus.data_id()},
                {"log_id", bus.log_id().substr(0, kMostTold)},
                {"trace_id", exchange.trace.trace_id()},
                {"span_id", exchange.trace.span_id()}});
}

// An answer while it is written. What it takes is claimed by the time it is there, and becomes its session's claim.
struct WorkflowSite::Writing {
  void Run(Exchange& exchange, bus::Memory& memory, uint64_t code_from, wf_sink* body, std::vector<http::Header>* headers) {
    const base::SliceScope slice(base::SliceKind::kWrite, NameOf(exchange), exchange.data_id);
    base::SinkScope scope(memory, &claim, exchange.elsewhere);
    answer = RowOf(exchange.protocol).write_answer(exchange, body, headers);
    CodeAnswer(exchange, code_from, body, headers);
    lacked_bytes = scope.lacked_bytes();
  }
  base::MemoryClaim claim;
  protocol::Answer answer;
  int64_t lacked_bytes = 0;  // that it would have taken; 0: there was room
};

// A large answer on its way through another thread; the bus stays answered and unreleased meanwhile.
struct WorkflowSite::Encoding final : CodecQueue::Work {
  Encoding(WorkflowSite& answers, Exchange& request, uint64_t from) : site(answers), exchange(request), code_from(from) {}
  void Run() noexcept override {
    writing.Run(exchange, *site.memory_, code_from, &body, &headers);
    if (abandoned()) body.Clear();  // which may take the loop long
  }
  void Deliver() noexcept override { site.OnEncoded(*this); }

  WorkflowSite& site;
  Exchange& exchange;
  const uint64_t code_from;
  wf_sink body;
  std::vector<http::Header> headers;
  Writing writing;
};

bool WorkflowSite::WriteElsewhere(Exchange& exchange) noexcept {
  const bus::Bus& bus = *exchange.bus;
  if (bus.failure() != nullptr || shared_.codecs == nullptr) return false;
  uint64_t bytes = AnnotationBytesOf(exchange), work = bytes;
  for (uint32_t s = 0; s < bus.samples(); ++s) {
    for (uint32_t i = 0; i < bus.workflow().n_out && work < shared_.large_bytes; ++i) {
      const wf_port& port = bus.workflow().out[i];
      const auto* value = static_cast<const std::byte*>(bus.frame(s)) + shared_.plan.slots[port.slot].offset;
      const uint64_t raw = RawBytesOf(exchange, i, shared_.plan.types[port.type], value);
      const uint64_t size = raw != 0 ? raw : json::TextBytes(shared_.plan.types, port.type, value, shared_.large_bytes);
      bytes += size;
      work += raw != 0 ? raw / kRawTimes : size;
    }
  }
  if (bytes >= kTimedBytes) exchange.writes_at = shared_.clock.Now();
  if (bytes < shared_.large_bytes / kCodingTimes) return false;
  if (work < shared_.large_bytes && !WantsCoding(exchange, bytes, code_from())) return false;
  auto* const encoding = new (std::nothrow) Encoding(*this, exchange, code_from());
  if (encoding == nullptr) return false;
  PushElsewhere(exchange, *encoding, bus.deadline());
  return true;
}

// Until it is back, its deadline is looked at here: the other thread may be long at it, or at something else.
void WorkflowSite::PushElsewhere(Exchange& exchange, CodecQueue::Work& work, base::TimePoint deadline) noexcept {
  work.home = mailbox_;
  exchange.elsewhere = &work;
  if (deadline != INT64_MAX) engine_->Arm(exchange.late, deadline);
  shared_.codecs->Push(work);
}

// The thread that has it is told to stop, and what it leaves is dropped when it comes back.
void WorkflowSite::OnLate(Exchange& exchange) noexcept {
  if (!exchange.is_awaited()) return;  // answered in this turn, as by a drain's end
  const base::StatusCode status = protocol::InfoOf(shared_.plan, code::kTimeout).status;
  exchange.Refuse(RowOf(exchange.protocol).status_of(status), code::kTimeout, sched::kDeadlinePassed);
  AnswerRefusal(exchange);
}

void WorkflowSite::OnEncoded(Encoding& encoding) noexcept {
  Exchange& exchange = encoding.exchange;
  const std::unique_ptr<Encoding> owned(&encoding);
  exchange.elsewhere = nullptr;
  Disarm(exchange);
  if (!exchange.is_awaited()) return engine_->Release(*exchange.bus);  // the client has left, or a drain's end has answered it
  Reply(exchange, encoding.writing, encoding.headers, encoding.body);
}

void WorkflowSite::OnAnswered(Exchange& exchange) noexcept {
  if (!exchange.is_awaited()) return engine_->Release(*exchange.bus);
  if (WriteElsewhere(exchange)) return;
  body_.Clear();
  headers_.clear();
  Writing writing;
  writing.Run(exchange, *memory_, code_from(), &body_, &headers_);
  Reply(exchange, writing, headers_, body_);
}

void WorkflowSite::Reply(Exchange& exchange, Writing& writing, std::vector<http::Header>& headers, wf_sink& body) noexcept {
  if (writing.lacked_bytes != 0) return RefuseAnswer(exchange, body, writing.lacked_bytes);
  if (!exchange.session->ClaimUnsent(body.size(), &writing.claim)) return RefuseAnswer(exchange, body, static_cast<int64_t>(body.size()));
  const protocol::Answer& answer = writing.answer;
  Record(exchange, answer.status, answer.code);
  const bus::Failure* const failure = exchange.bus->failure();
  const bool is_load = protocol::IsForLoad(answer.code);  // once all is computed, for memory alone
  if (failure != nullptr ? failure->for_memory : is_load) counts_.refused_bytes.Add();
  if (answer.status >= 500 || answer.code == code::kMemoryCap) LogFailure(exchange, answer);
  if (is_load) headers.push_back(RowOf(exchange.protocol).retry_soon);
  const std::string_view type = answer.content_type.empty() ? plain::kJson : answer.content_type;
  exchange.session->Reply(exchange, {answer.status, type, headers, {}}, body);
  engine_->Release(*exchange.bus);
}

// The work is done, but there is no room for what it came to until the client has read it. What the request itself holds is no load.
void WorkflowSite::RefuseAnswer(Exchange& exchange, wf_sink& body, int64_t wanted) noexcept {
  constexpr int64_t kNeverFree = 16;  // one part of so many: what idle connections and loops keep
  const int64_t held = exchange.claimed_bytes + static_cast<int64_t>(exchange.bus->arena.held_bytes());
  const int64_t most = memory_->most_bytes();
  if (wanted > most - most / kNeverFree - held)
    ReplyForMemory(exchange, code::kMemoryCap, "the answer is larger than what answers may have of `limits.memory_bytes`", body);
  else
    ReplyForMemory(exchange, code::kRefused, "other requests take all the memory there is for them; the answer has no room", body);
  engine_->Release(*exchange.bus);
}

}  // namespace wf::server
