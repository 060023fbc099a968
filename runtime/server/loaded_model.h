#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/abi/plan.h"
#include "runtime/batch/executor.h"
#include "runtime/kernels/choices.h"
#include "runtime/kernels/operation.h"
#include "runtime/model/precision.h"
#include "runtime/model/version.h"

namespace wf::server {

void SaveChoices(kernels::Choices& choices);  // where they are kept; a failure is logged

// A loaded version as executors run it, with the places of its instances.
// Thread: as batch::Runnable says; places are of the main thread.   Owns: the version.   Borrows: the row of the plan.
class LoadedModel final : public batch::Runnable {
 public:
  LoadedModel(const wf_model& row, std::unique_ptr<model::Version> version, std::shared_ptr<kernels::Choices> choices, size_t places)
      : row_(row), version_(std::move(version)), choices_(std::move(choices)), taken_(places) {}

  // The first of so many instances side by side that no queue has; -1: there are not so many.
  int TakePlaces(int count) {
    const auto found = std::search_n(taken_.begin(), taken_.end(), count, false);
    if (found == taken_.end()) return -1;
    std::fill_n(found, count, true);
    return static_cast<int>(found - taken_.begin());
  }
  void GiveBackPlaces(int first, int count) { std::fill_n(taken_.begin() + first, count, false); }
  void set_kept_bytes(int64_t bytes) { version_->set_kept_bytes(bytes); }
  void set_threads(int instance, int threads) { version_->set_threads(instance, threads); }
  // REQUIRES: this one is in f32, and no instance runs.
  model::PrecisionFound Compare(LoadedModel& bf16, const base::Clock& clock) {
    return model::FindPrecision(*version_, *bf16.version_, 0, clock);
  }

  const wf_model& model() const override { return row_; }
  int64_t version() const override { return version_->version(); }
  int64_t max_rows() const override { return version_->max_rows(); }
  int instance_count() const override { return version_->instance_count(); }
  int64_t activation_bytes() const override { return version_->activation_bytes(); }
  int64_t row_ns() const override { return version_->row_ns(); }
  bool stays_on_thread() const override { return kernels::StayOnOneThread(); }
  uint64_t shape_misses() const override { return version_->shape_misses(); }
  batch::Rows rows(int64_t most) const override {
    if (row_.mixing_allowed != 0) return batch::Rows::kApart;
    const int64_t apart = apart_rows_.load(std::memory_order_relaxed);
    if (apart < 0) return batch::Rows::kMixed;
    return apart >= most ? batch::Rows::kApart : batch::Rows::kUnknown;
  }
  void CheckRows(int instance, int64_t most, const std::atomic<bool>& stop) override;
  void FillTexts(std::span<const wf_tensor> inputs) override { version_->FillTexts(inputs); }
  base::Status Prepare(int instance, int64_t rows, std::span<const wf_tensor> inputs) override {
    const base::Status prepared = version_->Prepare(instance, rows, inputs);
    if (choices_ != nullptr) SaveChoices(*choices_);
    return prepared;
  }
  base::Status CheckSize(int instance, int64_t rows, std::span<const wf_tensor> inputs, int64_t most_bytes) override {
    return version_->CheckSize(instance, rows, inputs, most_bytes);
  }
  bool has_open_extents() const override { return version_->has_open_extents(); }
  bool depends_on_data() const override { return version_->depends_on_data(); }
  base::MemoryShare memory_share() const override { return version_->memory_share(); }
  void Trim(int instance) override { version_->Trim(instance); }
  void Release(int instance) override {
    version_->Release(instance);
    const bool has_measured = instance + 1 == instance_count();  // the last of all, so that no more plans are made soon
    if (!has_measured) return;
    kernels::FreeUnheld();
    kernels::GiveBackFreed();
    kernels::LetGoOfCode();
  }
  base::Status Run(int instance, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs,
                   const base::Wanted* wanted) override {
    return version_->Run(instance, rows, inputs, outputs, wanted);
  }

 private:
  base::Status CheckApart(int instance, int64_t most, const std::atomic<bool>& stop);

  const wf_model& row_;
  const std::unique_ptr<model::Version> version_;
  const std::shared_ptr<kernels::Choices> choices_;
  std::vector<bool> taken_;             // instances, by queues
  std::atomic<int64_t> apart_rows_{1};  // of which it was found that runs of so many compute them apart; -1: that they do not
};

}  // namespace wf::server
