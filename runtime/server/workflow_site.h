#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "runtime/base/sink.h"
#include "runtime/base/text.h"
#include "runtime/protocol/http/head.h"
#include "runtime/protocol/oip/names.h"
#include "runtime/sched/engine.h"
#include "runtime/server/codecs.h"
#include "runtime/server/counts.h"
#include "runtime/server/exchange.h"
#include "runtime/server/exporter.h"
#include "runtime/server/keys.h"
#include "runtime/server/router.h"
#include "runtime/server/settings.h"

namespace wf::server {

// The state that all loops share.
struct Shared {
  const wf_plan& plan;
  const Router& router;
  const oip::Names& models;
  const base::Clock& clock;
  std::atomic<bool> ready{false}, draining{false};
  std::function<bool()> all_turn = [] { return true; };  // every loop has turned lately; set before the first one runs
  CodecQueue* codecs = nullptr;                          // set before the first loop runs
  size_t large_bytes = CodecQueue::kLargeBytes;          // of a body or an answer that goes there
  std::vector<std::unique_ptr<LoopCounts>> loops;        // fixed before the first loop runs
  std::vector<const sched::EngineStats*> engines;        // likewise; of the loops
  std::vector<std::unique_ptr<SpanRing>> spans;          // of the loops, before the first site is made; empty: nothing is traced
};

// Answers the workflows' requests on one loop: admission, decoding, the engine, encoding.
// Thread: loop-confined.   Borrows: shared state, engine (set before the loop runs).
// Bounds: the services' requests in flight, counted over all loops without a shared write; the process's bytes, by its memory.
class WorkflowSite final : public Site {
 public:
  WorkflowSite(Shared& shared, int loop)
      : shared_(shared),
        counts_(*shared.loops[static_cast<size_t>(loop)]),
        spans_(shared.spans.empty() ? nullptr : shared.spans[static_cast<size_t>(loop)].get()) {}
  void set_engine(sched::Engine* engine, bus::Memory& memory, base::Mailbox& mailbox);
  void set_settings(const Settings& settings);                                           // what holds from now on
  void set_keys(std::shared_ptr<const Keys> keys) noexcept { keys_ = std::move(keys); }  // the same; null: nobody needs one
  void LogBreaches() noexcept;                                                           // since the last call

  bool ClaimUnsent(int64_t bytes) noexcept override { return memory_->Claim(bytes); }
  bool ClaimLast(int64_t bytes) noexcept override { return memory_->ClaimLast(bytes); }
  void OnBrokenForMemory() noexcept override { counts_.broken_for_memory.Add(); }
  void OnBreach(http::Breach breach, std::string_view why) noexcept override;  // workflow_site.cc
  void UnclaimUnsent(int64_t bytes) noexcept override { memory_->Unclaim(bytes); }
  bool closing() const noexcept override { return shared_.draining.load(std::memory_order_relaxed); }

  // ---- workflow_site.cc: from the head to the engine ----
  void OnHead(Exchange& exchange) noexcept override;
  bool IsLate(const Exchange& exchange) const noexcept override;
  void Arm(Exchange& exchange) noexcept override;
  void Disarm(Exchange& exchange) noexcept override;
  bool Announce(Exchange& exchange, int64_t bytes) noexcept override;
  bool Claim(Exchange& exchange, int64_t bytes) noexcept override;
  void OnRequest(Exchange& exchange) noexcept override;
  void OnFinished(Exchange& exchange) noexcept override;
  void OnPart(Exchange& part) noexcept override;
  bool OnCallOver(Exchange& call) noexcept override;
  void OnLook(Exchange& call) noexcept override;

  // ---- workflow_answers.cc: from the engine to the answer ----
  void OnAnswered(Exchange& exchange) noexcept override;
  void OnLate(Exchange& exchange) noexcept override;
  void OnCaught(const bus::Failure& cause) noexcept override;
  void OnHidden(const Exchange& exchange, const bus::Bus& bus, const bus::Failure& cause, const bus::Failure* by) noexcept override;
  uint64_t OnRefused(Exchange& exchange) noexcept override;
  void Cancel(Exchange& exchange) noexcept override;
  void OnGone(Exchange& exchange) noexcept override;

  // ---- workflow_door.cc: keys, and what browsers ask ----
  std::span<const http::Header> FieldsOf(const Exchange& exchange) noexcept override;

  // ---- workflow_spans.cc: what is traced ----
  void OnTraced(const Exchange& exchange, const bus::Bus& bus) noexcept override;

