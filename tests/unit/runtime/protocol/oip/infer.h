#pragma once

#include <string>
#include <string_view>

#include "runtime/base/mailbox.h"
#include "runtime/bus/memory.h"
#include "runtime/bus/plan_index.h"
#include "runtime/protocol/oip/answer.h"
#include "runtime/sched/catalogue.h"
#include "runtime/sched/engine.h"

namespace wf::test {

// Serves `infer` calls of a plan without a server: an engine whose tasks run inline, and what the server's site does around it.
class Infer final : public bus::Client {
 public:
  explicit Infer(const wf_plan& plan);
  ~Infer() override;

  struct Reply {
    int status = 0;
    wf_code code = 0;
    std::string text, log_id;
    uint32_t samples = 0;
    int64_t timeout_ns = 0;
  };
  // `workflow`: index in the plan.
  Reply Call(uint32_t workflow, std::string_view body);

  void OnAnswered(bus::Bus& bus) noexcept override;
  void OnDrained(bus::Bus&) noexcept override {}

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
  bus::Bus scratch_;
  oip::InferRequest request_;
  Reply reply_;
};

}  // namespace wf::test
