#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/server/models.h"
#include "tests/diff/models.h"
#include "tests/diff/oracle.h"
#include "tests/unit/support/fake_clock.h"

namespace wf::diff {

// The models of a plan, as a server has them: loaded, with the queues that nodes share, and without threads: the caller drives `executor`.
// Thread: one.   Borrows: plan.   Errors: what a model computes otherwise than it should, or does not load, is told by `wrong`.
class ModelHost {
 public:
  static constexpr int kLoops = 3;
  // `folder` holds `models/..`.
  ModelHost(const wf_plan& plan, const std::string& folder);
  ~ModelHost();

  // A call of one sample alone. `inputs`: as calls see them. Code 0: `outputs` are there.
  Reported Call(size_t model, std::span<const Array> inputs, std::vector<Array>* outputs);
  // The same of tensors as a plan has them.
  Reported Call(size_t model, const wf_tensor* const* in, wf_tensor* const* out, const std::function<void*(uint64_t)>& allocate);

  batch::Executor* executor() { return models_.executor(); }  // null: no node calls a model
  const sched::Catalogue& catalogue() const { return catalogue_; }
  test::FakeClock& clock() { return clock_; }
  const std::string& wrong() const { return wrong_; }

 private:
  const KnownModel* Known(size_t model) const;
  void Check(const KnownModel& known, std::span<const Array> inputs, const std::vector<Array>* outputs);

  const wf_plan& plan_;
  test::FakeClock clock_;
  server::Models models_;
  sched::Catalogue catalogue_;
  std::vector<batch::Runnable*> loaded_;  // by model; null: no node calls it
  std::string wrong_;                     // the first that was
};

}  // namespace wf::diff
