#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace wf::base {

// XXH64 as its specification has it (Collet, xxHash fast digest algorithm, version 0.1.1), over bytes that come in portions.
// Thread: one at a time.   Cost: a stripe some 2 ns, no allocation.
class Xxh64 {
 public:
  static constexpr size_t kStripeBytes = 32;

  explicit Xxh64(uint64_t seed) : seed_(seed), lanes_{seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1} {}

  void Add(const uint8_t* at, size_t stripes) noexcept {
    bytes_ += stripes * kStripeBytes;
    uint64_t a = lanes_[0], b = lanes_[1], c = lanes_[2], d = lanes_[3];
    for (; stripes != 0; --stripes, at += kStripeBytes) {
      a = Round(a, Read<uint64_t>(at));
      b = Round(b, Read<uint64_t>(at + 8));
      c = Round(c, Read<uint64_t>(at + 16));
      d = Round(d, Read<uint64_t>(at + 24));
    }
    lanes_[0] = a, lanes_[1] = b, lanes_[2] = c, lanes_[3] = d;
  }
  // Of all stripes and what is left behind them. REQUIRES: that is less than a stripe.
  uint64_t Finish(const uint8_t* at, size_t left) const noexcept {
    const uint8_t* const end = at + left;
    uint64_t hash = (bytes_ == 0 ? seed_ + kPrime5 : Mixed()) + bytes_ + left;
    for (; end - at >= 8; at += 8) hash = std::rotl(hash ^ Round(0, Read<uint64_t>(at)), 27) * kPrime1 + kPrime4;
    for (; end - at >= 4; at += 4) hash = std::rotl(hash ^ (Read<uint32_t>(at) * kPrime1), 23) * kPrime2 + kPrime3;
    for (; at < end; ++at) hash = std::rotl(hash ^ (*at * kPrime5), 11) * kPrime1;
    hash = (hash ^ hash >> 33) * kPrime2;
    hash = (hash ^ hash >> 29) * kPrime3;
    return hash ^ hash >> 32;
  }

  static uint64_t Of(const void* data, size_t bytes, uint64_t seed) noexcept {
    const auto* const at = static_cast<const uint8_t*>(data);
    Xxh64 hash(seed);
    hash.Add(at, bytes / kStripeBytes);
    return hash.Finish(at + bytes / kStripeBytes * kStripeBytes, bytes % kStripeBytes);
  }

 private:
  static constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F, kPrime3 = 0x165667B19E3779F9,
                            kPrime4 = 0x85EBCA77C2B2AE63, kPrime5 = 0x27D4EB2F165667C5;

  template <typename T>
  static uint64_t Read(const uint8_t* at) noexcept {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  static uint64_t Round(uint64_t lane, uint64_t input) noexcept { return std::rotl(lane + input * kPrime2, 31) * kPrime1; }
  uint64_t Mixed() const noexcept {
    uint64_t hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    for (const uint64_t lane : lanes_) hash = (hash ^ Round(0, lane)) * kPrime1 + kPrime4;
    return hash;
  }

  const uint64_t seed_;
  uint64_t lanes_[4];
  uint64_t bytes_ = 0;  // of stripes
};

}  // namespace wf::base
