#include "runtime/batch/batcher.h"

#include <algorithm>

#include "runtime/abi/dtype.h"
#include "runtime/base/check.h"
#include "runtime/batch/executor.h"
#include "runtime/batch/shape.h"

namespace wf::batch {
namespace {

BatcherOptions Bounded(BatcherOptions options) {
  const int64_t most = options.model->model().batched ? options.model->max_rows() : 1;
  options.policy.max_rows = std::clamp<int64_t>(options.policy.max_rows, 1, std::max<int64_t>(1, most));
  options.policy.max_queued_rows = std::max(1, options.policy.max_queued_rows);
  return options;
}

std::deque<CostCurve> Curves(const Sorts& sorts, int64_t max_rows) {
  std::deque<CostCurve> curves;
  while (curves.size() < sorts.count()) curves.emplace_back(max_rows, sorts.by_size());
  return curves;
}

}  // namespace

Batcher::Batcher(Executor& executor, const BatcherOptions& options, const base::Clock& clock)
    : executor_(executor),
      options_(Bounded(options)),
      fixed_shapes_(!options_.model->has_open_extents() || !InputsOf(0, 1).empty()),
      sorts_(options_.policy.padding, options_.model->model(), !fixed_shapes_),
      costs_(Curves(sorts_, options_.policy.max_rows)),
      policy_(options_.policy, sorts_, options_.model->model(), costs_, clock),
      idle_instances_(options_.instances >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << options_.instances) - 1),
      seen_sizes_(static_cast<size_t>(options_.instances) * costs_.size()) {
  WF_CHECK(options_.instances >= 1 && options_.instances <= 64, options_.instances);
  HeedRows();
  const bool is_measured = !options_.model->has_open_extents() && options_.model->row_ns() > 0;
  if (!is_measured) return;
  costs_[0].Learn(1, options_.model->row_ns());
  UpdateCosts();
}

std::vector<wf_tensor> Batcher::InputsOf(size_t kind, int64_t size) const {
  const wf_model& model = options_.model->model();
  std::vector<wf_tensor> inputs;
  for (uint32_t i = 0; i < model.n_in; ++i) {
    const wf_port& port = model.in[i];
    wf_tensor row{};
    row.dtype = port.dtype;
    row.rank = port.rank;
    if (port.rank != 0 && port.dim == nullptr) return {};
    std::copy(port.dim, port.dim + port.rank, row.dim);
    if (padding().pads() && !padding().SetInput(i, padding().bucket(kind), row)) return {};
    if (std::any_of(row.dim, row.dim + row.rank, [](int64_t extent) { return extent < 0; })) return {};
    inputs.push_back(WithAxis(row, model.batch_axis[i], size));
  }
  return inputs;
}

bool Batcher::Reserve(Row& row) noexcept {
  if (credits_.fetch_add(1, std::memory_order_relaxed) >= options_.policy.max_queued_rows) {
    credits_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  row.has_credit = true;
  backlog_.Add(row.priority, row.deadline, 1);
  return true;
}

void Batcher::Unreserve(Row& row) noexcept {
  if (!row.has_credit) return;
  row.has_credit = false;
  credits_.fetch_sub(1, std::memory_order_relaxed);
  backlog_.Remove(row.priority, 1);
}

void Batcher::HeedRows() {
  const int64_t most = options_.policy.max_rows;
  const bool alone = most > 1 && options_.model->rows(most) != Rows::kApart;
  for (CostCurve& curve : costs_) curve.set_alone(alone);
}

void Batcher::UpdateCosts() {
  bool pays = fixed_shapes_;
  int64_t row_ns = INT64_MAX, alone_ns = INT64_MAX, run_ns = fixed_shapes_ ? 0 : INT64_MAX;
  bool dearer = false;  // than one of its bucket that is measured
  for (size_t sort = 0; sort < costs_.size(); ++sort) {
    const CostCurve& curve = costs_[sort];
    pays = pays && curve.InlinePays();
    dearer = dearer && !sorts_.smallest(sort);
    const int64_t best = curve.BestRows(), own_ns = curve.RunNs(1), best_ns = curve.RunNs(best);
    run_ns = std::max(run_ns, best_ns == 0 ? INT64_MAX : best_ns);
    if (!fixed_shapes_ && (!curve.met() || (own_ns == 0 && dearer))) continue;
    row_ns = std::min(row_ns, best_ns / best);
    alone_ns = std::min(alone_ns, own_ns);
    dearer = dearer || own_ns > 0;
  }
  inline_pays_.store(pays, std::memory_order_relaxed);
  run_ns_.store(run_ns, std::memory_order_relaxed);
  row_ns_.store(row_ns == INT64_MAX ? 0 : row_ns, std::memory_order_relaxed);
  alone_ns_.store(alone_ns == INT64_MAX ? 0 : alone_ns, std::memory_order_relaxed);
}

// Of a sort that is new, a row may be cheaper than all before.
void Batcher::Meet(size_t sort) {
  if (sort < costs_.size() && costs_[sort].Meet()) UpdateCosts();
}

Batcher::Outlook Batcher::OutlookOf(uint8_t priority, base::TimePoint deadline, int64_t own) const {
  const int64_t before = std::max<int64_t>(backlog_.Before(priority, deadline) - own, 0);
  const int threads = executor_.threads();
  const int at_once = threads == 0 ? options_.instances : std::min(options_.instances, threads);
  return {before * row_ns_.load(std::memory_order_relaxed) / at_once, alone_ns_.load(std::memory_order_relaxed)};
}

void Batcher::LearnFrom(const Batcher& other) {
  for (size_t sort = 0; sort < std::min(costs_.size(), other.costs_.size()); ++sort) costs_[sort].LearnFrom(other.costs_[sort]);
  UpdateCosts();
}

void Batcher::LearnRunOnLoop(size_t sort, int64_t ns) {
  constexpr int64_t kIncredible = 8;  // times what was expected: more is not the model's doing
  recent_sort_.store(sort, std::memory_order_relaxed);
  CostCurve& curve = costs_[sort];
  const int64_t known = curve.RunNs(1);
  curve.Learn(1, known == 0 ? ns : std::min(ns, kIncredible * known));
  if (inline_pays() && !curve.InlinePays()) UpdateCosts();
}

bool Batcher::Submit(Row& row) noexcept { return executor_.SubmitRow(*this, row, true); }
bool Batcher::SubmitQuietly(Row& row) noexcept { return executor_.SubmitRow(*this, row, false); }
Withdrawal Batcher::Withdraw(Row& row) noexcept { return executor_.WithdrawRow(*this, row); }

}  // namespace wf::batch
