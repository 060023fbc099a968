#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <list>
#include <utility>

#include "runtime/base/mutex.h"
#include "runtime/kernels/team.h"
#include "runtime/model/runs.h"

namespace wf::model {
namespace {

using base::Result;
using base::Status;

bool Is(const wf_tensor& tensor, const onnx::Port& port) {
  if (tensor.dtype != port.dtype || tensor.rank != port.dim.size()) return false;
  for (size_t i = 0; i < port.dim.size(); ++i) {
    if (port.dim[i].constant() != tensor.dim[i]) return false;
  }
  return true;
}

bool SameShapes(const std::vector<onnx::Port>& a, const std::vector<onnx::Port>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const onnx::Port& x, const onnx::Port& y) { return x.dim == y.dim; });
}

// Plans are shared by the instances, each of which binds them to memory of its own.
class PlannedRuns final : public Runs {
 public:
  explicit PlannedRuns(const Loaded& loaded)
      : Runs(loaded.options),
        loaded_(loaded),
        limit_(loaded.is_open ? loaded.options.share.limit : nullptr),
        instances_(static_cast<size_t>(loaded.options.instances)) {}

  Result<std::shared_ptr<const Plan>> PlanFor(const std::vector<onnx::Port>& shapes) override {
    return Find({shapes, loaded_.options.threads}, /*ahead=*/false, loaded_.measuring_ns());
  }
  Result<BoundPlan*> Bind(int instance, int64_t rows, std::span<const wf_tensor> inputs, bool ahead) override {
    const auto bound = BoundFor(At(instance), rows, inputs, ahead);
    return bound.ok() ? Result((*bound)->run.get()) : bound.status();
  }
  Status CheckSize(int instance, int64_t rows, std::span<const wf_tensor> inputs, int64_t most_bytes) override;
  Status Run(int number, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs, const base::Wanted*) override;
  void Trim(int instance, int64_t kept_bytes) override {
    Instance& at = At(instance);
    if (at.arena != nullptr && at.arena->claim.bytes() > kept_bytes) at.DropArena();
  }
  void Release(int instance) override { instances_[static_cast<size_t>(instance)] = nullptr; }

 private:
  // What a plan is made for.
  struct Purpose {
    std::vector<onnx::Port> shapes;
    int threads;
    bool Equals(const Purpose& other) const { return threads == other.threads && SameShapes(shapes, other.shapes); }
  };
  struct Made {
    Purpose purpose;
    std::shared_ptr<const Plan> plan;
    bool ahead;  // kept
  };
  // Memory of an instance's runs.
  struct Activations {
    base::MemoryClaim claim;
    std::shared_ptr<uint8_t> memory;
    int64_t bytes = 0;
  };
  // A plan bound to an instance's memory.
  struct Bound {
    std::unique_ptr<BoundPlan> run;
    std::vector<onnx::Port> shapes;
    std::vector<const void*> data;             // of the inputs of the run under way
    std::shared_ptr<const Activations> arena;  // shared with the other plans of the instance that were made when it was large enough
    uint64_t last_used = 0;
    bool ahead = false;  // kept

    const Plan& plan() const { return run->plan(); }

    bool Fits(std::span<const wf_tensor> inputs) const {
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (!Is(inputs[i], shapes[i])) return false;
      }
      return true;
    }

