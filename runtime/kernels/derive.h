#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/kernels/kernel.h"

// Constants that are made of others: the same elements widened, in another order, repeated.
namespace wf::kernels {

using Derivation = std::function<void(const uint8_t* from, uint8_t* to)>;

// A constant of `bytes`, which `derive` makes whenever it is loaded. It lives with the one that it is made of, under the key, so that what
// is packed from it is found again.   REQUIRES: of.constant.   Thread: as Constant.
std::shared_ptr<const Constant> Derived(const TensorInfo& of, const std::string& key, int64_t bytes, Derivation derive);

}  // namespace wf::kernels
