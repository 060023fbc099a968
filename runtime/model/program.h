#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/kernels/choices.h"
#include "runtime/kernels/operation.h"
#include "runtime/onnx/infer.h"
#include "runtime/onnx/reader.h"

namespace wf::model {

// A model's graph after what does not depend on shapes is done: constant nodes computed, batch normalisation and activations joined to the
// operators before them. The source of every plan.   Thread: immutable, but for the constants, which load and pack where plans are made.
struct Program {
  std::string subject;  // how messages name it: by its file while it is loaded, by its name in the program to those who call it
  onnx::Graph graph;
  std::vector<std::shared_ptr<const kernels::Constant>> constants;  // per weight of the graph; both null: no node reads it
  std::shared_ptr<kernels::PackedMemory> packed_memory = std::make_shared<kernels::PackedMemory>();  // of the constants
  std::shared_ptr<kernels::Choices> choices;     // of ways of its kernels; null: the own ones of their rows
  bool bf16 = false;                             // products of f32 are of numbers rounded to bf16, where kernels can
  std::vector<kernels::Unary> then;              // per node: fused behind it
  std::vector<std::shared_ptr<Program>> bodies;  // of the graph, as they are

  void Rename(const std::string& name);  // the subject, of the bodies too
};

// Takes the graph out of the model, whose files the constants go on reading. max_bytes: of all results that are computed here,
// MostConstantBytes at most. Errors: a constant cannot be read or computed; the message names file and node.
base::Result<Program> Optimise(const std::shared_ptr<onnx::Model>& model, int64_t max_bytes = INT64_MAX);

// The kernel's view of a node: parameters from attributes and constant inputs, and which of the node's inputs the kernel reads.
struct Lowered {
  kernels::Params params;
  std::vector<int> in;  // values; -1 absent
  bool alias = false;   // no kernel: the output is input 0 seen in another shape
  // Only the elements tell the extents of output 0: the kernel fills as much as it needs of a buffer of `most` and writes the extents, i64,
  // into an output more, behind those of the node.
  bool counts = false;
  std::vector<int64_t> most;
};
base::Result<Lowered> Lower(const Program& program, size_t node, std::vector<onnx::Known>& known);

// As kernels see it.
inline kernels::TensorInfo InfoOf(uint8_t dtype, std::vector<int64_t> dim) {
  const uint8_t element = onnx::ElementType(dtype);
  return {element, std::move(dim), nullptr, nullptr, element == dtype ? uint8_t{0} : dtype};
}
// As shape inference sees it.
inline uint8_t KnownType(const kernels::TensorInfo& info) { return info.meaning != 0 ? info.meaning : info.dtype; }

// Extents of a value whose dimensions are all numbers. Errors: one is not, or the tensor is larger than max_bytes.
base::Status ConcreteInfo(const onnx::Known& known, int64_t max_bytes, kernels::TensorInfo& info);

}  // namespace wf::model
