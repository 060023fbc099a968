#pragma once

#include <cstdint>
#include <span>

#include "runtime/abi/values.h"

namespace wf::nodes {

enum class SortVectors : uint8_t { kNone, kAvx2, kAvx512 };
SortVectors VectorsToSort();  // the widest that the CPU has

// Puts keys in ascending order by such vectors as the CPU has; `spare` has as many places. False when the job is stopped, and for keys that
// lie such that it would take long; then `keys` holds anything.
bool SortKeys(const wf_ctx* ctx, std::span<int32_t> keys, int32_t* spare, SortVectors by);
bool SortKeys(const wf_ctx* ctx, std::span<int64_t> keys, int64_t* spare, SortVectors by);

}  // namespace wf::nodes
