#pragma once

#include <ctime>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "runtime/abi/values.h"
#include "runtime/base/status.h"

namespace wf::bench {

// A model that takes the time it is told to: what a server adds to it is then the server's own. Each sample's f32 result is the sum of its
// inputs, so that mixed-up rows show.   Thread: one at a time for each instance.
class ScriptedModel {
 public:
  struct Options {
    int64_t row_elements = 1;    // of the one input, f32[rows, row_elements]
    int64_t run_ns = 1'000'000;  // of any run
    int64_t row_ns = 0;          // and for each row
    bool sleep = false;          // wait for the time rather than compute: for what another device would do
    int instances = 1;
    int64_t max_rows = 32;
  };
  explicit ScriptedModel(const Options& options) : options_(options), results_(static_cast<size_t>(options.instances)) {
    for (auto& each : results_) each.resize(static_cast<size_t>(options.max_rows + 32));
  }

  base::Status Run(int instance, int64_t rows, std::span<const wf_tensor> inputs, std::span<wf_tensor> outputs) {
    const int64_t begin = Now(), wanted = options_.run_ns + rows * options_.row_ns;
    void* memory = results_[static_cast<size_t>(instance)].data();
    size_t space = results_[static_cast<size_t>(instance)].size() * sizeof(float);
    float* const result = static_cast<float*>(std::align(WF_ALIGN, static_cast<size_t>(options_.max_rows) * sizeof(float), memory, space));
    const float* in = static_cast<const float*>(inputs[0].data);
    for (int64_t row = 0; row < rows; ++row) {
      float sum = 0;
      for (int64_t i = 0; i < options_.row_elements; ++i) sum += in[row * options_.row_elements + i];
      result[row] = sum;
    }
    if (options_.sleep) {
      const int64_t left = wanted - (Now() - begin);
      const timespec time{left / 1'000'000'000, left % 1'000'000'000};
      if (left > 0) nanosleep(&time, nullptr);
    }
    while (Now() - begin < wanted) {
    }
    outputs[0] = {};
    outputs[0].data = result;
    outputs[0].dtype = WF_F32;
    outputs[0].rank = 1;
    outputs[0].dim[0] = rows;
    outputs[0].stride[0] = 1;
    return base::Status::Ok();
  }

  const Options& options() const { return options_; }

 private:
  static int64_t Now() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
  }

  const Options options_;
  std::vector<std::vector<float>> results_;
};

}  // namespace wf::bench
