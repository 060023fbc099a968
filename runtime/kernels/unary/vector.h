#pragma once

#include <cstdint>
#include <memory>

#include "runtime/base/status.h"

// Functions of f32 by eight elements at a time, for CPUs with AVX2 and FMA. What an element gives does not depend on its place.
namespace wf::kernels {
struct Operation;
class Kernel;
}  // namespace wf::kernels

namespace wf::kernels::avx2 {

base::Result<std::unique_ptr<Kernel>> MakeUnary(const Operation&);

bool Available();
void Sigmoid(const float* in, float* out, int64_t count);             // REQUIRES: Available(). out may be in
void Swish(float alpha, const float* in, float* out, int64_t count);  // x sigmoid(alpha x). The same
void Softplus(const float* in, float* out, int64_t count);            // The same
void Mish(const float* in, float* out, int64_t count);                // The same
void Tanh(const float* in, float* out, int64_t count);                // The same

}  // namespace wf::kernels::avx2
