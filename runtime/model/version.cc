#include "runtime/model/version.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "runtime/abi/bounds.h"
#include "runtime/abi/plan.h"
#include "runtime/model/bound.h"
#include "runtime/model/numbers.h"
#include "runtime/model/origin.h"
#include "runtime/model/runs.h"
#include "runtime/model/samples.h"
#include "runtime/model/walk.h"

namespace wf::model {

using base::Result;
using base::Status;

namespace {

constexpr int64_t kMeasuringNs = 2'000'000;
constexpr std::chrono::milliseconds kTrying(300);           // what depends on data: all samples together
constexpr int64_t kSampleExtents[] = {32, 64, 224, 16, 1};  // for axes that are left open, those that models take most often first

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

Version::Version(LoadOptions options, std::shared_ptr<const onnx::Model> file)
    : loaded_{.options = std::move(options), .file = std::move(file), .axes = {}, .program = {}},
      kept_bytes_(loaded_.options.share.kept_bytes) {}

Version::~Version() = default;

Result<std::unique_ptr<Version>> Version::Load(const std::string& path, const LoadOptions& options) {
  WF_CHECK(options.max_rows >= 1 && options.instances >= 1, options.max_rows, options.instances);
  const onnx::Signature* written = options.signature_written ? options.signature : nullptr;
  onnx::ReadOptions reading;
  reading.given = options.given;
  reading.narrow = options.texts == onnx::TextPorts::kAll;
  if (written != nullptr) reading.given = onnx::Given{written->inputs, {}};
  auto read = onnx::ReadModel(path, reading);
  if (!read.ok()) return read.status();
  const auto file = std::make_shared<onnx::Model>(*std::move(read));
  std::unique_ptr<Version> version(new Version(options, file));
  auto axes = onnx::ChoosePorts(*file, options.texts, written);
  if (axes.ok() && options.signature != nullptr) {
    if (const Status same = onnx::CheckSignature(file->signature, *options.signature); !same.ok()) axes = same;
  }
  if (!axes.ok()) return Status(axes.status().code(), fmt::format("`{}`: {}", path, axes.status().message()));
  version->loaded_.axes = *std::move(axes);
  version->loaded_.is_open = version->FindOpenExtents();
  version->loaded_.contents = Contents(file->graph);
  version->sample_texts_ = SampleTexts(file->graph, file->signature.inputs);
  WF_RETURN_IF_ERROR(version->CheckRows(path));
  auto program = Optimise(file, options.max_bytes);
  if (!program.ok()) return program.status();
  version->loaded_.program = *std::move(program);
  for (int i = 0; i < options.instances; ++i)
    version->loaded_.borders.push_back(std::make_unique<TextBorder>(version->loaded_.program.graph.texts));
  version->loaded_.program.choices = options.choices;
  version->loaded_.program.bf16 = options.bf16 && kernels::MultipliesBf16();
  version->by_data_ = version->FindDependsOnData();
  version->runs_ = version->by_data_ ? MakeWalkedRuns(version->loaded_) : MakePlannedRuns(version->loaded_);
  if (options.warm_up) WF_RETURN_IF_ERROR(version->WarmUp());
  version->misses_of_load_ = version->runs_->misses();  // no request waited
  version->loaded_.program.Rename(options.name);
  return version;
}

void Version::FillTexts(std::span<const wf_tensor> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype == WF_TEXTS) FillWithSample({0, i}, sample_texts_, inputs[i]);
  }
}

bool Version::FindOpenExtents() const {
  const std::vector<onnx::Port>& inputs = loaded_.file->signature.inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t axis = 0; axis < inputs[i].dim.size(); ++axis) {
      if (static_cast<int>(axis) != loaded_.axes.axis[i] && !inputs[i].dim[axis].is_constant()) return true;
    }
  }
  return false;
}

// A call brings its inputs, at most in its body, which is memory of requests, or has them from the program; outputs are copied to its own.
Status Version::CheckRows(const std::string& path) const {
  WF_RETURN_IF_ERROR(onnx::CheckRows(loaded_.file->signature, path, onnx::kMostTensorBytes, abi::kMostRequestBytes));
  const int64_t requests = loaded_.options.requests_bytes;
  const Status fits = onnx::CheckRows(loaded_.file->signature, path, std::max(requests, abi::kMostRequestBytes), requests);
  if (!fits.ok()) return Status(fits.code(), fits.message() + ", which all requests may have (`limits.memory_bytes`)");
  const Status of_one = onnx::CheckRows(loaded_.file->signature, path, onnx::kMostTensorBytes, loaded_.options.request_bytes);
  return of_one.ok() ? of_one : Status(of_one.code(), of_one.message() + ", which a request may have (`limits.request_bytes`)");
}

