#include "runtime/model/version.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "runtime/abi/bounds.h"
#include "runtime/model/bound.h"
#include "runtime/model/constants.h"
#include "runtime/model/numbers.h"
#include "runtime/model/origin.h"
#include "runtime/model/samples.h"
#include "runtime/model/walk.h"

namespace wf::model {

using base::Result;
using base::Status;

namespace {

constexpr int64_t kMeasuringNs = 2'000'000;
constexpr std::chrono::milliseconds kTrying(300);           // what depends on data: all samples together
constexpr int64_t kSampleExtents[] = {32, 64, 224, 16, 1};  // for axes that are left open, those that models take most often first

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

// Where the elements of each begin.
std::vector<const void*> DataOf(std::span<const wf_tensor> tensors) {
  std::vector<const void*> data;
  for (const wf_tensor& tensor : tensors) data.push_back(tensor.data);
  return data;
}

class ForAWhile final : public base::Wanted {
 public:
  bool IsWanted() const noexcept override { return std::chrono::steady_clock::now() < end_; }

 private:
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kTrying;
};

}  // namespace

// Memory of an instance's runs.
struct Version::Activations {
  base::MemoryClaim claim;
  std::shared_ptr<uint8_t> memory;
  int64_t bytes = 0;
};

// A plan bound to an instance's memory.
struct Version::Bound {
  std::unique_ptr<BoundPlan> run;
  std::vector<onnx::Port> shapes;
  std::vector<const void*> data;             // of the inputs of the run under way
  std::shared_ptr<const Activations> arena;  // shared with the other plans of the instance that were made when it was large enough
  uint64_t last_used = 0;
  bool ahead = false;  // made by Prepare: kept

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

struct Version::Instance {
  std::vector<std::unique_ptr<Bound>> bound;  // at most kMaxPlans that Prepare did not make
  Bound* latest = nullptr;
  std::shared_ptr<const Activations> arena;  // the largest so far
  std::unique_ptr<model::Budget> budget;     // instead, where shapes depend on data
  std::unique_ptr<model::Walk> walk;
  std::optional<int64_t> most_bytes;  // that the next run may have, of those that depend on data
  uint64_t runs = 0;

  // What Prepare made stays, with its memory.
  void DropArena() {
    latest = nullptr;
    std::erase_if(bound, [this](const auto& each) { return !each->ahead && each->arena == arena; });
    arena = nullptr;
  }
};

Version::Version(LoadOptions options, std::shared_ptr<const onnx::Model> file)
    : options_(std::move(options)),
      file_(std::move(file)),
      kept_bytes_(options_.share.kept_bytes),
      instances_(static_cast<size_t>(options_.instances)) {}

Version::~Version() = default;

Version::Instance& Version::InstanceAt(int index) {
  WF_CHECK(index >= 0 && index < options_.instances, index);
  std::unique_ptr<Instance>& instance = instances_[static_cast<size_t>(index)];
  if (instance == nullptr) instance = std::make_unique<Instance>();
  return *instance;
}

Result<std::unique_ptr<Version>> Version::Load(const std::string& path, const LoadOptions& options) {
  WF_CHECK(options.max_rows >= 1 && options.instances >= 1, options.max_rows, options.instances);
  auto read = onnx::ReadModel(path);
  if (!read.ok()) return read.status();
  const auto file = std::make_shared<const onnx::Model>(*std::move(read));
  std::unique_ptr<Version> version(new Version(options, file));
  const onnx::Signature* written = options.signature_written ? options.signature : nullptr;
  auto axes = onnx::ChooseBatchAxis(file->signature, written);
  if (axes.ok() && options.signature != nullptr) {
    if (const Status same = onnx::CheckSignature(file->signature, *options.signature); !same.ok()) axes = same;
  }
  if (!axes.ok()) return Status(axes.status().code(), fmt::format("`{}`: {}", path, axes.status().message()));
  version->axes_ = *std::move(axes);
  version->open_ = version->FindOpenExtents();
  WF_RETURN_IF_ERROR(onnx::CheckInputTypes(file->signature, path));
  WF_RETURN_IF_ERROR(version->CheckRows(path));
  auto program = Optimise(file, std::min(options.max_bytes, onnx::kMostConstantBytes));
  if (!program.ok()) return program.status();
  version->program_ = *std::move(program);
  version->by_data_ = version->FindDependsOnData();
  if (options.warm_up) WF_RETURN_IF_ERROR(version->WarmUp());
  version->misses_ = 0;  // no request waited
  version->program_.Rename(options.name);
  return version;
}

bool Version::FindOpenExtents() const {
  const std::vector<onnx::Port>& inputs = file_->signature.inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t axis = 0; axis < inputs[i].dim.size(); ++axis) {
      if (static_cast<int>(axis) != axes_.axis[i] && !inputs[i].dim[axis].is_constant()) return true;
    }
  }
  return false;
}

