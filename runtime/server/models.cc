#include "runtime/server/models.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <span>

#include "runtime/abi/bounds.h"
#include "runtime/abi/defaults.h"
#include "runtime/abi/view.h"
#include "runtime/kernels/operation.h"
#include "runtime/model/precision.h"
#include "runtime/model/version.h"
#include "runtime/observe/log.h"
#include "runtime/server/compiled_signature.h"
#include "runtime/server/loaded_model.h"
#include "runtime/server/node_settings.h"

namespace wf::server {
using abi::View;
// What nodes must agree on to share a batcher.
struct BatcherKey {
  uint16_t model;
  int64_t batch, queue;
  int instances, threads;
  uint8_t precision;
  batch::Padding padding;
  friend auto operator<=>(const BatcherKey&, const BatcherKey&) = default;
};

namespace {

constexpr uint8_t kAuto = 0;

// That of the task here: all is f32 on a machine that has no instructions for bf16.
uint8_t PrecisionOf(const wf_plan& tuned, const wf_task& task) {
  if (task.policy == WF_NONE || !kernels::MultipliesBf16()) return WF_F32;
  const uint8_t precision = tuned.policies[task.policy].precision;
  return precision == WF_BF16 || precision == kAuto ? precision : static_cast<uint8_t>(WF_F32);
}

BatcherKey KeyOf(const wf_plan& tuned, uint16_t id, int threads) {
  static constexpr wf_policy kNothingWritten{};
  const wf_task& task = tuned.tasks[id];
  const wf_policy& policy = task.policy == WF_NONE ? kNothingWritten : tuned.policies[task.policy];
  const uint32_t rows = abi::BatchRows(policy.batch_max, tuned.models[task.target].batched != 0);
  const uint32_t queue = abi::QueueRows(policy.queue_max, rows);
  return {task.target,           rows, queue, std::clamp<int>(policy.instances, 1, abi::kMostInstances), threads, PrecisionOf(tuned, task),
          batch::Padding(policy)};
}

// The files that the program asks for, newest first. Of `latest N` all of them, so that an older one may stand in for one that is refused.
std::vector<onnx::VersionFile> Candidates(const wf_model& row, std::vector<onnx::VersionFile> files) {
  std::reverse(files.begin(), files.end());
  if (row.version_policy != WF_SPECIFIC) return files;
  const std::span<const int64_t> named(row.versions, row.n_versions);
  std::erase_if(files,
                [named](const onnx::VersionFile& file) { return std::find(named.begin(), named.end(), file.version) == named.end(); });
  return files;
}

size_t MostVersions(const wf_model& row) {
  if (row.version_policy != WF_LATEST) return SIZE_MAX;
  return row.n_versions == 0 ? 1 : static_cast<size_t>(row.versions[0]);
}

void LogMissing(const wf_model& row, std::span<const onnx::VersionFile> found) {
  if (row.version_policy != WF_SPECIFIC) return;
  for (const int64_t wanted : std::span(row.versions, row.n_versions)) {
    if (std::any_of(found.begin(), found.end(), [wanted](const onnx::VersionFile& file) { return file.version == wanted; })) continue;
    observe::Log(observe::Level::kWarning, "a version of a model is missing", {{"model", View(row.name)}, {"version", wanted}});
  }
}

}  // namespace

// Rows of equal keys wait together, of one version.
struct Models::Queue {
  BatcherKey key;
  size_t rank;  // of the version, 0 being the newest
  batch::Batcher* batcher;
  int users = 0;  // catalogues
};

struct Models::Wanted {
  BatcherKey key;
  size_t rank;
};

// A version, in each precision that a task asks for.
struct Models::Resident {
  std::unique_ptr<LoadedModel> f32, bf16;  // null: nobody asks for it; never both
  bool auto_is_bf16 = false;

