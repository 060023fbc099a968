#pragma once

namespace wf::kernels {

// The sum of the rows of up to three tables, normalised as LayerNorm. Inputs: words i32 [batch, s], segments i32 [batch, s] or absent,
// tables of words, positions and segments [.., n] (the last absent with them), scale [n], shift [n], mask i32 [batch, s] or absent,
// positions i32 [1 or batch, s] or absent: in their order. Outputs: [batch, s, n]; how many of each row the mask counts, i32 [batch]; the
// sum.
struct EmbedNorm {
  float epsilon = 1e-12f;
};

}  // namespace wf::kernels
