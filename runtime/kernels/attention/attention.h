#pragma once

#include <cstdint>

// The contracts of attention: fused operators of com.microsoft.
namespace wf::kernels {

// softmax(scale * q k' + what is added) v for each head. Inputs, of which all but the first may be absent:
//   0 q [batch, s, heads * size]; with weights: x [batch, s, n]; without k and v: q, k and v side by side
//   1, 2 k and v, [batch, l, kv_heads * size] or [batch, kv_heads, l, size]
//   3 weights [n, all of q, k and v]      4 bias of q, k and v side by side; k and v of 4 axes have theirs already
//   5 mask, i32: lengths [batch], as many in front of [3 batch + 2], ends and starts [2 batch]; 0 masks in [batch, (s,) total]
//   6 what is added to the products, [1 or batch, 1 or heads, 1 or s, 1 or total]
//   7, 8 k and v of before, [batch, kv_heads, past, size]; joined, 7 is both, [2, batch, ..]
//   9 i32, for each sample its elements that count, less 1: those of before are as many less s, in front of what k and v have
//   10, 11 cosines and sines of the positions, [.., half of what is turned]
//   12 scores of an element beside all, [heads], whose v is 0
//   13 i64 positions of what is turned, [batch, s], in place of their own
// Outputs: [batch, s, heads * size]; 1 and 2 k and v of before and now, [batch, kv_heads, total, size]; joined, both are in 1.
// Several heads share one of k and v where there are fewer of them.
struct Attention {
  int64_t heads = 1, kv_heads = 1, size = 1, v_size = 1;
  float scale = 1;
  float filter = -10000;  // is added where the mask masks
  float softcap = 0;      // c > 0: products become c * tanh(product / c)
  int64_t window = -1;    // how many elements up to its own each takes at most; -1: all
  bool causal = false;    // only those up to its own, but the last all: ONNX Runtime's, for more elements of k than of q
  bool interleaved = false;
  bool first = false;   // nothing of before counts, whatever the lengths
  bool plain = false;   // where nothing counts results are NaN, as Softmax has it, not 0
  bool smooth = false;  // there is an element beside all, of score 0 unless input 12 has others
  bool joined = false;  // past and present k and v are one tensor each
  int64_t total = 0;    // elements of k with those of before
};

// Turns pairs of elements by the angle of their position: x [batch, s, heads * size] or [batch, heads, s, size], positions i64 [1] (of the
// first) or [batch, s], cosines and sines [.., half of what is turned]. Pairs lie side by side (interleaved) or half of it apart.
struct Rotary {
  int64_t heads = 1, size = 1;
  bool interleaved = false;
};

}  // namespace wf::kernels