// A call brings its inputs, at most in its body, which is memory of requests, or has them from the program; outputs are copied to its own.
Status Version::CheckRows(const std::string& path) const {
  WF_RETURN_IF_ERROR(onnx::CheckRows(file_->signature, path, onnx::kMostTensorBytes, abi::kMostRequestBytes));
  const int64_t requests = options_.requests_bytes;
  const Status fits = onnx::CheckRows(file_->signature, path, std::max(requests, abi::kMostRequestBytes), requests);
  return fits.ok() ? fits : Status(fits.code(), fits.message() + ", which all requests may have (`limits.memory_bytes`)");
}

int64_t Version::MostRequestBytes() const { return std::min(options_.requests_bytes, abi::kMostRequestBytes); }

// Before anything of it is allocated. What extents that the file leaves open make of a run is the request's.
Status Version::CheckSample(const Plan& plan) const {
  const auto check = [&](int64_t bytes, int64_t most, const char* who) {
    if (bytes <= most) return Status::Ok();
    return Status(base::kOutOfRange,
                  fmt::format("`{}`: a run of one row takes {} bytes, and {} may have {}; the largest of its results is that of {}",
                              program_.subject, bytes, who, most, plan.Largest()));
  };
  if (open_) WF_RETURN_IF_ERROR(check(plan.run_bytes(), MostRequestBytes(), "a request"));
  return check(plan.input_bytes() + plan.arena_bytes(), options_.process_bytes, "the process");
}

// Of one row; axes that neither the file nor the batch fixes have the extent `free`.
std::vector<onnx::Port> Version::PortsWith(int64_t free) const {
  std::vector<onnx::Port> ports = file_->signature.inputs;
  for (size_t i = 0; i < ports.size(); ++i) {
    for (size_t axis = 0; axis < ports[i].dim.size(); ++axis) {
      onnx::Dim& dim = ports[i].dim[axis];
      if (static_cast<int>(axis) == axes_.axis[i]) {
        dim = onnx::Dim(1);
      } else if (!dim.is_constant()) {
        dim = onnx::Dim(free);
      }
    }
  }
  return ports;
}

bool Version::FindDependsOnData() const {
  for (const int64_t free : kSampleExtents) {
    const auto depends = model::DependsOnData(program_, PortsWith(free));
    if (depends.ok()) return *depends;
  }
  return false;
}

// Of one row. Axes that neither the file nor the batch fixes get a usual extent, with which the nodes and the memory do. Empty: none is
// known.
Result<std::vector<onnx::Port>> Version::SampleShapes() {
  for (const int64_t free : kSampleExtents) {
    std::vector<onnx::Port> ports = PortsWith(free);
    if (!onnx::InferShapes(program_.graph, ports, program_.subject).ok()) continue;
    if (by_data_) return ports;
    const auto plan = PlanFor(ports, /*ahead=*/false);
    const Status fits = plan.ok() ? CheckSample(**plan) : plan.status();
    if (fits.ok()) return ports;
    const bool is_smallest = !open_ || free == 1;
    if (is_smallest || fits.code() != base::kOutOfRange) return fits;
  }
  return std::vector<onnx::Port>();
}