    Status Run(std::span<const wf_tensor> inputs) {
      data.resize(inputs.size());
      for (size_t i = 0; i < inputs.size(); ++i) data[i] = inputs[i].data;
      return run->Run(data);
    }
  };
  struct Instance {
    Instance(int its_number, int run_threads)
        : number(its_number), threads(run_threads), team(threads > 1 ? new kernels::Team(threads - 1) : nullptr) {}
    const int number, threads;
    const std::unique_ptr<kernels::Team> team;  // null: one thread runs alone
    std::vector<std::unique_ptr<Bound>> bound;  // at most kMaxPlans that were not made ahead
    Bound* latest = nullptr;
    std::shared_ptr<const Activations> arena;  // the largest so far
    uint64_t runs = 0;

    // What was made ahead stays, with its memory.
    void DropArena() {
      latest = nullptr;
      std::erase_if(bound, [this](const auto& each) { return !each->ahead && each->arena == arena; });
      arena = nullptr;
    }
  };
  // Once for each of what the instance does, for it may be another one the next time.
  Instance& At(int instance) {
    std::unique_ptr<Instance>& at = instances_[static_cast<size_t>(instance)];
    const int threads = ThreadsOf(instance);
    if (at == nullptr || at->threads != threads) at = std::make_unique<Instance>(instance, threads);  // what there is was made for others
    return *at;
  }
  Result<std::shared_ptr<const Plan>> Find(const Purpose& purpose, bool ahead, int64_t measuring_ns);
  std::shared_ptr<const Plan> FindMade(const Purpose& purpose, bool ahead);
  Bound* FindBound(const Instance& instance, std::span<const wf_tensor> inputs) const;
  Result<Bound*> BoundFor(Instance& instance, int64_t rows, std::span<const wf_tensor> inputs, bool ahead);
  Status GrowTo(Instance& instance, int64_t bytes) const;

  const Loaded& loaded_;
  base::MemoryLimit* const limit_;                    // null: what runs take, the file decides
  base::Mutex planning_;                              // held while one is made, since all share the constants; before `listing_`
  base::Mutex listing_;                               // never for long: who wants a plan that is there does not wait for others
  std::list<Made> plans_ WF_GUARDED_BY(listing_);     // newest first
  std::vector<std::unique_ptr<Instance>> instances_;  // null: never ran, or released
};

// Null: there is none.
std::shared_ptr<const Plan> PlannedRuns::FindMade(const Purpose& purpose, bool ahead) {
  const base::MutexLock lock(listing_);
  const auto found = std::find_if(plans_.begin(), plans_.end(), [&](const Made& each) { return each.purpose.Equals(purpose); });
  if (found == plans_.end()) return nullptr;
  found->ahead = found->ahead || ahead;
  plans_.splice(plans_.begin(), plans_, found);
  return found->plan;
}

Result<std::shared_ptr<const Plan>> PlannedRuns::Find(const Purpose& purpose, bool ahead, int64_t measuring_ns) {
  if (auto made = FindMade(purpose, ahead); made != nullptr) return made;
  const base::MutexLock planning(planning_);
  if (auto made = FindMade(purpose, ahead); made != nullptr) return made;  // by another thread meanwhile
  if (!ahead) misses_.fetch_add(1, std::memory_order_relaxed);
  auto made = Plan::Make(loaded_.program, purpose.shapes, loaded_.options.max_bytes, measuring_ns, purpose.threads);
  if (!made.ok()) return made.status();
  const base::MutexLock lock(listing_);
  plans_.remove_if([this](const Made& each) { return !AnyHas(each.purpose.threads); });
  plans_.push_front({purpose, std::shared_ptr<const Plan>(*std::move(made)), ahead});
  const auto goes = [](const Made& each) { return !each.ahead; };
  if (std::count_if(plans_.begin(), plans_.end(), goes) > static_cast<ptrdiff_t>(kMaxPlans))
    plans_.erase(std::prev(std::find_if(plans_.rbegin(), plans_.rend(), goes).base()));
  return plans_.front().plan;
}

// What was bound to less memory goes with it: the two together could be more than the limit.
Status PlannedRuns::GrowTo(Instance& instance, int64_t bytes) const {
  if (instance.arena != nullptr && instance.arena->bytes >= bytes) return Status::Ok();
  instance.DropArena();
  auto activations = std::make_shared<Activations>();
  if (activations->claim.Take(limit_, bytes)) activations->memory = kernels::Allocate(bytes);
  if (activations->memory == nullptr)
    return Status(base::kResourceExhausted, fmt::format("`{}`: no memory for {} bytes of activations", loaded_.program.subject, bytes));
  activations->bytes = bytes;
  instance.arena = std::move(activations);
  return Status::Ok();
}

PlannedRuns::Bound* PlannedRuns::FindBound(const Instance& instance, std::span<const wf_tensor> inputs) const {
  if (inputs.size() != loaded_.file->signature.inputs.size()) return nullptr;
  if (instance.latest != nullptr && instance.latest->Fits(inputs)) return instance.latest;
  const auto found = std::find_if(instance.bound.begin(), instance.bound.end(), [inputs](const auto& each) { return each->Fits(inputs); });
  return found == instance.bound.end() ? nullptr : found->get();
}

