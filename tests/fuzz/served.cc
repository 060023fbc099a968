#include "tests/fuzz/served.h"

#include "runtime/base/check.h"
#include "runtime/observe/log.h"
#include "tests/unit/runtime/protocol/oip/types_plan.h"

namespace wf::test {
namespace {

// Plain JSON, for which TypesPlan has no codecs: what is JSON lacks something.
wf_code ReadNoJson(wf_ctx* ctx, wf_bytes body, void*) {
  constexpr std::string_view kMissing = "something";
  wf_json in;
  if (wf_json_open(&in, ctx, body) != 0) return WF_FAILED;
  return wf_json_missing(&in, {reinterpret_cast<const uint8_t*>(kMissing.data()), kMissing.size()});
}

wf_plan PlanWithJson(std::vector<wf_workflow>* workflows) {
  wf_plan plan = TypesPlan();
  workflows->assign(plan.workflows, plan.workflows + plan.n_workflows);
  for (wf_workflow& workflow : *workflows) workflow.read_json = ReadNoJson;
  plan.workflows = workflows->data();
  return plan;
}

}  // namespace

Served::Served()
    : plan_(PlanWithJson(&workflows_)),
      index_(plan_),
      router_(plan_),
      names_(plan_),
      shared_(new server::Shared{plan_, router_, names_, clock_}),
      wires_(clock_, peers_, [](const std::string& what) { WF_CHECK(false, what); }),
      catalogue_(1, plan_.n_tasks),
      settings_(server::LoadSettings({}).settings) {
  observe::SetLogLevel(observe::Level::kError);
  shared_->ready.store(true);
  shared_->loops.push_back(std::make_unique<server::LoopCounts>(plan_.n_workflows, router_.services()));
  front_ = std::make_unique<server::Front>(*shared_, wires_, server::FrontOptions{});
  front_->MakeEngine(index_, {clock_, mailbox_, queue_, memory_}, {.schedule = sched::Schedule::kInline});
  front_->set_settings(settings_);
  front_->engine().SetCatalogue(catalogue_);
  memory_.claimable_bytes = 64 << 20;
}

void Served::Connect() {
  peers_.clear();
  peers_.emplace_back();
  reader_ = std::make_unique<Http2Reader>();
  front_->Adopt(0);
}

void Served::Say(std::string_view bytes) {
  peers_[0].under_way += bytes;
  while (peers_[0].wire != nullptr && peers_[0].wire->Deliver(64 * 1024)) {
  }
  for (int i = 0; i < 4; ++i) Turn();
}

void Served::Turn() {
  constexpr size_t kReads = 1 << 20;
  peers_[0].window = kReads;
  if (peers_[0].wire != nullptr) peers_[0].wire->Take(0);
  mailbox_.Drain();
  if (front_->NextTimerAt() <= clock_.Now()) front_->OnTime();
  front_->OnFlush();
  while (front_->OnIdle()) {
    front_->OnPoll();
    mailbox_.Drain();
    front_->OnFlush();
  }
  front_->OnPoll();
  reader_->Read(peers_[0].received);
  peers_[0].received.clear();
}

void Served::PassSeconds(int count) {
  for (int i = 0; i < count; ++i) {
    clock_.AdvanceNs(1'000'000'000);
    front_->OnSecond();
    Turn();
  }
}

void Served::Leave() {
  front_->CloseAll();
  if (peers_[0].wire != nullptr) peers_[0].wire->FinishClose();
  for (int i = 0; i < 4; ++i) Turn();
  WF_CHECK(front_->at_rest(), front_->engine().live_buses());
  WF_CHECK(memory_.claimed_bytes == 0, memory_.claimed_bytes);
  WF_CHECK(shared_->loops[0]->inflight_all.value() == 0);
  WF_CHECK(queue_.jobs.empty());
}

}  // namespace wf::test