  LoadedModel& any() const { return f32 == nullptr ? *bf16 : *f32; }
  LoadedModel& Of(uint8_t precision) const { return precision == WF_BF16 || (precision == kAuto && auto_is_bf16) ? *bf16 : *f32; }
};

struct Models::Precisions {
  bool f32 = false, bf16 = false, is_auto = false;
  bool is_missed = false;  // bf16 is asked for, and this machine has no instructions for it
};

// A model that no task calls is loaded in f32.
Models::Precisions Models::PrecisionsOf(uint32_t model) const {
  Precisions found;
  for (uint32_t t = 0; t < plan_.n_tasks; ++t) {
    const wf_task& task = plan_.tasks[t];
    if (task.kind != WF_MODEL || task.target != model) continue;
    const uint8_t precision = PrecisionOf(plan_, task);
    (precision == WF_BF16 ? found.bf16 : precision == kAuto ? found.is_auto : found.f32) = true;
    const bool is_asked = task.policy != WF_NONE && plan_.policies[task.policy].precision == WF_BF16;
    found.is_missed = found.is_missed || (is_asked && precision != WF_BF16);
  }
  found.f32 = found.f32 || (!found.bf16 && !found.is_auto);
  return found;
}

Models::Models(const wf_plan& plan, const Settings& settings, const base::Clock& clock)
    : plan_(plan), model_root_(settings.model_root), kernel_cache_(settings.kernel_cache), clock_(clock), loaded_(plan.n_models) {
  if (plan.n_models > 0) static_cast<void>(loader_.TryStart("wf-loader", kernels::LoadLibraries));
}
Models::~Models() = default;

base::Result<std::unique_ptr<LoadedModel>> Models::LoadVersion(const wf_model& row, const onnx::VersionFile& file, int instances,
                                                               bool bf16) const {
  const CompiledSignature compiled = ReadCompiled(row);
  model::LoadOptions options;
  options.name = View(row.name);
  options.version = file.version;
  options.max_rows = abi::kMostBatchRows;  // what a queue may ask for; plans are made for what one does
  options.instances = instances;
  options.signature = row.signature_written != 0 ? &compiled.signature : nullptr;
  options.signature_written = row.signature_written != 0;
  options.max_bytes = std::min(options.max_bytes, memory_.process_bytes);
  options.share = memory_.share;
  options.request_bytes = memory_.request_bytes;
  options.requests_bytes = memory_.requests_bytes;
  options.process_bytes = memory_.process_bytes;
  options.choices = choices_;
  options.bf16 = bf16;
  options.threads = RunThreadsOf(plan_, static_cast<uint32_t>(&row - plan_.models));
  options.clock = &clock_;
  auto version = model::Version::Load(file.path, options);
  if (!version.ok()) return version.status();
  base::Status same = CheckCompiled((*version)->signature(), compiled);
  if (same.ok()) same = CheckAxes((*version)->axes(), row);
  if (!same.ok())
    return base::Status(base::kFailedPrecondition, "`" + file.path + "` is not the model that was compiled in: " + same.message());
  if (const std::string& odd = (*version)->warning(); !odd.empty())
    observe::Log(observe::Level::kWarning, "a model's warm-up has not shown that it works; it is served",
                 {{"model", View(row.name)}, {"version", file.version}, {"reason", odd}});
  for (const std::string& output : (*version)->left_out())
    observe::Log(observe::Level::kWarning, "an output of strings is left out of a model",
                 {{"model", View(row.name)}, {"version", file.version}, {"output", output}});
  for (const std::string& note : (*version)->notes())
    observe::Log(observe::Level::kWarning, "a model's file says of itself what is not so",
                 {{"model", View(row.name)}, {"version", file.version}, {"reason", note}});
  return std::make_unique<LoadedModel>(row, *std::move(version), choices_, static_cast<size_t>(instances - loops_ - 1));
}

base::Result<Models::Resident> Models::LoadResident(const wf_model& row, const onnx::VersionFile& file, int instances,
                                                    const Precisions& precisions) const {
  Resident resident;
  if (precisions.f32 || precisions.is_auto) {
    auto loaded = LoadVersion(row, file, instances, /*bf16=*/false);
    if (!loaded.ok()) return loaded.status();
    resident.f32 = *std::move(loaded);
  }
  if (precisions.bf16 || precisions.is_auto) {
    auto loaded = LoadVersion(row, file, instances, /*bf16=*/true);
    if (!loaded.ok()) return loaded.status();
    resident.bf16 = *std::move(loaded);
  }
  if (precisions.is_auto) ChoosePrecision(row, precisions, resident);
  return resident;
}

void Models::ChoosePrecision(const wf_model& row, const Precisions& precisions, Resident& resident) const {
  const model::PrecisionFound found = resident.f32->Compare(*resident.bf16, clock_);
  resident.auto_is_bf16 = found.bf16;
  observe::Log(observe::Level::kInfo, "the precision of a model is chosen",
               {{"model", View(row.name)},
                {"version", resident.f32->version()},
                {"precision", found.bf16 ? "bf16" : "f32"},
                {"reason", found.reason}});
  if (found.bf16 && !precisions.f32) resident.f32 = nullptr;
  if (!found.bf16 && !precisions.bf16) resident.bf16 = nullptr;
}

// A version that cannot be served is told and left out, as long as another one can.
base::Status Models::LoadModel(uint32_t index, int instances) {
  const wf_model& row = plan_.models[index];
  const std::filesystem::path written{std::string(View(row.path))};
  const std::string path = (model_root_.empty() ? written : std::filesystem::path(model_root_) / written).string();
  const std::string name(View(row.name));
  std::vector<std::string> skipped;
  const auto found = onnx::FindVersions(path, &skipped);
  for (const std::string& reason : skipped)
    observe::Log(observe::Level::kWarning, "a folder is no version of a model", {{"model", name}, {"reason", reason}});
  if (!found.ok()) {
    const bool is_here = model_root_.empty() && written.is_relative() && found.status().code() == base::kNotFound;
    const char* const hint =
        is_here ? "; paths of models are relative to `--model-root`, or else to the folder that the server is started in" : "";
    return {found.status().code(), "model `" + name + "`: " + found.status().message() + hint};
  }
  const std::vector<onnx::VersionFile> files = Candidates(row, *found);
  LogMissing(row, files);
  const Precisions precisions = PrecisionsOf(index);
  if (precisions.is_missed)
    observe::Log(observe::Level::kWarning, "this machine has no instructions for bf16; a model computes in f32", {{"model", name}});
  base::Status first(base::kNotFound, "`" + path + "` has none of the versions that the program names");
  for (const onnx::VersionFile& file : files) {
    if (loaded_[index].size() == MostVersions(row)) break;
    auto version = LoadResident(row, file, instances, precisions);
    if (version.ok()) {
      loaded_[index].push_back(*std::move(version));
      continue;
    }
    if (&file == &files.front()) first = version.status();
    if (files.size() == 1) break;
    observe::Log(observe::Level::kWarning, "a version of a model is refused",
                 {{"model", name}, {"version", file.version}, {"reason", version.status().message()}});
  }
  if (!loaded_[index].empty()) return {};
  const std::string of_many =
      files.size() > 1 ? "none of its " + std::to_string(files.size()) + " versions can be served; the newest: " : "";
  const std::string begin = first.code() == base::kResourceExhausted ? "there is too little memory to load the model `" : "model `";
  return {first.code(), begin + name + "`: " + of_many + first.message()};
}

// Instances of queues first, then one for each loop that may run the model itself, then one for measurements.
base::Status Models::LoadVersions(int loops, const ModelMemory& memory) {
  memory_ = memory;
  loops_ = loops;
  loop_instance_.assign(plan_.n_models, 0);
  for (uint32_t t = 0; t < plan_.n_tasks; ++t) {
    if (plan_.tasks[t].kind == WF_MODEL) loop_instance_[plan_.tasks[t].target] += 2 * static_cast<int>(abi::kMostInstances);
  }
  for (uint32_t m = 0; m < plan_.n_models; ++m) WF_RETURN_IF_ERROR(LoadModel(m, loop_instance_[m] + loops + 1));
  return {};
}

base::Status Models::Load(int loops, int threads, const ModelMemory& memory) {
  if (plan_.n_models > 0) choices_ = std::make_shared<kernels::Choices>(kernel_cache_);
  if (choices_ != nullptr && !choices_->odd().empty())
    observe::Log(observe::Level::kWarning, "kernels are measured anew", {{"reason", choices_->odd()}});
  compute_threads_ = threads;
  WF_RETURN_IF_ERROR(LoadVersions(loops, memory));
  if (choices_ != nullptr) SaveChoices(*choices_);
  const bool has_calls = std::any_of(loop_instance_.begin(), loop_instance_.end(), [](int instances) { return instances > 0; });
  if (has_calls) executor_ = std::make_unique<batch::Executor>(batch::ExecutorOptions{threads}, clock_);
  size_t most = 0;
  for (const auto& versions : loaded_) most = std::max(most, versions.size());
  for (size_t rank = 0; rank < most; ++rank) {
    for (uint16_t m = 0; m < plan_.n_models; ++m) {
      if (rank < loaded_[m].size()) served_.push_back({View(plan_.models[m].name), loaded_[m][rank].any().version()});
    }
  }
  return {};
}

void Models::StartPreparing() {
  if (executor_ != nullptr) executor_->StartPreparing();
  prepares_ = true;
}

Models::Queue* Models::Add(const Wanted& wanted, int first_instance) {
  const BatcherKey& key = wanted.key;
  LoadedModel& model = loaded_[key.model][wanted.rank].Of(key.precision);
  batch::BatcherOptions options;
  options.model = &model;
  options.policy = {key.batch, static_cast<int>(key.queue), key.padding};
  options.first_instance = first_instance;
  options.instances = key.instances;
  options.measuring_instance = loop_instance_[key.model] + loops_;
  for (int i = 0; i < key.instances; ++i) model.set_threads(first_instance + i, key.threads);
  batch::Batcher& batcher = executor_->AddBatcher(options);
  for (const auto& other : queues_) {
    const bool is_like = other->key.model == key.model && other->rank == wanted.rank && other->key.precision == key.precision &&
                         other->key.padding == key.padding;
    if (is_like) batcher.LearnFrom(*other->batcher);
  }
  if (prepares_) executor_->Prepare(batcher);
  queues_.push_back(std::make_unique<Queue>(Queue{key, wanted.rank, &batcher}));
  batchers_.push_back({View(plan_.models[key.model].name), model.version(), &batcher});
  return queues_.back().get();
}

base::Result<Models::Queue*> Models::QueueFor(const Wanted& wanted) {
  for (const auto& queue : queues_) {
    if (queue->key == wanted.key && queue->rank == wanted.rank) return queue.get();
  }
  const int first = loaded_[wanted.key.model][wanted.rank].Of(wanted.key.precision).TakePlaces(wanted.key.instances);
  if (first >= 0) return Add(wanted, first);
  return base::Status(base::kResourceExhausted, "model `" + std::string(View(plan_.models[wanted.key.model].name)) + "`: the " +
                                                    std::to_string(loop_instance_[wanted.key.model]) +
                                                    " instances that it may have are taken by requests of earlier configurations");
}

// What every MODEL task calls when requests take the version of this rank, 0 being the newest, of each model. An older one has queues only
// when it may be asked for.
base::Status Models::BindVersions(size_t rank, const wf_plan& tuned, std::vector<sched::ModelBinding>* bindings) {
  bindings->assign(plan_.n_tasks, {});
  for (uint32_t t = 0; t < plan_.n_tasks; ++t) {
    const uint16_t m = plan_.tasks[t].target;
    if (plan_.tasks[t].kind != WF_MODEL || rank >= loaded_[m].size() || (rank > 0 && plan_.models[m].published == 0)) continue;
    const BatcherKey key = KeyOf(tuned, static_cast<uint16_t>(t), RunThreadsOf(tuned, m));
    const auto queue = QueueFor({key, rank});
    WF_RETURN_IF_ERROR(queue.status());
    LoadedModel* const model = &loaded_[m][rank].Of(key.precision);
    (*bindings)[t] = {(*queue)->batcher, model, model->depends_on_data() ? -1 : loop_instance_[m]};
  }
  return {};
}

size_t Models::VersionsOf(uint16_t model) const { return loaded_[model].size(); }

base::Status Models::Bind(sched::Catalogue* catalogue) {
  const wf_plan& tuned = catalogue->tuned == nullptr ? plan_ : *catalogue->tuned;
  size_t most = 1;
  for (const auto& versions : loaded_) most = std::max(most, versions.size());
  base::Status status;
  for (size_t rank = 0; rank < most && status.ok(); ++rank) {
    std::vector<sched::ModelBinding> bindings;
    status = BindVersions(rank, tuned, &bindings);
    for (uint16_t m = 0; m < plan_.n_models; ++m) {
      if (rank < loaded_[m].size() && plan_.models[m].published != 0)
        catalogue->versions.push_back({m, loaded_[m][rank].any().version(), bindings});
    }
    if (rank == 0) catalogue->by_task = std::move(bindings);
  }
  if (status.ok()) {
    ForEachUse(*catalogue, [](Queue& queue) { ++queue.users; });
    SetThreadsOfLoops(tuned);
  }
  Sweep();
  ShareMemory();
  return status;
}

int Models::RunThreadsOf(const wf_plan& tuned, uint32_t model) const {
  return std::min(ThreadsOf(tuned, model), std::max(compute_threads_, 1));
}

// And of measurements. Instances of queues have what their key says.
void Models::SetThreadsOfLoops(const wf_plan& tuned) {
  for (uint32_t m = 0; m < plan_.n_models; ++m) {
    for (const Resident& version : loaded_[m]) {
      for (LoadedModel* const model : {version.f32.get(), version.bf16.get()}) {
        for (int i = 0; model != nullptr && i <= loops_; ++i) model->set_threads(loop_instance_[m] + i, RunThreadsOf(tuned, m));
      }
    }
  }
}

// Each queue of the catalogue once.
template <typename Change>
void Models::ForEachUse(const sched::Catalogue& catalogue, Change&& change) {
  std::set<const batch::Batcher*> used;
  const auto take = [&used](const std::vector<sched::ModelBinding>& bindings) {
    for (const sched::ModelBinding& binding : bindings) used.insert(binding.batcher);
  };
  take(catalogue.by_task);
  for (const sched::ModelVersion& version : catalogue.versions) take(version.by_task);
  for (const auto& queue : queues_) {
    if (used.contains(queue->batcher)) change(*queue);
  }
}

void Models::Unbind(const sched::Catalogue& catalogue) {
  ForEachUse(catalogue, [](Queue& queue) { --queue.users; });
}

void Models::Sweep() {
  std::erase_if(queues_, [this](const auto& queue) {
    if (queue->users > 0) return false;
    LoadedModel& model = loaded_[queue->key.model][queue->rank].Of(queue->key.precision);
    const std::string_view name = View(plan_.models[queue->key.model].name);
    const int first = queue->batcher->options().first_instance;
    auto counted = std::make_unique<batch::BatchStats>();
    counted->Add(queue->batcher->stats());
    if (!executor_->RemoveBatcher(*queue->batcher)) return false;
    model.GiveBackPlaces(first, queue->key.instances);
    std::erase_if(batchers_, [&](const NamedBatcher& at) { return at.batcher == queue->batcher; });
    const auto before = std::find_if(removed_.begin(), removed_.end(),
                                     [&](const NamedStats& at) { return at.model == name && at.version == model.version(); });
    if (before == removed_.end())
      removed_.push_back({name, model.version(), std::move(counted)});
    else
      before->stats->Add(*counted);
    return true;
  });
}

// What instances keep from one run to the next is shared evenly by those that there are.
void Models::ShareMemory() {
  int64_t instances = static_cast<int64_t>(plan_.n_models) * (loops_ + 1) + 1;
  for (const auto& queue : queues_) instances += queue->key.instances;
  for (const auto& versions : loaded_) {
    for (const Resident& version : versions) {
      for (LoadedModel* const model : {version.f32.get(), version.bf16.get()}) {
        if (model != nullptr) model->set_kept_bytes(memory_.share.kept_bytes / instances);
      }
    }
  }
}

void Models::BeginDrain() {
  if (executor_ != nullptr) executor_->BeginDrain();
}

bool Models::Stop(base::TimePoint by) {
  const bool may_go = executor_ == nullptr || executor_->StopPreparing(by);
  if (may_go) executor_.reset();
  if (choices_ != nullptr) SaveChoices(*choices_);
  return may_go;
}

}  // namespace wf::server
