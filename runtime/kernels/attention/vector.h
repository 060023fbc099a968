#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/base/status.h"

namespace wf::kernels {
struct Operation;
class Kernel;

inline constexpr size_t kAttentionAdded = 6;  // the input with what is added to the products

// Attention of q, k and v given apart, with nothing of before and no mask but what is added: [batch, s or l, heads * size].
struct AttentionShape {
  int64_t batch, heads, s, l, size, v_size;
  float scale;
  bool plain;
  int64_t added_batch, added_head, added_row;  // strides of what is added, 0 where it repeats
};
}  // namespace wf::kernels

namespace wf::kernels::avx2 {

// Nothing: the operation is another.
std::optional<AttentionShape> ShapeOfAttention(const Operation&);

// Of q, k and v given apart in f32, with nothing of before and no mask but what is added: heads are read where they lie, and the scores of
// a block of rows stay in the cache.
// Null: the operation is another, and the next row of the table is asked.
base::Result<std::unique_ptr<Kernel>> MakeAttention(const Operation&);

}  // namespace wf::kernels::avx2
