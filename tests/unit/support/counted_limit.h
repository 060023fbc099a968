#pragma once

#include "runtime/base/memory_limit.h"

namespace wf::test {

struct CountedLimit final : base::MemoryLimit {
  explicit CountedLimit(int64_t bytes) : limit(bytes) {}
  bool Claim(int64_t bytes) noexcept override {
    if (used + bytes > limit) return false;
    used += bytes;
    return true;
  }
  void Unclaim(int64_t bytes) noexcept override { used -= bytes; }

  int64_t limit, used = 0;
};

}  // namespace wf::test
