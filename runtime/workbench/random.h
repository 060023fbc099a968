#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/onnx/graph.h"
#include "runtime/workbench/session.h"
#include "runtime/workbench/tensor.h"

namespace wf::workbench {

// Inputs that nobody wrote, the same for the same seed on every machine: floats from -1 to 1, bools, integers from 0 to `most`.
// ports: with extents that are numbers. Errors: those of MakeTensor.
base::Result<std::vector<Tensor>> RandomInputs(std::span<const onnx::Port> ports, uint64_t seed, int64_t most);

// The same with the largest integers of a few that the model computes with: where they are indices, most have no place in it.
// Errors: why it computes with none.
base::Result<std::vector<Tensor>> FittingInputs(Session& session, std::span<const onnx::Port> ports, uint64_t seed);

}  // namespace wf::workbench
