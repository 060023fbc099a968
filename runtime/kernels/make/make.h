#pragma once

#include <array>
#include <cstdint>

// Contracts that make a tensor of nothing, or of a few numbers.
namespace wf::kernels {

struct Fill {
  std::array<uint8_t, 8> value{};  // the bytes of each element; no input
};
struct Range {};  // start + i * delta, of inputs 0 and 2; integers wrap
struct Eye {
  int64_t k = 0;  // 1 on this diagonal of a matrix, 0 elsewhere; no input
};

}  // namespace wf::kernels