Status Version::WarmUp() {
  auto shapes = SampleShapes();
  if (!shapes.ok()) return shapes.status();
  if (shapes->size() != file_->signature.inputs.size()) return Status::Ok();  // no shape to try: the first call will tell
  std::vector<wf_tensor> inputs;
  std::vector<std::shared_ptr<uint8_t>> memory;
  for (const onnx::Port& port : *shapes) {
    kernels::TensorInfo info;
    WF_RETURN_IF_ERROR(ConcreteInfo({port.dtype, port.dim, std::nullopt}, options_.max_bytes, info));
    memory.push_back(kernels::Allocate(info.size_bytes()));
    if (memory.back() == nullptr) return Status(base::kResourceExhausted, fmt::format("`{}`: out of memory", program_.subject));
    inputs.emplace_back();
    Describe(info, memory.back().get(), inputs.back());
  }
  sample_shapes_ = *std::move(shapes);
  if (by_data_) {
    const Status tried = RunSamples(nullptr, inputs);
    Trim(0);
    return tried;
  }
  const auto bound = BoundFor(InstanceAt(0), 1, inputs, /*ahead=*/false);
  if (!bound.ok()) return bound.status();
  activation_bytes_ = (*bound)->plan().arena_bytes();
  return RunSamples(*bound, inputs);
}

// bound: its plan, to tell where what is not finite comes from; null: there is none.
Status Version::RunSamples(Bound* bound, std::span<const wf_tensor> inputs) {
  const ForAWhile wanted;
  std::optional<Origin> origin;
  if (bound != nullptr) origin.emplace(program_, bound->plan());
  std::string first, by_weights;
  bool is_certain = true;  // of the runs that did not fail
  for (size_t sample = 0; sample < kSamples; ++sample) {
    for (size_t i = 0; i < inputs.size(); ++i) FillWithSample(sample, i, inputs[i]);
    const int64_t start = SpentNs();
    const Status tried = RunSample(inputs, &wanted);
    if (tried.code() == base::kCancelled) {
      warning_ = fmt::format("`{}`: what it does depends on its inputs, and its warm-up has not found any with which it ends within {} ms",
                             program_.subject, kTrying.count());
      return Status::Ok();
    }
    if (tried.ok() && SpentNs() - start < kMeasuringNs) MeasureRow(inputs);
    if (tried.ok()) return tried;
    std::string told = tried.message();
    is_certain = is_certain && origin.has_value();
    if (tried.code() == base::kFailedPrecondition && origin) {
      bound->run->Trace(DataOf(inputs), *origin);
      if (origin->first() != nullptr) told += fmt::format("; {} is the first whose result is not", *origin->first());
      is_certain = is_certain && origin->weights() != nullptr;
      if (is_certain && by_weights.empty())
        by_weights = fmt::format("{}, whatever the input: {} has weights that are NaN or infinite", tried.message(), *origin->weights());
    }
    if (sample == 0) first = std::move(told);
  }
  if (is_certain && !by_weights.empty()) return Status(base::kFailedPrecondition, std::move(by_weights));
  warning_ = fmt::format("{}; none of {} runs of its warm-up gives finite outputs: they were fed {}", first, kSamples, kSamplesText);
  return Status::Ok();
}

int64_t Version::SpentNs() const {
  if (options_.clock == nullptr) return 0;
  return kernels::StayOnOneThread() ? options_.clock->WorkedNs() : options_.clock->Now();
}

