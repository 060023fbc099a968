#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "runtime/kernels/kernel.h"
#include "runtime/onnx/reader.h"

namespace wf::model {

// A weight of the file. Its elements are read when somebody needs them and freed with the last who does; what kernels packed from them
// stays.   Thread: one at a time, that which makes plans.
class FileConstant final : public kernels::Constant {
 public:
  FileConstant(std::shared_ptr<kernels::PackedMemory> packed_memory, std::shared_ptr<const onnx::Model> file,
               std::shared_ptr<const onnx::Weight> weight)
      : Constant(std::move(packed_memory)), file_(std::move(file)), weight_(std::move(weight)) {}
  base::Result<std::shared_ptr<const uint8_t>> Load() const override;

 private:
  const std::shared_ptr<const onnx::Model> file_;
  const std::shared_ptr<const onnx::Weight> weight_;
  mutable std::weak_ptr<const uint8_t> loaded_;
};

// Elements that were computed when the model was loaded.   Thread: one at a time, that which makes plans.
class HeldConstant final : public kernels::Constant {
 public:
  HeldConstant(std::shared_ptr<kernels::PackedMemory> packed_memory, std::shared_ptr<const uint8_t> elements)
      : Constant(std::move(packed_memory)), elements_(std::move(elements)) {}
  base::Result<std::shared_ptr<const uint8_t>> Load() const override { return elements_; }

 private:
  const std::shared_ptr<const uint8_t> elements_;
};

// Weights of a convolution with a batch normalisation folded in: each filter times its factor, when loaded.   Thread: one at a time, that
// which makes plans.
class ScaledConstant final : public kernels::Constant {
 public:
  // One per filter, for `run` elements side by side, then the next, from the first on again behind the last.
  struct Factors {
    std::vector<double> factor;
    int64_t run;
  };
  // count: elements of `base`. dtype f32 or f64.
  ScaledConstant(std::shared_ptr<kernels::PackedMemory> packed_memory, std::shared_ptr<const kernels::Constant> base, Factors factors,
                 int64_t count, uint8_t dtype)
      : Constant(std::move(packed_memory)), base_(std::move(base)), factors_(std::move(factors)), count_(count), dtype_(dtype) {}
  base::Result<std::shared_ptr<const uint8_t>> Load() const override;

 private:
  const std::shared_ptr<const kernels::Constant> base_;
  const Factors factors_;
  const int64_t count_;
  const uint8_t dtype_;
  mutable std::weak_ptr<const uint8_t> loaded_;
};

}  // namespace wf::model
