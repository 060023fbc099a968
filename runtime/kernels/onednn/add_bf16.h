#pragma once

#include <cstdint>

#include "runtime/kernels/half.h"
#include "runtime/kernels/unary/unary.h"

namespace wf::kernels::onednn {

// out = then(out + addend), element by element; addend null: nothing is added. Sums are of f32.
// REQUIRES: MultipliesBf16(); `then` is Identity, Relu or Clip.
void AddBf16(const Unary& then, const Brain* addend, Brain* out, int64_t count);

}  // namespace wf::kernels::onednn
