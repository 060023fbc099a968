#pragma once

#include <cstddef>
#include <cstdint>

// Contracts along one axis, in its order or that of the elements. NaN counts as larger than every number; of equal elements the first comes
// first.
namespace wf::kernels {

struct TopK {  // the k largest or smallest in their order, and where they stood (i64, may be left out)
  size_t axis = 0;
  bool largest = true;
};
struct ArgExtreme {  // where the largest or smallest stands, i64; NaN is both
  size_t axis = 0;
  bool largest = true, last = false;  // last: of equal ones
};
struct Hardmax {  // 1 where the largest of the axes [axis, end) stands, together, 0 elsewhere
  size_t axis = 0, end = 1;
};
struct CumSum {  // integers wrap
  size_t axis = 0;
  bool exclusive = false, reverse = false;
};
struct ReverseSequence {  // axes 0 and 1; input 1, i64: of each row, how many from its beginning. Fails for lengths beyond the axis
  bool time_first = true;
};

}  // namespace wf::kernels
