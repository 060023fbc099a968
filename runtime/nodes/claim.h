#pragma once

#include <cstdint>

#include "runtime/abi/plan.h"
#include "runtime/abi/values.h"

namespace wf::nodes {

// What a library takes by itself counts as the job's memory while this lives: outlives what frees it.
// Thread: confined to the call.   Errors: false when the budget is spent (recorded).
class Claim {
 public:
  explicit Claim(wf_ctx* ctx) : ctx_(ctx) {}
  ~Claim() { GiveBack(); }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  bool Take(uint64_t bytes) {
    if (bytes != 0 && wf_claim(ctx_, bytes) == 0) return false;
    bytes_ += bytes;
    return true;
  }
  uint64_t bytes() const { return bytes_; }
  void GiveBack() {
    if (bytes_ != 0) wf_unclaim(ctx_, bytes_);
    bytes_ = 0;
  }

 private:
  wf_ctx* ctx_;
  uint64_t bytes_ = 0;
};

}  // namespace wf::nodes
