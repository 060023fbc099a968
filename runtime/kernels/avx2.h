#pragma once

#include "runtime/kernels/operation.h"

// Kernels of f32 for CPUs with AVX2 and FMA. Each gives null where the CPU lacks these, or the operation is another than it takes: then the
// next row of the table is asked.
// Errors: kResourceExhausted for memory, and those of loading constants.
namespace wf::kernels::avx2 {

// Along an axis that is not the last: for eight places behind it at a time.
base::Result<std::unique_ptr<Kernel>> MakeArgExtreme(const Operation&);

// Of each channel by itself, along lines: [n, c, t], or images of one row or column, with constant weights. Row-major, places of a line are
// summed eight at a time; where channels lie side by side, channels are, and the result is in the format of the input. With the same sums
// in the same order.
base::Result<std::unique_ptr<Kernel>> MakeConv(const Operation&);

// Sums of f64.
base::Result<std::unique_ptr<Kernel>> MakeGroupNorm(const Operation&);

// Where scale and shift are one row each and nobody reads mean and inverse.
base::Result<std::unique_ptr<Kernel>> MakeLayerNorm(const Operation&);

// Of weights of 4 bits in blocks of whole 16, each element of the block that it lies in. A few rows are multiplied as weights are unpacked,
// in registers; for more of them columns are unpacked once and multiplied by oneDNN.
base::Result<std::unique_ptr<Kernel>> MakeMatMulNBits(const Operation&);

// Maxima of row-major data in lines, of which oneDNN has plain code alone, and in wide images. The rows of a window become one line, with
// its padding, and eight windows that lie side by side are gone through at a time.
base::Result<std::unique_ptr<Kernel>> MakePool(const Operation&);

// Layers with constant weights: the inputs of all steps as one product, the steps with packed weights, the usual functions as vectors.
base::Result<std::unique_ptr<Kernel>> MakeRecurrent(const Operation&);

// Of elements of 4 bytes, of any type, where the last axis of the result is another than the last of the input: squares of 8x8 are turned
// in registers.
base::Result<std::unique_ptr<Kernel>> MakeTranspose(const Operation&);

}  // namespace wf::kernels::avx2

namespace wf::kernels::avx512 {

// As avx2::MakeConv, with the same bits: row-major alone, where loads are what it waits for.
base::Result<std::unique_ptr<Kernel>> MakeLineConv(const Operation&);

}  // namespace wf::kernels::avx512
