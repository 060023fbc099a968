#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/abi/bounds.h"
#include "runtime/abi/values.h"
#include "runtime/base/clock.h"
#include "runtime/base/memory_limit.h"
#include "runtime/model/contents.h"
#include "runtime/model/program.h"
#include "runtime/model/text_border.h"
#include "runtime/onnx/signature.h"
#include "runtime/onnx/text_ports.h"

namespace wf::model {

constexpr size_t kMaxPlans = 64;  // shapes that are kept ready, besides those that were made ahead

struct LoadOptions {
  std::string name = "model";  // for messages
  int64_t version = 1;
  int64_t max_rows = 1;                        // most samples of one run; plans exist for 1, 2, 4, ... and this
  int instances = 1;                           // runs side by side; one that never runs holds no memory
  const onnx::Signature* signature = nullptr;  // the one that was compiled in; null: take the file's
  bool signature_written = false;              // it was written in the program and marks the batch axis itself
  int64_t max_bytes = onnx::kMostTensorBytes;  // of one tensor, and of one run's activations
  base::MemoryShare share;                     // for activations, when the file leaves extents of inputs open
  int64_t request_bytes = INT64_MAX;           // a request may have: `limits.request_bytes`
  int64_t requests_bytes = INT64_MAX;          // all requests may have: `limits.memory_bytes`
  int64_t process_bytes = INT64_MAX;           // the process may have, for all that it does
  bool warm_up = true;
  bool bf16 = false;  // products of f32 are of numbers rounded to bf16, where this machine has instructions for it
  onnx::TextPorts texts = onnx::TextPorts::kOfCalls;  // inputs and outputs that are its own; of all of them what is only stored, too
  std::optional<onnx::Given> given = {};              // what runs give; a written signature says it itself
  int threads = 1;                                    // that work at one run: the caller's, and others that each instance starts
  std::shared_ptr<kernels::Choices> choices;          // of ways of kernels, that models share; null: the own ones of their rows
  const base::Clock* clock = nullptr;                 // by which the warm-up measures row_ns; null: it does not
};

// A file that was read, held against the program's signature and made ready for runs.
// Thread: immutable once it is loaded.   Owns: the file's bytes.
struct Loaded {
  LoadOptions options;
  std::shared_ptr<const onnx::Model> file;  // without its graph, which became the program
  onnx::BatchAxes axes;
  Program program;
  Contents contents = {};                                 // of the file
  std::vector<std::unique_ptr<TextBorder>> borders = {};  // of each instance
  bool is_open = false;                                   // it leaves extents of inputs, other than that of samples, to the caller

  // What choosing may take for each plan that is made before a run wants it.
  int64_t measuring_ns() const { return options.choices == nullptr ? 0 : options.choices->measuring_ns(); }
  // Elements of an input or output are others outside than within.
  bool has_border() const {
    const auto is_other = [](const onnx::Port& port) { return onnx::ElementType(port.dtype) != port.dtype; };
    const onnx::Signature& ports = file->signature;
    return std::any_of(ports.inputs.begin(), ports.inputs.end(), is_other) ||
           std::any_of(ports.outputs.begin(), ports.outputs.end(), is_other);
  }
  int64_t max_rows() const { return axes.batched ? options.max_rows : 1; }
  int64_t most_request_bytes() const { return std::min({options.request_bytes, options.requests_bytes, abi::kMostRequestBytes}); }

  kernels::Texts* TextsOf(int instance) const { return &borders[static_cast<size_t>(instance)]->texts(); }

  // Errors: kInvalidArgument for what the signature does not take, and more rows than a run has. `shapes` becomes those of the inputs.
  base::Status CheckInputs(int64_t rows, std::span<const wf_tensor> inputs, std::vector<onnx::Port>& shapes) const;
  // Errors: kInternal when an output has not as many rows as there are samples. REQUIRES: axes.batched
  base::Status CheckResultRows(size_t output, const std::vector<int64_t>& dim, int64_t rows) const;
};

}  // namespace wf::model
