#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "runtime/kernels/kernel.h"
#include "runtime/onnx/reader.h"

namespace wf::model {

inline constexpr int64_t kAlign = 64;
constexpr int64_t Aligned(int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

// Zeroed memory, 64-aligned and readable up to the next multiple of 64; null when there is none. Larger blocks ask for huge pages.
std::shared_ptr<uint8_t> Allocate(int64_t bytes);

// A weight of the file. Its elements are read when somebody needs them and freed with the last who does; what kernels packed from them
// stays.   Thread: one at a time, that which makes plans.
class FileConstant final : public kernels::Constant {
 public:
  FileConstant(std::shared_ptr<const onnx::Model> file, const onnx::Weight& weight) : file_(std::move(file)), weight_(weight) {}
  base::Result<std::shared_ptr<const uint8_t>> Load() const override;
  std::shared_ptr<const void>& Packed(const std::string& key) const override { return packed_[key]; }

 private:
  const std::shared_ptr<const onnx::Model> file_;
  const onnx::Weight& weight_;  // of *file_
  mutable std::weak_ptr<const uint8_t> loaded_;
  mutable std::map<std::string, std::shared_ptr<const void>> packed_;
};

// Elements that were computed when the model was loaded.   Thread: one at a time, that which makes plans.
class HeldConstant final : public kernels::Constant {
 public:
  explicit HeldConstant(std::shared_ptr<const uint8_t> elements) : elements_(std::move(elements)) {}
  base::Result<std::shared_ptr<const uint8_t>> Load() const override { return elements_; }
  std::shared_ptr<const void>& Packed(const std::string& key) const override { return packed_[key]; }

 private:
  const std::shared_ptr<const uint8_t> elements_;
  mutable std::map<std::string, std::shared_ptr<const void>> packed_;
};

// Weights of a convolution with a batch normalisation folded in: each filter times its factor, when loaded.   Thread: one at a time, that
// which makes plans.
class ScaledConstant final : public kernels::Constant {
 public:
  // factor: one per filter; count: elements of `base`, row-major with filters outermost. dtype f32 or f64.
  ScaledConstant(std::shared_ptr<const kernels::Constant> base, std::vector<double> factor, int64_t count, uint8_t dtype)
      : base_(std::move(base)), factor_(std::move(factor)), count_(count), dtype_(dtype) {}
  base::Result<std::shared_ptr<const uint8_t>> Load() const override;
  std::shared_ptr<const void>& Packed(const std::string& key) const override { return packed_[key]; }

 private:
  const std::shared_ptr<const kernels::Constant> base_;
  const std::vector<double> factor_;
  const int64_t count_;
  const uint8_t dtype_;
  mutable std::weak_ptr<const uint8_t> loaded_;
  mutable std::map<std::string, std::shared_ptr<const void>> packed_;
};

}  // namespace wf::model
