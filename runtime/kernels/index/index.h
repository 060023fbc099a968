#pragma once

#include <cstddef>
#include <cstdint>

// Contracts that pick elements by index, or put them there. Indices are i64 (of elements also i32), from either end; beyond either end the
// call fails.
namespace wf::kernels {

enum class Reduction : uint8_t { kNone, kAdd, kMul, kMax, kMin };  // with what is there; kMax and kMin keep NaN

struct GatherElements {
  size_t axis = 0;
};  // out[i][j] = data[at[i][j]][j] for axis 0
struct GatherND {
  size_t batch = 0;
};  // each tuple along the last axis of input 1 picks a block of data, behind `batch` axes that both have
struct ScatterElements {
  size_t axis = 0;
  Reduction reduction = Reduction::kNone;
};  // data, indices, updates; in the order of the updates
struct ScatterND {
  Reduction reduction = Reduction::kNone;
};
// indices, depth, values {off, on}: a new axis, on where it counts to the index. An index beyond either end is off everywhere.
struct OneHot {
  size_t axis = 0;
};

}  // namespace wf::kernels
