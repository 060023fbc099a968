#pragma once

#include "runtime/kernels/matmul/product.h"
#include "runtime/kernels/operation.h"

// oneDNN behind the kernel contracts. Nothing else knows its types. Each maker gives null for cases that oneDNN does not have or that plain
// code does faster, and for all cases when the library is not installed.
namespace wf::kernels::onednn {

base::Result<std::unique_ptr<Kernel>> MakeConv(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeMatMul(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakePool(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeUnary(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeBinary(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeSoftmax(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeConcat(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeConvTranspose(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeResize(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeIntegerConv(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeIntegerMatMul(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeReorder(const TensorInfo& from, const FormatRef& to);

// Ways to compute it besides that which MakeConv and MakeMatMul take by themselves, as `Operation::way` names them. One may be null when it
// is made after all.   Cost: up to a millisecond.
std::vector<std::string> ConvWays(const Operation& operation);
std::vector<std::string> MatMulWays(const Operation& operation);

// c [m, n] = factor * a [m, k] b [k, n], or with turn_b b [n, k]; rows lie as far apart as is said.   REQUIRES: Available(), nothing is
// empty.
struct Gemm {
  int64_t m, n, k;
  float factor;
  const float* a;
  int64_t a_row;
  bool turn_b;
  const float* b;
  int64_t b_row;
  float* c;
  int64_t c_row;
};
bool Multiply(const Gemm& gemm);  // false: there was no memory

// What matmul/product.h says. False: not here. What it packs it allocates.
bool AddProduct(const Product<float>& product);

// oneDNN takes the number of threads from its caller when a primitive is made: one, on every thread. Does not load the library.
void UseOneThread();
bool StaysOnOneThread();  // false where it was built for threads that are not OpenMP's. Loads the library

bool Available();           // loads the library
std::string Description();  // its version, build and the instructions that it uses, or that there is none; loads the library
// Whether this machine sums products of u8 and s8 into 32 bits (VNNI, AMX). What AVX2 and AVX-512 have without it saturates at 16 bits on
// the way, so that oneDNN's results would be others.   Loads the library.
bool MultipliesBytes();
bool MultipliesBf16();  // the same for products of bf16, which are summed in f32
// The same format with the elements stored in another type, of one byte, f32 or bf16; null where it is row-major, padded or of another
// library.
FormatRef FormatFor(const TensorInfo& tensor, uint8_t dtype);
// As which a tensor of f32 is stored, its elements of f32 or bf16. Row-major of f32 is null.
FormatRef RowMajor(const std::vector<int64_t>& dim, uint8_t dtype);
FormatRef ChannelsLast(const std::vector<int64_t>& dim, uint8_t dtype);
void LoadAhead();
void FreeUnheld();

}  // namespace wf::kernels::onednn
