#include "runtime/workbench/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/abi/bounds.h"

namespace wf::workbench {

using base::Result;
using base::Status;

namespace {

// For axes that are left open, those first that models take most often.
constexpr int64_t kUsualExtents[] = {32, 64, 224, 16, 128, 8, 4, 2, 1};

}  // namespace

std::vector<wf_tensor> ViewsOf(std::span<const Tensor> tensors) {
  std::vector<wf_tensor> views;
  for (const Tensor& tensor : tensors) views.push_back(tensor.View());
  return views;
}

Result<std::unique_ptr<Session>> Session::Open(const std::string& path, SessionOptions session) {
  model::LoadOptions options;
  options.name = path;
  options.max_rows = abi::kMostBatchRows;
  options.instances = session.instances;
  options.warm_up = false;
  options.texts = session.texts;
  options.choices = std::move(session.choices);
  options.bf16 = session.bf16;
  options.given = std::move(session.given);
  options.threads = session.threads;
  auto version = model::Version::Load(path, options);
  if (!version.ok()) return version.status();
  return std::unique_ptr<Session>(new Session(*std::move(version)));
}

std::vector<onnx::Port> Session::PortsWith(int64_t batch, int64_t free, const std::map<std::string, int64_t>& named) const {
  std::vector<onnx::Port> ports = signature().inputs;
  for (size_t i = 0; i < ports.size(); ++i) {
    for (size_t axis = 0; axis < ports[i].dim.size(); ++axis) {
      onnx::Dim& dim = ports[i].dim[axis];
      if (dim.is_constant()) continue;
      const auto given = named.find(dim.symbol().value_or(""));
      const bool counts_samples = is_batched() && version_->axes().axis[i] == static_cast<int>(axis);
      dim = onnx::Dim(given != named.end() ? given->second : counts_samples ? batch : free);
    }
  }
  return ports;
}

Result<std::vector<onnx::Port>> Session::ShapesFor(int64_t batch, const std::map<std::string, int64_t>& named) {
  std::map<std::string, int64_t> unused = named;
  for (const onnx::Port& port : signature().inputs) {
    for (const onnx::Dim& dim : port.dim) unused.erase(dim.symbol().value_or(""));
  }
  if (!unused.empty()) return Status(base::kInvalidArgument, fmt::format("no axis of an input is called `{}`", unused.begin()->first));
  if (batch > 1 && !is_batched())
    return Status(base::kInvalidArgument, fmt::format("the model takes one sample a run: {}", version_->axes().reason));
  for (size_t i = 0; is_batched() && i < signature().inputs.size(); ++i) {
    const int axis = version_->axes().axis[i];
    const auto given = axis < 0 ? named.end() : named.find(signature().inputs[i].dim[static_cast<size_t>(axis)].symbol().value_or(""));
    if (given != named.end() && given->second != batch) {
      return Status(base::kInvalidArgument,
                    given->second == 0 ? fmt::format("`{}` counts the samples of a run; of none, give inputs of 0 rows", given->first)
                                       : fmt::format("`{}` counts the samples of a run; `--batch {}` says how many there are", given->first,
                                                     given->second));
    }
  }
  Status first;
  for (const int64_t free : kUsualExtents) {
    std::vector<onnx::Port> ports = PortsWith(batch, free, named);
    if (const auto known = onnx::InferShapes(program().graph, ports, file().path); !known.ok()) {
      if (first.ok()) first = known.status();
      continue;
    }
    std::vector<wf_tensor> shapes;
    for (const onnx::Port& port : ports) {
      Tensor shape{port.dtype, {}, nullptr};
      for (const onnx::Dim& dim : port.dim) shape.dim.push_back(*dim.constant());
      WF_RETURN_IF_ERROR(CheckShape(shape.dtype, shape.dim));
      shapes.push_back(shape.View());
    }
    const Status fits = version_->Prepare(0, is_batched() ? batch : 1, shapes);
    if (fits.ok()) return ports;
    if (first.ok()) first = fits;
    const bool same =
        std::equal(ports.begin(), ports.end(), signature().inputs.begin(), [](const auto& a, const auto& b) { return a.dim == b.dim; });
    if (same) break;
  }
  return first;
}

Result<std::shared_ptr<const model::Plan>> Session::PlanFor(const std::vector<onnx::Port>& shapes) const {
  auto plan = version_->PlanFor(shapes);
  if (!plan.ok() || *plan != nullptr) return plan;
  auto made = model::Plan::Make(program(), shapes, onnx::kMostTensorBytes);  // which tells at which node it ends
  return made.ok() ? Result(std::shared_ptr<const model::Plan>(*std::move(made))) : made.status();
}

// The batch axis of the first input that has one; a run refuses others that do not fit to it.
int64_t Session::RowsOf(std::span<const Tensor> inputs) const {
  if (!is_batched()) return 1;
  for (size_t i = 0; i < inputs.size() && i < signature().inputs.size(); ++i) {
    const auto axis = static_cast<size_t>(version_->axes().axis[i]);
    if (version_->axes().axis[i] >= 0 && axis < inputs[i].dim.size()) return inputs[i].dim[axis];
  }
  return 1;
}

Result<std::vector<Tensor>> Session::Run(std::span<const Tensor> inputs) {
  std::vector<wf_tensor> out(signature().outputs.size());
  if (const Status ran = RunInPlace(0, RowsOf(inputs), ViewsOf(inputs), out); !ran.ok()) return ran;
  std::vector<Tensor> results;
  for (const wf_tensor& tensor : out) {
    auto copy = CopyOf(tensor);
    if (!copy.ok()) return copy.status();
    results.push_back(*std::move(copy));
  }
  return results;
}

}  // namespace wf::workbench
