#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/mailbox.h"
#include "runtime/bus/memory.h"
#include "runtime/bus/plan_index.h"
#include "runtime/protocol/oip/answer.h"
#include "runtime/protocol/oip/rest_reader.h"
#include "runtime/sched/catalogue.h"
#include "runtime/sched/engine.h"
#include "tests/unit/runtime/protocol/oip/scratch.h"

namespace wf::test {

// Serves `infer` calls of a plan without a server: an engine whose tasks run inline, and what the server's site does around it.
class Infer : public bus::Client {
 public:
  explicit Infer(const wf_plan& plan);

  struct Reply {
    int status = 0;
    wf_code code = 0;
    std::string text, log_id;
    std::string content_type, json_bytes;  // of raw answers
    uint32_t samples = 0;
    int64_t timeout_ns = 0;
    int borrowed = 0;  // tensors among the parameters of all samples that stand in the body
    uint64_t fill_bytes = 0;
  };
  // `workflow`: index in the plan. `json_bytes`: of ReadRest; the byte behind them is aligned to 64.
  Reply Call(uint32_t workflow, std::string_view body, int64_t json_bytes = oip::kAllJson);
  // `message`: a ModelInferRequest. `text` is the answer's message, or why there is none.
  Reply CallMessage(uint32_t workflow, std::string_view message);

  void OnAnswered(bus::Bus& bus) noexcept override;
  void OnDrained(bus::Bus&) noexcept override {}

 protected:
  virtual void Write(bus::Bus& bus, wf_sink* body) { is_message_ ? WriteMessage(bus, body) : WriteRest(bus, body); }
  oip::InferRequest request_;
  Reply reply_;

 private:
  class Clock final : public base::Clock {
   public:
    base::TimePoint Now() const override { return 1'000'000'000; }
  };
  class Queue final : public sched::JobQueue {
   public:
    void Push(sched::Job&) noexcept override { __builtin_trap(); }  // every task is inline
  };
  class Waker final : public base::Waker {
   public:
    void Wake() noexcept override {}
  };

  const wf_plan& plan_;
  Clock clock_;
  Queue queue_;
  Waker waker_;
  base::Mailbox mailbox_{waker_};
  bus::ChunkMemory memory_;
  bus::PlanIndex index_;
  sched::Catalogue catalogue_;
  sched::Engine engine_;
  Scratch scratch_;
  int CountBorrowed(const bus::Bus& bus) const;
  void PutBody(std::string_view text, uint64_t aligned);
  Reply Serve(uint32_t workflow, wf_code read);
  void WriteRest(bus::Bus& bus, wf_sink* body);
  void WriteMessage(bus::Bus& bus, wf_sink* body);

  std::vector<uint8_t> memory_of_body_;
  wf_bytes body_{};
  bool is_message_ = false;
};

}  // namespace wf::test
