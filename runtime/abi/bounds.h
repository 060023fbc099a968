#pragma once

#include <cstdint>

// The most that a program may say of a node, and a server's configuration in its place.
namespace wf::abi {

inline constexpr int64_t kMostBatchRows = 65'536, kMostQueuedRows = 1'048'576, kMostInstances = 64;
inline constexpr int64_t kMostWithinNs = 10'000'000'000, kMostNodeTimeoutNs = 3'600'000'000'000;
inline constexpr int64_t kMostElements = 65'536;  // of a fan-out

}  // namespace wf::abi
