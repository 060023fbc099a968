#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/base/sink.h"
#include "runtime/observe/metrics.h"
#include "runtime/protocol/http1/head.h"
#include "runtime/protocol/oip/names.h"
#include "runtime/sched/engine.h"
#include "runtime/server/decoders.h"
#include "runtime/server/exchange.h"
#include "runtime/server/router.h"
#include "runtime/server/settings.h"

namespace wf::server {

// Requests of one workflow by one protocol, as one loop counted them.
struct RequestCounts {
  static constexpr int kCodes = 15;  // beyond, `other`
  struct ByCode {
    std::atomic<int32_t> code{0};
    observe::Counter count;
  };
  ByCode by_code[kCodes];
  observe::Counter other, ok;
  observe::Histogram duration;
  void Add(wf_code code, int64_t ns) noexcept;
};

// What one loop tells the others and the admin thread. Written by its loop only.
struct LoopCounts {
  LoopCounts(size_t n_workflows, size_t n_services);
  std::vector<std::unique_ptr<RequestCounts>> requests;  // by workflow * kProtocols + protocol
  std::vector<observe::Counter> inflight;                // by service
  observe::Counter inflight_all, claimed_bytes, connections;
  observe::Counter refused_inflight, refused_bytes, refused_draining;
};

// The state that all loops share.
struct Shared {
  const wf_plan& plan;
  const Router& router;
  const oip::Names& models;
  const base::Clock& clock;
  int64_t claimable_bytes = 0;  // bodies of all loops
  std::atomic<bool> ready{false}, draining{false};
  std::atomic<base::TimePoint> drain_began_at{0};
  Decoders* decoders = nullptr;                    // set before the first loop runs
  std::vector<std::unique_ptr<LoopCounts>> loops;  // fixed before the first loop runs
};

// Answers the workflows' requests on one loop: admission, decoding, the engine, encoding.
// Thread: loop-confined.   Borrows: shared state, engine (set before the loop runs).
// Bounds: the services' requests in flight and the process's bytes, both counted over all loops without a shared write.
class WorkflowSite final : public Site {
 public:
  WorkflowSite(Shared& shared, int loop) : shared_(shared), counts_(*shared.loops[static_cast<size_t>(loop)]) {}
  void set_engine(sched::Engine* engine, bus::Memory& memory, base::Mailbox& mailbox);
  void set_settings(const Settings& settings) { settings_ = &settings; }  // what holds from now on

  void OnHead(Exchange& exchange) noexcept override;
  bool Claim(Exchange& exchange, int64_t bytes) noexcept override;
  void OnRequest(Exchange& exchange) noexcept override;
  void OnAnswered(Exchange& exchange) noexcept override;
  void OnGone(Exchange& exchange) noexcept override;
  void OnSent(Exchange& exchange) noexcept override;
  void OnFinished(Exchange& exchange) noexcept override;
  bool closing() const noexcept override { return shared_.draining.load(std::memory_order_relaxed); }

 private:
  void OnWorkflowHead(Exchange& exchange) noexcept;
  void AdmitTo(Exchange& exchange) noexcept;
  bool Admit(Exchange& exchange) noexcept;
  bool TakeBytes(Exchange& exchange, int64_t bytes) noexcept;
  void LogFailure(const Exchange& exchange, wf_code code) noexcept;
  void AnswerProbe(Exchange& exchange) noexcept;
  void OnOipHead(Exchange& exchange) noexcept;
  bool FindModel(Exchange& exchange) noexcept;
  std::vector<int64_t> VersionsOf(const wf_workflow& workflow) const;
  bool FindVersion(Exchange& exchange, const wf_workflow& workflow) const;
  void AnswerOip(Exchange& exchange) noexcept;
  bus::Bus* Create(Exchange& exchange, uint32_t samples, int64_t timeout_ns, std::string_view log_id) noexcept;
  void StartPlain(Exchange& exchange, wf_bytes body) noexcept;
  void StartInfer(Exchange& exchange, wf_bytes body) noexcept;
  struct Decoding;
  void OpenScratch(bus::Bus* scratch) const;
  bool Offload(Exchange& exchange, wf_bytes body, bool finds_samples) noexcept;
  void OnDecoded(Decoding& decoding) noexcept;
  void Begin(Exchange& exchange, wf_code code) noexcept;
  wf_code CreateInfer(Exchange& exchange, bus::Bus& scratch, wf_code read) noexcept;
  void AnswerNoMemory(Exchange& exchange) noexcept;

  Shared& shared_;
  LoopCounts& counts_;
  const Settings* settings_ = nullptr;
  sched::Engine* engine_ = nullptr;
  bus::Memory* memory_ = nullptr;
  base::Mailbox* mailbox_ = nullptr;
  bus::Bus scratch_;  // reads `infer` calls before it is known how many samples they carry
  wf_sink body_;      // of the answer being encoded
  std::vector<http1::Header> headers_;
  std::vector<char> path_;  // percent-decoded
};

// The probes, the same on every port. Not one of them: false.
bool AnswersProbe(std::string_view path);
int ProbeStatus(const Shared& shared, std::string_view path);

}  // namespace wf::server
