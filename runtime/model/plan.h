#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/model/program.h"

namespace wf::model {

// Of a file that was found sound: extents that its nodes refuse are those of the inputs, kFailedPrecondition instead of kInvalidArgument.
base::Status OfExtents(const base::Status& refused);

// A program made ready for fixed shapes of its inputs: kernels in order, and where each result lies in the arena.
// Thread: immutable; shared by all instances.
class Plan {
 public:
  struct Step {
    std::shared_ptr<const kernels::Kernel> kernel;  // of elementwise steps shared with those that compute alike
    std::vector<int> in;                            // buffers, -1 absent or inside the kernel
    std::vector<int> out;                           // buffers, -1 where nobody reads it; the first is one
    int node = -1;  // of the program's graph; -1: an element is only moved, to another format or to where results lie
  };
  struct Buffer {
    int64_t bytes = 0;
    uint8_t dtype = 0;
    int64_t offset = -1;                      // in the arena
    int input = -1;                           // or: the model's input of this index
    std::shared_ptr<const uint8_t> constant;  // or: elements
  };
  struct Output {
    int buffer;
    kernels::TensorInfo info;
  };

  // inputs: dtype and numeric dims of each input. measuring_ns: what choosing among ways of kernels may take beside (choices.h). threads:
  // that one run may use (kernels/tiles.h). Errors: kFailedPrecondition for shapes that the model cannot take, memory beyond max_bytes, no
  // kernel; the file and the node are named.   Cost: milliseconds; packs weights that no plan before has packed.
  static base::Result<std::unique_ptr<Plan>> Make(const Program& program, std::span<const onnx::Port> inputs, int64_t max_bytes,
                                                  int64_t measuring_ns = 0, int threads = 1);

  const std::vector<Step>& steps() const { return steps_; }
  std::string_view Where(size_t step) const;  // "node `conv1` (Conv)"
  const std::vector<Buffer>& buffers() const { return buffers_; }
  const std::vector<Output>& outputs() const { return outputs_; }
  int64_t arena_bytes() const { return arena_bytes_; }  // scratch included, which lies behind the results
  int64_t input_bytes() const;
  int64_t run_bytes() const;    // the arena, and the results beside it once they are handed on
  std::string Largest() const;  // "node `pad` (Pad), 4096 bytes": of the results
  int64_t scratch_offset() const { return scratch_offset_; }
  std::string ToString() const;  // one line a step: node, implementation, buffers

 private:
  friend class Planner;
  std::vector<Step> steps_;
  std::string where_;              // of all steps, one behind the other
  std::vector<size_t> where_end_;  // of each
  std::vector<Buffer> buffers_;
  std::vector<Output> outputs_;
  int64_t arena_bytes_ = 0, scratch_offset_ = 0;
};

}  // namespace wf::model