// Once a run has found everything warm.
void Version::MeasureRow(std::span<const wf_tensor> inputs) {
  constexpr int kMostRuns = 20;
  if (options_.clock == nullptr) return;
  std::vector<wf_tensor> outputs(file_->signature.outputs.size());
  const int64_t begin = SpentNs();
  for (int i = 0; i < kMostRuns && SpentNs() - begin < kMeasuringNs; ++i) {
    const int64_t start = SpentNs();
    if (!Run(0, 1, inputs, outputs).ok()) return;
    const int64_t took = std::max<int64_t>(1, SpentNs() - start);
    row_ns_ = row_ns_ == 0 ? took : std::min(row_ns_, took);
  }
}

Status Version::RunSample(std::span<const wf_tensor> inputs, const base::Wanted* wanted) {
  std::vector<wf_tensor> outputs(file_->signature.outputs.size());
  WF_RETURN_IF_ERROR(Run(0, 1, inputs, outputs, wanted));
  for (size_t i = 0; i < outputs.size(); ++i) {
    int64_t count = 1;
    for (size_t axis = 0; axis < outputs[i].rank; ++axis) count *= outputs[i].dim[axis];
    if (KindsOf(outputs[i].dtype, outputs[i].data, count).all_finite()) continue;
    return Status(base::kFailedPrecondition,
                  fmt::format("`{}`: output `{}` is not finite", program_.subject, file_->signature.outputs[i].name));
  }
  return Status::Ok();
}

Status Version::Prepare(int instance_index, int64_t rows, std::span<const wf_tensor> inputs) {
  if (by_data_) return Status::Ok();  // what a run needs, it finds out
  kernels::UseOneThread();
  return BoundFor(InstanceAt(instance_index), rows, inputs, /*ahead=*/true).status();
}

void Version::Trim(int instance_index) {
  Instance& instance = InstanceAt(instance_index);
  if (instance.arena != nullptr && instance.arena->claim.bytes() > kept_bytes_) instance.DropArena();
  if (instance.walk != nullptr && instance.budget->bytes() > kept_bytes_) instance.walk = nullptr;
}

void Version::Release(int instance_index) {
  WF_CHECK(instance_index >= 0 && instance_index < options_.instances, instance_index);
  instances_[static_cast<size_t>(instance_index)] = nullptr;
}

Status Version::CheckInputs(int64_t rows, std::span<const wf_tensor> inputs, std::vector<onnx::Port>& shapes) const {
  const std::vector<onnx::Port>& ports = file_->signature.inputs;
  const auto fail = [&](std::string text) { return Status(base::kInvalidArgument, fmt::format("model `{}`: {}", options_.name, text)); };
  if (rows < 1 || rows > max_rows()) return fail(fmt::format("{} samples in a run, {} are the most", rows, max_rows()));
  if (inputs.size() != ports.size()) return fail(fmt::format("{} inputs, wanted {}", inputs.size(), ports.size()));
  std::map<std::string, int64_t> bound;  // symbols of the signature
  for (size_t i = 0; i < inputs.size(); ++i) {
    const wf_tensor& tensor = inputs[i];
    onnx::Port shape = ports[i];
    if (tensor.dtype != shape.dtype || tensor.rank != shape.dim.size()) {
      return fail(fmt::format("input `{}` is {} with {} axes, wanted {}", shape.name, base::DTypeName(tensor.dtype), tensor.rank,
                              shape.ToString()));
    }
    const bool is_empty = std::count(tensor.dim, tensor.dim + tensor.rank, 0) != 0;  // any stride will do
    int64_t stride = 1;
    for (size_t axis = shape.dim.size(); axis-- > 0;) {
      const int64_t is = tensor.dim[axis];
      int64_t wanted = shape.dim[axis].constant().value_or(is);
      if (axes_.batched && static_cast<int>(axis) == axes_.axis[i]) wanted = rows;
      if (const auto symbol = shape.dim[axis].symbol()) wanted = wanted != is ? wanted : bound.try_emplace(*symbol, is).first->second;
      if (is != wanted || is < 0) return fail(fmt::format("input `{}`: axis {} is {}, wanted {}", shape.name, axis, is, wanted));
      if (is > 1 && !is_empty && tensor.stride[axis] != stride) return fail(fmt::format("input `{}` is not dense", shape.name));
      if (__builtin_mul_overflow(stride, std::max<int64_t>(is, 1), &stride))
        return fail(fmt::format("input `{}` is too large", shape.name));
      shape.dim[axis] = onnx::Dim(is);
    }
    shapes.push_back(std::move(shape));
  }
  return Status::Ok();
}

