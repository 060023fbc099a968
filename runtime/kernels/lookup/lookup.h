#pragma once

#include <cstdint>
#include <vector>

namespace wf::kernels {

// Each element of input 0 becomes the value of its key, else `otherwise`. Of equal keys the first counts; NaN is a key like others.
struct Lookup {
  std::vector<int64_t> whole_keys;  // where input 0 has integers
  std::vector<double> keys;         // where it has floats
  std::vector<uint8_t> values;      // elements of the type of output 0, one for each key
  std::vector<uint8_t> otherwise;   // one element
};

// Output 0, f32, has an axis more than input 0: 1 at the place of the element among `categories`, else 0. An element that is none of them
// is all zeros, or ends the run when `zeros` is false.
struct OneOfCategories {
  std::vector<int64_t> categories;  // of floats: their whole part
  bool zeros = true;
};

}  // namespace wf::kernels
