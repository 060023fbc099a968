#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/kernels/operation.h"

namespace wf::kernels::avx512 {

inline constexpr std::string_view kWinograd = "winograd";  // its way, where it is not taken by itself

// Convolutions of 3 x 3 in bf16 by Winograd's sums for squares of 2 x 2 results, which multiply 2.25 times less. Sums of up to four
// numbers are rounded to bf16 before they are multiplied: about twice the error of a plain convolution in bf16. Where an element of the
// input is not finite, or huge, the plain one runs, since the sums mix neighbours. The filters take 32 bytes for each 3 x 3, beside the
// plain ones.
// Null: another case, or one that is not asked for: it takes by itself what is large enough to gain, else by `way`.
base::Result<std::unique_ptr<Kernel>> MakeConv(const Operation& operation);
std::vector<std::string> ConvWays(const Operation& operation);

}  // namespace wf::kernels::avx512
