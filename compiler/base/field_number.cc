#include "compiler/base/field_number.h"

namespace wf::source {

uint32_t FieldNumber(std::string_view name) {
  constexpr uint32_t kReserved = kReservedNumbersEnd - kReservedNumber;
  uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 16777619u;
  const uint32_t number = kFirstFieldNumber + hash % (kFieldNumbersEnd - kFirstFieldNumber - kReserved);
  return number < kReservedNumber ? number : number + kReserved;
}

uint32_t FieldNumberAfter(uint32_t number) {
  if (number + 1 == kReservedNumber) return kReservedNumbersEnd;
  return number + 1 == kFieldNumbersEnd ? kFirstFieldNumber : number + 1;
}

}  // namespace wf::source