// Before anything of it is allocated. What extents that the file leaves open make of a run is the request's.
Status Version::CheckSample(const Plan& plan) const {
  const auto check = [&](int64_t bytes, int64_t most, const char* who) {
    if (bytes <= most) return Status::Ok();
    return Status(base::kOutOfRange,
                  fmt::format("`{}`: a run of one row takes {} bytes, and {} may have {}; the largest of its results is that of {}",
                              loaded_.program.subject, bytes, who, most, plan.Largest()));
  };
  if (loaded_.is_open) WF_RETURN_IF_ERROR(check(plan.run_bytes(), loaded_.most_request_bytes(), "a request"));
  return check(plan.input_bytes() + plan.arena_bytes(), loaded_.options.process_bytes, "the process");
}

// Of one row; axes that neither the file nor the batch fixes have the extent `free`.
std::vector<onnx::Port> Version::PortsWith(int64_t free) const {
  std::vector<onnx::Port> ports = loaded_.file->signature.inputs;
  for (size_t i = 0; i < ports.size(); ++i) {
    for (size_t axis = 0; axis < ports[i].dim.size(); ++axis) {
      onnx::Dim& dim = ports[i].dim[axis];
      if (static_cast<int>(axis) == loaded_.axes.axis[i]) {
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
    const auto depends = model::DependsOnData(loaded_.program, PortsWith(free));
    if (!depends.ok()) continue;
    if (*depends || free == 1 || !loaded_.is_open) return *depends;
    const auto of_one = model::DependsOnData(loaded_.program, PortsWith(1));  // only an extent of 1 is what data expands
    return of_one.ok() && *of_one;
  }
  return model::HasNodesOfData(loaded_.program);
}

// Of one row. Axes that neither the file nor the batch fixes get a usual extent, with which the nodes and the memory do. Empty: none is
// known.
Result<std::vector<onnx::Port>> Version::SampleShapes() {
  for (const int64_t free : kSampleExtents) {
    std::vector<onnx::Port> ports = PortsWith(free);
    if (!onnx::InferShapes(loaded_.program.graph, ports, loaded_.program.subject).ok()) continue;
    const auto plan = runs_->PlanFor(ports);
    const Status fits = !plan.ok() ? plan.status() : *plan != nullptr ? CheckSample(**plan) : Status::Ok();
    if (fits.ok()) return ports;
    const bool is_smallest = !loaded_.is_open || free == 1;
    if (is_smallest || fits.code() != base::kOutOfRange) return fits;
  }
  return std::vector<onnx::Port>();
}

Status Version::WarmUp() {
  const auto is_made_up = [](const onnx::Port& port) { return port.dtype < WF_DTYPE_COUNT || port.dtype == WF_TEXTS; };
  if (by_data_) WF_RETURN_IF_ERROR(CheckSettled(loaded_.program, loaded_.file->signature.inputs, loaded_.most_request_bytes()));
  auto shapes = SampleShapes();
  if (!shapes.ok()) return shapes.status();
  if (shapes->size() != loaded_.file->signature.inputs.size()) return Status::Ok();   // no shape to try: the first call will tell
  if (!std::all_of(shapes->begin(), shapes->end(), is_made_up)) return Status::Ok();  // nor elements of what is only stored
  kernels::TensorInfo info;
  for (const onnx::Port& port : *shapes)
    WF_RETURN_IF_ERROR(ConcreteInfo({port.dtype, port.dim, std::nullopt}, loaded_.options.max_bytes, info));
  SampleInputs made;
  if (const Status is = MakeInputs(*shapes, loaded_.axes.axis, 1, made); !is.ok())
    return Status(is.code(), fmt::format("`{}`: {}", loaded_.program.subject, is.message()));
  const std::vector<wf_tensor>& inputs = made.tensors;
  sample_shapes_ = *std::move(shapes);
  const auto bound = runs_->Bind(0, 1, inputs, /*ahead=*/false);
  if (!bound.ok()) return bound.status();
  if (*bound != nullptr) activation_bytes_ = (*bound)->plan().arena_bytes();
  const Status tried = RunSamples(*bound, inputs);
  if (*bound == nullptr) Trim(0);  // the memory of a plan stays, so that a model for which none is left is refused at load
  return tried;
}

// bound: its plan, to tell where what is not finite comes from, where its inputs are numbers; null: there is none.
Status Version::RunSamples(BoundPlan* bound, std::span<const wf_tensor> inputs) {
  const ForAWhile wanted;
  std::optional<Origin> origin;
  const bool has_texts = std::any_of(inputs.begin(), inputs.end(), [](const wf_tensor& input) { return input.dtype == WF_TEXTS; });
  if (bound != nullptr && !has_texts) origin.emplace(loaded_.program, bound->plan());
  std::string first, by_weights;
  bool is_certain = true;  // of the runs that did not fail
  for (size_t sample = 0; sample < kSamples; ++sample) {
    for (size_t i = 0; i < inputs.size(); ++i) FillWithSample({sample, i}, sample_texts_, inputs[i]);
    const int64_t start = SpentNs();
    const Status tried = RunSample(inputs, &wanted);
    if (tried.code() == base::kCancelled) {
      warning_ = fmt::format("`{}`: what it does depends on its inputs, and its warm-up has not found any with which it ends within {} ms",
                             loaded_.program.subject, kTrying.count());
      return Status::Ok();
    }
    if (tried.ok() && SpentNs() - start < kMeasuringNs) MeasureRow(inputs);
    if (tried.ok()) return tried;
    std::string told = tried.message();
    is_certain = is_certain && origin.has_value();
    if (tried.code() == base::kFailedPrecondition && origin) {
      bound->Trace(DataOf(inputs), *origin);
      if (origin->first()) told += fmt::format("; {} is the first whose result is not", *origin->first());
      is_certain = is_certain && origin->weights();
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
  if (loaded_.options.clock == nullptr) return 0;
  return kernels::StayOnOneThread() ? loaded_.options.clock->WorkedNs() : loaded_.options.clock->Now();
}

// Once a run has found everything warm.
void Version::MeasureRow(std::span<const wf_tensor> inputs) {
  constexpr int kMostRuns = 20;
  if (loaded_.options.clock == nullptr) return;
  std::vector<wf_tensor> outputs(loaded_.file->signature.outputs.size());
  const int64_t begin = SpentNs();
  for (int i = 0; i < kMostRuns && SpentNs() - begin < kMeasuringNs; ++i) {
    const int64_t start = SpentNs();
    if (!Run(0, 1, inputs, outputs).ok()) return;
    const int64_t took = std::max<int64_t>(1, SpentNs() - start);
    row_ns_ = row_ns_ == 0 ? took : std::min(row_ns_, took);
  }
}

Status Version::RunSample(std::span<const wf_tensor> inputs, const base::Wanted* wanted) {
  std::vector<wf_tensor> outputs(loaded_.file->signature.outputs.size());
  WF_RETURN_IF_ERROR(Run(0, 1, inputs, outputs, wanted));
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (KindsOf(outputs[i].dtype, outputs[i].data, CountOf(outputs[i])).all_finite()) continue;
    return Status(base::kFailedPrecondition,
                  fmt::format("`{}`: output `{}` is not finite", loaded_.program.subject, loaded_.file->signature.outputs[i].name));
  }
  return Status::Ok();
}

Result<std::shared_ptr<const Plan>> Version::PlanFor(const std::vector<onnx::Port>& shapes) { return runs_->PlanFor(shapes); }

uint64_t Version::shape_misses() const { return runs_->misses() - misses_of_load_; }

Runs& Version::RunsOf(int instance) {
  WF_CHECK(instance >= 0 && instance < loaded_.options.instances, instance);
  return *runs_;
}

Status Version::Prepare(int instance, int64_t rows, std::span<const wf_tensor> inputs) {
  kernels::UseOneThread();
  return RunsOf(instance).Bind(instance, rows, inputs, /*ahead=*/true).status();
}

Status Version::CheckSize(int instance, int64_t rows, std::span<const wf_tensor> inputs, int64_t most_bytes) {
  return RunsOf(instance).CheckSize(instance, rows, inputs, most_bytes);
}

void Version::Trim(int instance) {
  RunsOf(instance).Trim(instance, memory_share().kept_bytes);
  if (loaded_.has_border()) loaded_.borders[static_cast<size_t>(instance)]->Clear();
}
void Version::Release(int instance) { RunsOf(instance).Release(instance); }
void Version::set_threads(int instance, int threads) { RunsOf(instance).set_threads(instance, threads); }

Status Version::Run(int instance, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs,
                    const base::Wanted* wanted) {
  kernels::UseOneThread();
  Runs& runs = RunsOf(instance);
  TextBorder& border = *loaded_.borders[static_cast<size_t>(instance)];
  if (!loaded_.has_border()) {
    border.texts().Clear();
    return runs.Run(instance, rows, inputs, outputs, wanted);
  }
  std::vector<wf_tensor> given(inputs.begin(), inputs.end());
  WF_RETURN_IF_ERROR(border.Begin(given));
  WF_RETURN_IF_ERROR(runs.Run(instance, rows, given, outputs, wanted));
  border.End(loaded_.file->signature.outputs, outputs);
  return Status::Ok();
}

}  // namespace wf::model
