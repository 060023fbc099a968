#pragma once

#include <cstdint>
#include <span>

#include "runtime/abi/values.h"

namespace wf::nodes {

bool HasVectorsToSort();

// Puts keys in ascending order where there are such vectors; `spare` has as many places. False when the job is stopped, and for keys that
// lie such that it would take long; then `keys` holds anything.
bool SortKeys(const wf_ctx* ctx, std::span<uint32_t> keys, uint32_t* spare);
bool SortKeys(const wf_ctx* ctx, std::span<uint64_t> keys, uint64_t* spare);

}  // namespace wf::nodes
