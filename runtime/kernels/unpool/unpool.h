#pragma once

#include <cstdint>
#include <vector>

namespace wf::kernels {

// Maxima over windows of x [n, c, s...], and where in x they stand (i64, counted through all of x): the first of equals, NaN above all.
// column_major: the place within a plane counts its first axis fastest.
struct ArgPool {
  bool column_major = false;
  std::vector<int64_t> kernel, stride, dilation, pad_begin;
};

// Puts x where input 1 (i64) says, counted through a tensor whose planes are `plane`, into an output that may be larger; 0 elsewhere.
// Fails for a place outside.
struct Unpool {
  std::vector<int64_t> plane;
};

}  // namespace wf::kernels
