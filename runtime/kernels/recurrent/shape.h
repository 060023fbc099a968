#pragma once

#include <algorithm>

#include "runtime/kernels/operation.h"

// What the inputs of a recurrent layer are, and their extents.
namespace wf::kernels {

enum RecurrentInput : size_t { kRecurrentX, kRecurrentW, kRecurrentR, kRecurrentBias, kRecurrentLengths, kFirstH, kFirstC, kPeepholes };

struct RecurrentShape {
  int64_t steps, batch, in, hidden, directions, width;  // width: gates * hidden

  // Columns of R that are applied to h at once; those of a GRU's last gate stay apart.
  int64_t joined(RecurrentCell cell) const { return cell == RecurrentCell::kGru ? 2 * hidden : width; }
};
inline RecurrentShape RecurrentShapeOf(const Recurrent& layer, const Operation& operation) {
  const std::vector<int64_t>&x = operation.in[kRecurrentX].dim, &r = operation.in[kRecurrentR].dim;
  return {layer.batch_first ? x[1] : x[0], layer.batch_first ? x[0] : x[1], x[2], r[2], r[0], GatesOf(layer.cell) * r[2]};
}

template <typename T>
const T* RecurrentIn(const Buffers& b, size_t i) {
  return i < b.in.size() ? static_cast<const T*>(b.in[i]) : nullptr;
}

// Null, or why the lengths do not fit.
inline const char* CheckRecurrentLengths(const RecurrentShape& shape, const Buffers& b) {
  const int32_t* lengths = RecurrentIn<int32_t>(b, kRecurrentLengths);
  const auto wrong = [&](int32_t length) { return length < 0 || length > shape.steps; };
  const bool fits = lengths == nullptr || std::none_of(lengths, lengths + shape.batch, wrong);
  return fits ? nullptr : "a length of a sequence is negative or beyond its steps";
}

}  // namespace wf::kernels
