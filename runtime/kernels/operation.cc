#include "runtime/kernels/operation.h"

namespace wf::kernels {

Params::Params(const Params& other) = default;
Params::Params(Params&& other) noexcept = default;
Params& Params::operator=(const Params& other) = default;
Params& Params::operator=(Params&& other) noexcept = default;
Params::~Params() = default;

}  // namespace wf::kernels
