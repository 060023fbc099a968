#include <bit>
#include <cstring>

#include "runtime/nodes/nodes.h"
#include "runtime/nodes/stop.h"

// XXH64 as its specification has it (Collet, xxHash fast digest algorithm, version 0.1.1).
namespace wf::nodes {
namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F, kPrime3 = 0x165667B19E3779F9, kPrime4 = 0x85EBCA77C2B2AE63,
                   kPrime5 = 0x27D4EB2F165667C5;
constexpr uint64_t kStripeBytes = 32;

template <typename T>
uint64_t Read(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

uint64_t Round(uint64_t lane, uint64_t input) { return std::rotl(lane + input * kPrime2, 31) * kPrime1; }

uint64_t Merge(uint64_t hash, uint64_t lane) { return (hash ^ Round(0, lane)) * kPrime1 + kPrime4; }

// What is left behind the last whole stripe, and the last mixing.
uint64_t Finish(uint64_t hash, const uint8_t* at, const uint8_t* end) {
  for (; end - at >= 8; at += 8) hash = std::rotl(hash ^ Round(0, Read<uint64_t>(at)), 27) * kPrime1 + kPrime4;
  for (; end - at >= 4; at += 4) hash = std::rotl(hash ^ (Read<uint32_t>(at) * kPrime1), 23) * kPrime2 + kPrime3;
  for (; at < end; ++at) hash = std::rotl(hash ^ (*at * kPrime5), 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

}  // namespace
}  // namespace wf::nodes

extern "C" wf_code wf_n_xxh64(wf_ctx* ctx, const wf_bytes* data, const uint64_t* seed, uint64_t* hash) noexcept {
  using namespace wf::nodes;
  const uint8_t* at = data->ptr;
  const uint8_t* const end = data->ptr + data->len;
  if (data->len < kStripeBytes) {
    *hash = Finish(*seed + kPrime5 + data->len, at, end);
    return 0;
  }
  uint64_t a = *seed + kPrime1 + kPrime2, b = *seed + kPrime2, c = *seed, d = *seed - kPrime1;
  for (uint64_t stripe = 0; stripe < data->len / kStripeBytes; ++stripe, at += kStripeBytes) {
    if (stripe % kElementsPerStopCheck == 0 && Stopped(ctx)) return WF_FAILED;
    a = Round(a, Read<uint64_t>(at));
    b = Round(b, Read<uint64_t>(at + 8));
    c = Round(c, Read<uint64_t>(at + 16));
    d = Round(d, Read<uint64_t>(at + 24));
  }
  uint64_t mixed = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
  mixed = Merge(Merge(Merge(Merge(mixed, a), b), c), d);
  *hash = Finish(mixed + data->len, at, end);
  return 0;
}
