#pragma once

#include <cstdint>

namespace wf::abi {

// The most that a program may say of a node, and a server's configuration in its place.
inline constexpr int64_t kMostBatchRows = 65'536, kMostQueuedRows = 1'048'576, kMostInstances = 64, kMostRunThreads = 256;
inline constexpr int64_t kMostWithinNs = 10'000'000'000, kMostNodeTimeoutNs = 3'600'000'000'000;
inline constexpr int64_t kMostElements = 65'536;  // of a fan-out

// The most that a request may have in memory of its own, whatever the settings are: a model's output is there, and so is an input, unless
// it lies in the body.
inline constexpr int64_t kMostRequestBytes = int64_t{256} << 20;

}  // namespace wf::abi
