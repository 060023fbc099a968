#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// Contracts that move elements of any type without looking at them.
namespace wf::kernels {

struct Transpose {
  std::vector<size_t> perm;
};  // output axis i is input axis perm[i]
struct Concat {
  size_t axis = 0;
};
struct Slice {
  std::vector<int64_t> start, step;
};  // per axis, within the input; the output's shape says how many
struct Pad {  // input 1, when present: the value, one element
  enum class Mode : uint8_t { kConstant, kEdge, kReflect, kWrap };
  Mode mode = Mode::kConstant;
  std::vector<int64_t> begin;  // per axis, negative crops; the output's shape says the end
  float value = 0;             // without input 1
};
struct Gather {
  size_t axis = 0;
};  // indices are i32 or i64, from either end; beyond either end the call fails
struct Where {};  // condition ? a : b, all broadcasting
struct Copy {};   // as is: a result that is an input or a constant

}  // namespace wf::kernels