Status PlannedRuns::CheckSize(int instance, int64_t rows, std::span<const wf_tensor> inputs, int64_t most_bytes) {
  if (!loaded_.is_open) return Status::Ok();
  int64_t bytes = 0;
  if (const Bound* bound = FindBound(At(instance), inputs); bound != nullptr) {
    bytes = bound->plan().run_bytes();
  } else {
    std::vector<onnx::Port> shapes;
    WF_RETURN_IF_ERROR(loaded_.CheckInputs(rows, inputs, shapes));
    const auto plan = Find({shapes, ThreadsOf(instance)}, /*ahead=*/false, /*measuring_ns=*/0);
    if (!plan.ok()) return plan.status();
    bytes = (*plan)->run_bytes();
  }
  if (bytes <= most_bytes) return Status::Ok();
  return Status(base::kOutOfRange,
                fmt::format("model `{}`: a run for these extents takes {} bytes, more than the {} that the request may have",
                            loaded_.options.name, bytes, most_bytes));
}

Result<PlannedRuns::Bound*> PlannedRuns::BoundFor(Instance& instance, int64_t rows, std::span<const wf_tensor> inputs, bool ahead) {
  if (Bound* const bound = FindBound(instance, inputs); bound != nullptr) {
    bound->ahead = bound->ahead || ahead;
    return bound;
  }
  std::vector<onnx::Port> shapes;
  WF_RETURN_IF_ERROR(loaded_.CheckInputs(rows, inputs, shapes));
  auto plan = Find({shapes, instance.threads}, ahead, ahead ? loaded_.measuring_ns() : 0);
  if (!plan.ok()) return plan.status();
  for (size_t i = 0; loaded_.axes.batched && i < (*plan)->outputs().size(); ++i)
    WF_RETURN_IF_ERROR(loaded_.CheckResultRows(i, (*plan)->outputs()[i].info.dim, rows));
  auto bound = std::make_unique<Bound>();
  bound->shapes = std::move(shapes);
  bound->ahead = ahead;
  WF_RETURN_IF_ERROR(GrowTo(instance, (*plan)->arena_bytes()));
  bound->arena = instance.arena;
  auto run = BoundPlan::Bind(*std::move(plan), inputs.size(), instance.arena->memory.get(), loaded_.TextsOf(instance.number));
  if (!run.ok()) return run.status();
  bound->run = *std::move(run);
  const auto keeps = [](const auto& each) { return each->ahead; };
  if (std::count_if(instance.bound.begin(), instance.bound.end(), std::not_fn(keeps)) >= static_cast<ptrdiff_t>(kMaxPlans)) {
    const auto oldest = std::min_element(instance.bound.begin(), instance.bound.end(), [](const auto& a, const auto& b) {
      return std::pair(a->ahead, a->last_used) < std::pair(b->ahead, b->last_used);
    });
    if (instance.latest == oldest->get()) instance.latest = nullptr;
    instance.bound.erase(oldest);
  }
  instance.bound.push_back(std::move(bound));
  return instance.bound.back().get();
}

Status PlannedRuns::Run(int number, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs, const base::Wanted*) {
  Instance& instance = At(number);
  const auto found = BoundFor(instance, rows, inputs, /*ahead=*/false);
  if (!found.ok()) return found.status();
  Bound& bound = **found;
  instance.latest = &bound;
  bound.last_used = ++instance.runs;
  const kernels::TeamScope helped(instance.team.get());
  if (const Status ran = bound.Run(inputs); !ran.ok())
    return Status(ran.code(), fmt::format("`{}`: {}", loaded_.program.subject, ran.message()));
  const std::vector<wf_tensor>& results = bound.run->outputs();
  WF_CHECK(outputs.size() == results.size(), outputs.size());
  std::copy(results.begin(), results.end(), outputs.begin());
  return Status::Ok();
}

}  // namespace

std::unique_ptr<Runs> MakePlannedRuns(const Loaded& loaded) { return std::make_unique<PlannedRuns>(loaded); }

}  // namespace wf::model