Result<std::shared_ptr<const Plan>> Version::PlanFor(const std::vector<onnx::Port>& shapes, bool ahead) {
  const base::MutexLock lock(planning_);
  for (auto each = plans_.begin(); each != plans_.end(); ++each) {
    if (!SameShapes(each->shapes, shapes)) continue;
    each->ahead = each->ahead || ahead;
    plans_.splice(plans_.begin(), plans_, each);
    return each->plan;
  }
  if (!ahead) misses_.fetch_add(1, std::memory_order_relaxed);
  auto made = Plan::Make(program_, shapes, options_.max_bytes);
  if (!made.ok()) return made.status();
  plans_.push_front({shapes, std::shared_ptr<const Plan>(*std::move(made)), ahead});
  const auto goes = [](const Made& each) { return !each.ahead; };
  if (std::count_if(plans_.begin(), plans_.end(), goes) > static_cast<ptrdiff_t>(kMaxPlans))
    plans_.erase(std::prev(std::find_if(plans_.rbegin(), plans_.rend(), goes).base()));
  return plans_.front().plan;
}

// What was bound to less memory goes with it: the two together could be more than the limit.
Status Version::GrowTo(Instance& instance, int64_t bytes) const {
  if (instance.arena != nullptr && instance.arena->bytes >= bytes) return Status::Ok();
  instance.DropArena();
  auto activations = std::make_shared<Activations>();
  if (activations->claim.Take(memory_share().limit, bytes)) activations->memory = kernels::Allocate(bytes);
  if (activations->memory == nullptr)
    return Status(base::kResourceExhausted, fmt::format("`{}`: no memory for {} bytes of activations", program_.subject, bytes));
  activations->bytes = bytes;
  instance.arena = std::move(activations);
  return Status::Ok();
}

Version::Bound* Version::FindBound(const Instance& instance, std::span<const wf_tensor> inputs) const {
  if (inputs.size() != file_->signature.inputs.size()) return nullptr;
  if (instance.latest != nullptr && instance.latest->Fits(inputs)) return instance.latest;
  const auto found = std::find_if(instance.bound.begin(), instance.bound.end(), [inputs](const auto& each) { return each->Fits(inputs); });
  return found == instance.bound.end() ? nullptr : found->get();
}

Status Version::CheckSize(int instance_index, int64_t rows, std::span<const wf_tensor> inputs, int64_t most_bytes) {
  if (by_data_) InstanceAt(instance_index).most_bytes = most_bytes;
  if (!open_ || by_data_) return Status::Ok();
  int64_t bytes = 0;
  if (const Bound* bound = FindBound(InstanceAt(instance_index), inputs); bound != nullptr) {
    bytes = bound->plan().run_bytes();
  } else {
    std::vector<onnx::Port> shapes;
    WF_RETURN_IF_ERROR(CheckInputs(rows, inputs, shapes));
    const auto plan = PlanFor(shapes, /*ahead=*/false);
    if (!plan.ok()) return plan.status();
    bytes = (*plan)->run_bytes();
  }
  if (bytes <= most_bytes) return Status::Ok();
  return Status(base::kOutOfRange,
                fmt::format("model `{}`: a run for these extents takes {} bytes, more than the {} that the request may have", options_.name,
                            bytes, most_bytes));
}