  // ---- workflow_site.cc: for the protocols (protocols.h) ----
  const Shared& shared() const { return shared_; }
  // A workflow of the program is version 1; a published model has those that were loaded, ascending.
  std::vector<int64_t> VersionsOf(const wf_workflow& workflow) const;
  void AdmitTo(Exchange& exchange) noexcept;    // its workflow, or a refusal
  void Admit(Exchange& exchange) noexcept;      // the same once its message is there
  bool TakePlace(Exchange& exchange) noexcept;  // among those in flight, of one that was admitted; false: refused
  uint64_t BodyLimitOf(const wf_workflow& workflow) const;
  uint64_t largest_body_limit() const { return largest_body_limit_; }  // of all workflows
  int64_t most_claim() const { return memory_->most_bytes(); }         // that one request may have of what is claimed
  bool GrowClaim(Exchange& exchange, int64_t bytes) noexcept;          // Claim without a refusal, on any thread
  // The bus of the request; null: there is no memory, and that is answered.
  bus::Bus* Create(Exchange& exchange, uint32_t samples, int64_t timeout_ns) noexcept;
  uint64_t code_from() const { return static_cast<uint64_t>(settings_->compress_from.value); }  // answers of so many bytes; 0: none
  void Begin(Exchange& exchange, wf_code code) noexcept;  // the bus is filled, or `code` says that it cannot be
  bus::Bus& TakeScratch() noexcept;  // a bus of nobody, for what is read before it is known which there will be; its arena is to be reset
  // Has another thread call `read`, with a scratch bus of its own, then `then` here (null: Begin). False: there is none, read it here.
  using ReadFunction = wf_code (*)(Exchange& exchange, bus::Bus& scratch, wf_bytes body);
  using ThenFunction = void (*)(WorkflowSite& site, Exchange& exchange, bus::Bus& scratch, wf_bytes body, wf_code code);
  bool ReadElsewhere(Exchange& exchange, wf_bytes body, ReadFunction read, ThenFunction then) noexcept;

 private:
  // ---- workflow_site.cc ----
  static std::string_view NameOf(const Exchange& exchange);  // for what is traced
  void TakePath(Exchange& exchange) noexcept;
  bool HasPlace(Exchange& exchange) noexcept;
  bool MayBeInTime(Exchange& exchange) noexcept;
  int64_t StepOf(int64_t bytes) const;
  bool FitsMemory(Exchange& exchange, int64_t bytes) const noexcept;
  bool TakeBytes(Exchange& exchange, int64_t bytes) noexcept;
  void OpenScratch(bus::Bus* scratch) const;
  struct Reading;
  void OnRead(Reading& reading) noexcept;

  // ---- workflow_answers.cc ----
  void Record(const Exchange& exchange, int status, wf_code code) noexcept;
  void LogFailure(const Exchange& exchange, const protocol::Answer& answer) noexcept;
  void AnswerNoMemory(Exchange& exchange, const bus::Failure& why) noexcept;
  void ReplyForMemory(Exchange& exchange, wf_code code, std::string_view why, wf_sink& body) noexcept;
  void RefuseAnswer(Exchange& exchange, wf_sink& body, int64_t wanted) noexcept;
  struct Encoding;
  bool WriteElsewhere(Exchange& exchange) noexcept;
  void PushElsewhere(Exchange& exchange, CodecQueue::Work& work, base::TimePoint deadline) noexcept;
  void OnEncoded(Encoding& encoding) noexcept;
  struct Writing;
  void Reply(Exchange& exchange, Writing& writing, std::vector<http::Header>& headers, wf_sink& body) noexcept;

  // ---- workflow_door.cc ----
  bool IsFree(const Exchange& exchange) const;  // of keys
  void Deny(Exchange& exchange) noexcept;
  bool IsPreflight(const http::Head& head) const;
  void AnswerPreflight(Exchange& exchange) noexcept;

  // ---- workflow_spans.cc ----
  uint64_t NextSpan() noexcept;
  bool Draw(double part) noexcept;                             // true in this part of the calls
  bool IsTold(const Exchange& exchange, int status) noexcept;  // in the access log
  void Sample(Exchange& exchange) noexcept;
  base::TimePoint DeadlineOf(const Exchange& exchange) const noexcept;
  bool IsTraced(const Exchange& exchange) const { return spans_ != nullptr && exchange.trace.sampled(); }
  void PutRequestSpan(const Exchange& exchange, int status, wf_code code, base::TimePoint end) noexcept;

  Shared& shared_;
  LoopCounts& counts_;
  SpanRing* const spans_;  // null: nothing is traced
  const Settings* settings_ = nullptr;
  uint64_t largest_body_limit_ = 0;
  std::shared_ptr<const Keys> keys_;
  sched::Engine* engine_ = nullptr;
  bus::Memory* memory_ = nullptr;
  base::Mailbox* mailbox_ = nullptr;
  bus::Bus scratch_;
  wf_sink body_;  // of the answer being encoded
  std::vector<http::Header> headers_;
  http::Header fields_[4];  // of FieldsOf
  uint64_t span_ = uint64_t{std::random_device{}()} << 32 | std::random_device{}();
  std::vector<char> path_;    // percent-decoded
  uint64_t breaches_ = 0;     // not in the log yet
  base::TextBuilder breach_;  // why the last one
};

inline constexpr std::string_view kPreflight = "preflight";  // an own_path that is none: what a browser asks before a page may

}  // namespace wf::server
