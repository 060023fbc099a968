#include <fmt/format.h>

#include <optional>
#include <utility>

#include "runtime/kernels/team.h"
#include "runtime/model/budget.h"
#include "runtime/model/runs.h"
#include "runtime/model/walk.h"

namespace wf::model {
namespace {

using base::Result;
using base::Status;

class WalkedRuns final : public Runs {
 public:
  explicit WalkedRuns(const Loaded& loaded)
      : Runs(loaded.options), loaded_(loaded), instances_(static_cast<size_t>(loaded.options.instances)) {}

  Result<std::shared_ptr<const Plan>> PlanFor(const std::vector<onnx::Port>&) override { return std::shared_ptr<const Plan>(); }
  Result<BoundPlan*> Bind(int, int64_t, std::span<const wf_tensor>, bool) override { return static_cast<BoundPlan*>(nullptr); }
  // The run learns as it goes what it takes.
  Status CheckSize(int instance, int64_t, std::span<const wf_tensor>, int64_t most_bytes) override {
    At(instance).most_bytes = most_bytes;
    return Status::Ok();
  }
  Status Run(int instance, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs,
             const base::Wanted* wanted) override;
  void Trim(int instance, int64_t kept_bytes) override {
    Instance& at = At(instance);
    if (at.walk != nullptr && at.budget->bytes() > kept_bytes) at.walk = nullptr;
  }
  void Release(int instance) override { instances_[static_cast<size_t>(instance)] = nullptr; }

 private:
  struct Instance {
    explicit Instance(int run_threads) : threads(run_threads), team(threads > 1 ? new kernels::Team(threads - 1) : nullptr) {}
    const int threads;
    const std::unique_ptr<kernels::Team> team;  // null: one thread runs alone
    std::unique_ptr<Budget> budget;
    std::unique_ptr<Walk> walk;
    std::optional<int64_t> most_bytes;  // that the next run may have
  };
  Instance& At(int instance) {
    std::unique_ptr<Instance>& at = instances_[static_cast<size_t>(instance)];
    const int threads = ThreadsOf(instance);
    if (at != nullptr && at->threads == threads) return *at;
    const std::optional<int64_t> most_bytes = at == nullptr ? std::nullopt : at->most_bytes;
    at = std::make_unique<Instance>(threads);
    at->most_bytes = most_bytes;
    return *at;
  }

  const Loaded& loaded_;
  std::vector<std::unique_ptr<Instance>> instances_;  // null: never ran, or released
};

Status WalkedRuns::Run(int instance, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs,
                       const base::Wanted* wanted) {
  std::vector<onnx::Port> shapes;
  WF_RETURN_IF_ERROR(loaded_.CheckInputs(rows, inputs, shapes));
  Instance& at = At(instance);
  if (at.budget == nullptr) at.budget = std::make_unique<Budget>(loaded_.options.share.limit);
  if (at.walk == nullptr)
    at.walk = std::make_unique<Walk>(loaded_.program,
                                     PartLimits{loaded_.options.max_bytes, at.budget.get(), loaded_.TextsOf(instance), at.threads});
  std::vector<Elements> given;
  for (const wf_tensor& input : inputs) {
    const std::shared_ptr<const uint8_t> data(std::shared_ptr<void>(), static_cast<const uint8_t*>(input.data));  // the caller's
    given.push_back({InfoOf(input.dtype, std::vector<int64_t>(input.dim, input.dim + input.rank)), data});
  }
  at.budget->Begin(std::exchange(at.most_bytes, std::nullopt).value_or(loaded_.most_request_bytes()), wanted);
  const kernels::TeamScope helped(at.team.get());
  WF_RETURN_IF_ERROR(at.walk->Run(given));
  const std::vector<Elements> results = at.walk->outputs();
  WF_CHECK(outputs.size() == results.size(), outputs.size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (loaded_.axes.batched) WF_RETURN_IF_ERROR(loaded_.CheckResultRows(i, results[i].info.dim, rows));
    Describe(results[i].info, const_cast<uint8_t*>(results[i].data.get()), outputs[i]);
  }
  return Status::Ok();
}

}  // namespace

std::unique_ptr<Runs> MakeWalkedRuns(const Loaded& loaded) { return std::make_unique<WalkedRuns>(loaded); }

}  // namespace wf::model