Status Version::CheckResultRows(size_t output, const std::vector<int64_t>& dim, int64_t rows) const {
  const int64_t given = dim[static_cast<size_t>(axes_.axis[file_->signature.inputs.size() + output])];
  if (given == rows) return Status::Ok();
  return Status(base::kFailedPrecondition, fmt::format("`{}`: output `{}` has {} rows for {} samples", program_.subject,
                                                       file_->signature.outputs[output].name, given, rows));
}

Result<Version::Bound*> Version::BoundFor(Instance& instance, int64_t rows, std::span<const wf_tensor> inputs, bool ahead) {
  if (Bound* const bound = FindBound(instance, inputs); bound != nullptr) {
    bound->ahead = bound->ahead || ahead;
    return bound;
  }
  std::vector<onnx::Port> shapes;
  WF_RETURN_IF_ERROR(CheckInputs(rows, inputs, shapes));
  auto plan = PlanFor(shapes, ahead);
  if (!plan.ok()) return plan.status();
  for (size_t i = 0; axes_.batched && i < (*plan)->outputs().size(); ++i)
    WF_RETURN_IF_ERROR(CheckResultRows(i, (*plan)->outputs()[i].info.dim, rows));
  auto bound = std::make_unique<Bound>();
  bound->shapes = std::move(shapes);
  bound->ahead = ahead;
  WF_RETURN_IF_ERROR(GrowTo(instance, (*plan)->arena_bytes()));
  bound->arena = instance.arena;
  auto run = BoundPlan::Bind(*std::move(plan), inputs.size(), instance.arena->memory.get());
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

Status Version::Walk(Instance& instance, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs,
                     const base::Wanted* wanted) {
  std::vector<onnx::Port> shapes;
  WF_RETURN_IF_ERROR(CheckInputs(rows, inputs, shapes));
  if (instance.budget == nullptr) instance.budget = std::make_unique<Budget>(memory_share().limit);
  if (instance.walk == nullptr)
    instance.walk = std::make_unique<model::Walk>(program_, PartLimits{options_.max_bytes, instance.budget.get()});
  std::vector<Elements> given;
  for (const wf_tensor& input : inputs) {
    const std::shared_ptr<const uint8_t> data(std::shared_ptr<void>(), static_cast<const uint8_t*>(input.data));  // the caller's
    given.push_back({{input.dtype, std::vector<int64_t>(input.dim, input.dim + input.rank), nullptr, nullptr}, data});
  }
  const int64_t most_bytes = std::exchange(instance.most_bytes, std::nullopt).value_or(MostRequestBytes());
  instance.budget->Begin(most_bytes, wanted);
  WF_RETURN_IF_ERROR(instance.walk->Run(given));
  const std::vector<Elements> results = instance.walk->outputs();
  WF_CHECK(outputs.size() == results.size(), outputs.size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (axes_.batched) WF_RETURN_IF_ERROR(CheckResultRows(i, results[i].info.dim, rows));
    Describe(results[i].info, const_cast<uint8_t*>(results[i].data.get()), outputs[i]);
  }
  return Status::Ok();
}

Status Version::Run(int instance_index, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs,
                    const base::Wanted* wanted) {
  kernels::UseOneThread();
  Instance& instance = InstanceAt(instance_index);
  if (by_data_) return Walk(instance, rows, inputs, outputs, wanted);
  const auto found = BoundFor(instance, rows, inputs, /*ahead=*/false);
  if (!found.ok()) return found.status();
  Bound& bound = **found;
  instance.latest = &bound;
  bound.last_used = ++instance.runs;
  if (const Status ran = bound.Run(inputs); !ran.ok()) return Status(ran.code(), fmt::format("`{}`: {}", program_.subject, ran.message()));
  const std::vector<wf_tensor>& results = bound.run->outputs();
  WF_CHECK(outputs.size() == results.size(), outputs.size());
  std::copy(results.begin(), results.end(), outputs.begin());
  return Status::Ok();
}

}  // namespace wf::model
