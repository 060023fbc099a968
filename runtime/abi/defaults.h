#pragma once

#include <algorithm>
#include <cstdint>

// What holds where neither a program nor a server's configuration says anything (docs/semantics.md 12). A plan has 0 for what is not
// written, so that the configuration still has its say; the compiler prints these, the runtime applies them.
namespace wf::abi {

// A quantity, and the same as people write it.
struct Default {
  int64_t value;
  const char* text;
};
inline constexpr Default kTimeoutNs = {30'000'000'000, "30s"};       // of a request
inline constexpr Default kTimeoutCapNs = {300'000'000'000, "300s"};  // that a program or a client may ask for
inline constexpr Default kBodyBytes = {64 << 20, "64MiB"};
inline constexpr Default kInflight = {256, "256"};  // requests of a service
inline constexpr uint32_t kMostRows = 1024;         // samples of a call; a service may take fewer

// What a parameter or a result of a workflow may hold in one another: lists, maps, records and axes, as arrays and objects of its JSON.
inline constexpr uint32_t kValueLevels = 28;

inline constexpr uint32_t kAutoBatchRows = 32;  // most rows of `batch auto`
constexpr uint32_t BatchRows(uint32_t batch_max, bool batched) { return !batched ? 1 : batch_max == 0 ? kAutoBatchRows : batch_max; }
inline constexpr uint32_t kLeastQueueRows = 64;
// Rows that may wait; 0 is written where nothing is.
constexpr uint32_t QueueRows(uint32_t written, uint32_t batch_rows) {
  return written != 0 ? written : std::max(8 * batch_rows, kLeastQueueRows);
}

}  // namespace wf::abi
