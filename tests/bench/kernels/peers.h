#pragma once

#include <span>

#include "runtime/abi/values.h"

namespace wf::bench {

// A kernel of kernels.wf as a C++ programmer writes it; `outputs` have their memory. compiled with -O3 -march=native, by
// tests/bench/kernels.py.
using Peer = void (*)(std::span<const wf_tensor> inputs, std::span<const wf_tensor> outputs);
Peer PeerOf(const char* workflow);  // null: none of this name

}  // namespace wf::bench
