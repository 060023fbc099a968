#include "runtime/server/models.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "runtime/model/version.h"
#include "runtime/onnx/reader.h"

namespace wf::server {
namespace {

constexpr int64_t kBatchAuto = 32, kQueuePerBatch = 8;

std::string_view View(wf_bytes text) { return {reinterpret_cast<const char*>(text.ptr), text.len}; }

// A loaded version as executors run it.
class LoadedModel final : public batch::Runnable {
 public:
  LoadedModel(const wf_model& row, std::unique_ptr<model::Version> version) : row_(row), version_(std::move(version)) {}

  const wf_model& model() const override { return row_; }
  int64_t version() const override { return version_->version(); }
  int64_t max_rows() const override { return version_->max_rows(); }
  int instance_count() const override { return version_->instance_count(); }
  int64_t activation_bytes() const override { return version_->activation_bytes(); }
  uint64_t shape_misses() const override { return version_->shape_misses(); }
  base::Status Prepare(int instance, int64_t rows, std::span<const wf_tensor> inputs) override {
    return version_->Prepare(instance, rows, inputs);
  }
  void Release(int instance) override { version_->Release(instance); }
  base::Status Run(int instance, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs) override {
    return version_->Run(instance, rows, inputs, outputs);
  }

 private:
  const wf_model& row_;
  const std::unique_ptr<model::Version> version_;
};

// The file's port that the program was compiled against: what calls see, with the axis of samples put back.
onnx::Port CompiledPort(const wf_port& port, int axis, bool batched) {
  onnx::Port compiled{std::string(View(port.name)), port.dtype, {}};
  for (uint32_t i = 0; i < port.rank; ++i) compiled.dim.push_back(port.dim[i] < 0 ? onnx::Dim::Unknown() : onnx::Dim(port.dim[i]));
  if (axis >= 0)
    compiled.dim.insert(compiled.dim.begin() + axis, batched ? onnx::Dim::Symbol(std::string(onnx::kBatchSymbol)) : onnx::Dim(1));
  return compiled;
}

onnx::Signature CompiledSignature(const wf_model& row) {
  onnx::Signature signature;
  for (uint32_t i = 0; i < row.n_in; ++i) signature.inputs.push_back(CompiledPort(row.in[i], row.batch_axis[i], row.batched != 0));
  for (uint32_t i = 0; i < row.n_out; ++i)
    signature.outputs.push_back(CompiledPort(row.out[i], row.batch_axis[row.n_in + i], row.batched != 0));
  return signature;
}

// What nodes must agree on to share a batcher.
struct BatcherKey {
  uint16_t model;
  int64_t batch, queue;
  int instances;
  uint8_t precision;
  batch::Padding padding;
  friend auto operator<=>(const BatcherKey&, const BatcherKey&) = default;
};

BatcherKey KeyOf(const wf_plan& plan, const wf_task& task) {
  BatcherKey key{task.target, kBatchAuto, 0, 1, 0, {}};
  if (task.policy != WF_NONE) {
    const wf_policy& policy = plan.policies[task.policy];
    if (policy.batch_max != 0) key.batch = policy.batch_max;
    key.queue = policy.queue_max;
    key.instances = std::clamp<int>(policy.instances, 1, 64);
    key.precision = policy.precision;
    key.padding = batch::Padding(policy);
  }
  if (plan.models[task.target].batched == 0) key.batch = 1;
  if (key.queue == 0) key.queue = kQueuePerBatch * key.batch;
  return key;
}

}  // namespace

struct Models::Loaded {
  std::unique_ptr<LoadedModel> runnable;
};

Models::Models(const wf_plan& plan, const Settings& settings, const base::Clock& clock) : plan_(plan), settings_(settings), clock_(clock) {}
Models::~Models() = default;

base::Status Models::LoadOne(const wf_model& row, int64_t max_rows, int instances) {
  const std::filesystem::path written{std::string(View(row.path))};
  const std::string path = (settings_.model_root.empty() ? written : std::filesystem::path(settings_.model_root) / written).string();
  const std::string name(View(row.name));
  const auto versions = onnx::FindVersions(path);
  if (!versions.ok()) return {versions.status().code(), "model `" + name + "`: " + versions.status().message()};
  const onnx::VersionFile* newest = &versions->back();
  if (row.version_policy == WF_SPECIFIC) {
    const int64_t wanted = row.n_versions == 0 ? 1 : *std::max_element(row.versions, row.versions + row.n_versions);
    const auto found = std::find_if(versions->begin(), versions->end(), [wanted](const auto& file) { return file.version == wanted; });
    if (found == versions->end()) return {base::kNotFound, "model `" + name + "`: `" + path + "` has no version " + std::to_string(wanted)};
    newest = &*found;
  }
  const onnx::Signature compiled = CompiledSignature(row);
  model::LoadOptions options;
  options.name = name;
  options.version = newest->version;
  options.max_rows = max_rows;
  options.instances = instances;
  options.signature = row.signature_written != 0 ? &compiled : nullptr;
  options.signature_written = row.signature_written != 0;
  auto version = model::Version::Load(newest->path, options);
  if (!version.ok()) return {version.status().code(), "model `" + name + "`: " + version.status().message()};
  if (base::Status same = CheckCompiled((*version)->signature(), compiled); !same.ok()) {
    return {base::kFailedPrecondition,
            "model `" + name + "`: `" + newest->path + "` is not the model that was compiled in: " + same.message()};
  }
  models_.push_back(std::make_unique<Loaded>(Loaded{std::make_unique<LoadedModel>(row, *std::move(version))}));
  return {};
}

// Names are compared by place: the program may have its own for what ONNX calls `x:0`.
base::Status Models::CheckCompiled(const onnx::Signature& file, const onnx::Signature& compiled) {
  onnx::Signature renamed = file;
  if (file.inputs.size() == compiled.inputs.size() && file.outputs.size() == compiled.outputs.size()) {
    for (size_t i = 0; i < file.inputs.size(); ++i) renamed.inputs[i].name = compiled.inputs[i].name;
    for (size_t i = 0; i < file.outputs.size(); ++i) renamed.outputs[i].name = compiled.outputs[i].name;
  }
  return onnx::CheckSignature(renamed, compiled);
}

base::Status Models::Load(int loops, int threads) {
  catalogue_ = std::make_unique<sched::Catalogue>(1, plan_.n_tasks);
  std::map<BatcherKey, batch::Batcher*> batchers;
  std::vector<int> instances(plan_.n_models, 0);
  std::vector<int64_t> max_rows(plan_.n_models, 1);
  for (uint32_t t = 0; t < plan_.n_tasks; ++t) {
    if (plan_.tasks[t].kind != WF_MODEL) continue;
    const BatcherKey key = KeyOf(plan_, plan_.tasks[t]);
    max_rows[key.model] = std::max(max_rows[key.model], key.batch);
    if (batchers.emplace(key, nullptr).second) instances[key.model] += key.instances;
  }
  // Instances of the batchers first, then one for each loop that may run the model itself, then one for measurements.
  for (uint32_t m = 0; m < plan_.n_models; ++m) WF_RETURN_IF_ERROR(LoadOne(plan_.models[m], max_rows[m], instances[m] + loops + 1));
  if (!batchers.empty()) executor_ = std::make_unique<batch::Executor>(batch::ExecutorOptions{threads}, clock_);
  std::vector<int> next(plan_.n_models, 0);
  for (auto& [key, batcher] : batchers) {
    batch::BatcherOptions options;
    options.model = models_[key.model]->runnable.get();
    options.policy = {key.batch, static_cast<int>(key.queue), key.padding};
    options.first_instance = next[key.model];
    options.instances = key.instances;
    options.measuring_instance = instances[key.model] + loops;
    next[key.model] += key.instances;
    batcher = &executor_->AddBatcher(options);
    batchers_.push_back({View(plan_.models[key.model].name), options.model->version(), batcher});
  }
  for (uint32_t t = 0; t < plan_.n_tasks; ++t) {
    if (plan_.tasks[t].kind != WF_MODEL) continue;
    const BatcherKey key = KeyOf(plan_, plan_.tasks[t]);
    catalogue_->by_task[t] = {batchers[key], models_[key.model]->runnable.get(), instances[key.model]};
  }
  if (executor_ != nullptr) executor_->StartPreparing();
  return {};
}

void Models::Stop() { executor_.reset(); }

}  // namespace wf::server
