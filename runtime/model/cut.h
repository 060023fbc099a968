#pragma once

#include <span>
#include <vector>

#include "runtime/model/program.h"

namespace wf::model {

// Elements that are there: dense, row-major, 64-aligned.
struct Elements {
  kernels::TensorInfo info;             // dtype 0: nothing is there
  std::shared_ptr<const uint8_t> data;  // which it holds, or only points to
};

// Some nodes of a program as a program of their own.
struct Cut {
  Program program;
  std::vector<int> reads, writes;  // values of the whole program: the inputs and outputs of this one, in their order
};

// The nodes [begin, end) of `whole`: its inputs are what they read and do not write, its outputs what they write and others read.
// fixed: values that are constants here, with their elements; by value of the whole.
Cut CutOut(const Program& whole, size_t begin, size_t end, std::span<const std::pair<int, Elements>> fixed);

}  // namespace wf::model
