#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "runtime/protocol/tls/context.h"
#include "runtime/sched/catalogue.h"
#include "runtime/server/keys.h"
#include "runtime/server/settings.h"

namespace wf::server {

// What requests are served by: the settings, the certificates, the keys and the models of one moment. A loop changes to another one between
// two requests. Thread: immutable once published, but for Arrive and Leave: thread-safe.   Owns: its settings.
class Configuration final : public sched::Catalogue {
 public:
  Configuration(uint64_t epoch, const wf_plan& plan, Settings which, int loops)
      : sched::Catalogue(epoch, plan.n_tasks), settings(std::move(which)), retuned_(plan, settings.nodes), awaited_(loops), users_(loops) {
    deadlines = {settings.default_timeout.ns, settings.timeout_cap.ns};
    tuned = &retuned_.plan();
  }
  // At each loop once, for all that it begins from then on.
  void Arrive() const noexcept { awaited_.fetch_sub(1, std::memory_order_release); }
  bool holds() const noexcept { return awaited_.load(std::memory_order_acquire) == 0; }
  void Leave() const noexcept { users_.fetch_sub(1, std::memory_order_acq_rel); }  // by each loop once, when its last request has drained
  bool unused() const noexcept { return users_.load(std::memory_order_acquire) == 0; }

  const Settings settings;
  std::shared_ptr<const tls::Context> certificates;  // null: without TLS
  std::shared_ptr<const Keys> keys;                  // null: nobody needs one

 private:
  const RetunedPlan retuned_;
  mutable std::atomic<int> awaited_, users_;  // loops
};

// The settings that hold once `next` was read while `running` held: what cannot change without a restart stays. Adds a line to `kept` for
// each change that waits for one, and answers in `changed` how many hold now.
Settings Reloaded(const Settings& running, Settings next, std::vector<std::string>* kept, int* changed);

}  // namespace wf::server
