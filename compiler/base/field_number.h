#pragma once

#include <cstdint>
#include <string_view>

namespace wf::source {

// Those that Protocol Buffers admits, as far as they take three bytes on the wire at most.
constexpr uint32_t kFirstFieldNumber = 16, kFieldNumbersEnd = 1 << 18, kReservedNumber = 19'000, kReservedNumbersEnd = 20'000;

// The number of a field in what `wfc export --format=proto` writes. It follows from the name alone.
uint32_t FieldNumber(std::string_view name);

// The one to try where that is taken.
uint32_t FieldNumberAfter(uint32_t number);

}  // namespace wf::source
