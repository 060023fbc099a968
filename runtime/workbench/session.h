#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/model/version.h"
#include "runtime/workbench/tensor.h"

namespace wf::workbench {

struct SessionOptions {
  int instances = 1;
  std::shared_ptr<kernels::Choices> choices = nullptr;  // of ways of kernels; null: the own ones of their rows
  bool bf16 = false;                                    // as model::LoadOptions
  onnx::TextPorts texts = onnx::TextPorts::kAll;        // the same
  std::optional<onnx::Given> given = {};                // the same
  int threads = 1;                                      // the same
};

// A model file ready to be run here, by its own inputs, with nothing tried before.
// Thread: Run of different instances side by side; everything else by one thread.   Owns: the model.
class Session {
 public:
  // Errors: those of model::Version::Load.
  static base::Result<std::unique_ptr<Session>> Open(const std::string& path, SessionOptions options = {});

  const onnx::Signature& signature() const { return version_->signature(); }
  const onnx::Model& file() const { return version_->file(); }
  const model::Contents& contents() const { return version_->contents(); }
  const model::Program& program() const { return version_->program(); }
  const onnx::BatchAxes& axes() const { return version_->axes(); }
  // Whether axis 0 of inputs and outputs counts samples, of which a run takes any number.
  bool is_batched() const { return version_->axes().batched; }

  // Extents of the inputs for a run of `batch` samples: `named` for axes that the file names, for the others that it leaves open what
  // models usually take and this one accepts. Errors: a name that no axis has; no extents that were tried fit.
  base::Result<std::vector<onnx::Port>> ShapesFor(int64_t batch, const std::map<std::string, int64_t>& named);

  // The plan for extents that ShapesFor gave. Errors: why there is none before a run.
  base::Result<std::shared_ptr<const model::Plan>> PlanFor(const std::vector<onnx::Port>& shapes) const;

  // Whole tensors in the order of the file. Errors: those of model::Version::Run.
  base::Result<std::vector<Tensor>> Run(std::span<const Tensor> inputs);  // outputs are copies
  // outputs: they stay until the instance runs again.   Cost: as model::Version::Run.
  base::Status RunInPlace(int instance, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs) {
    return version_->Run(instance, rows, inputs, outputs);
  }
  int64_t RowsOf(std::span<const Tensor> inputs) const;

 private:
  explicit Session(std::unique_ptr<model::Version> version) : version_(std::move(version)) {}
  std::vector<onnx::Port> PortsWith(int64_t batch, int64_t free, const std::map<std::string, int64_t>& named) const;

  const std::unique_ptr<model::Version> version_;
};

std::vector<wf_tensor> ViewsOf(std::span<const Tensor> tensors);

}  // namespace wf::workbench
