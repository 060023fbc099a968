#pragma once

#include <cstdlib>
#include <vector>

#include "runtime/abi/plan.h"
#include "runtime/abi/values.h"

// What stands behind a wf_ctx of a native that is called alone. Defines what natives call: of one source in a program.
struct NativeJob {
  explicit NativeJob(uint64_t bytes) : ctx{&stop}, left(bytes) {}
  ~NativeJob() {
    for (void* block : blocks) std::free(block);
  }
  NativeJob(const NativeJob&) = delete;
  NativeJob& operator=(const NativeJob&) = delete;

  wf_ctx ctx;  // first: wf_alloc is given its address
  const uint32_t stop = 0;
  uint64_t left;
  std::vector<void*> blocks;
};

extern "C" void* wf_alloc(wf_ctx* ctx, uint64_t bytes, uint64_t align) noexcept {
  auto* job = reinterpret_cast<NativeJob*>(ctx);
  if (bytes > job->left) return nullptr;
  job->left -= bytes;
  return job->blocks.emplace_back(std::aligned_alloc(align, bytes));
}

extern "C" int32_t wf_claim(wf_ctx* ctx, uint64_t bytes) noexcept {
  auto* job = reinterpret_cast<NativeJob*>(ctx);
  if (bytes > job->left) return 0;
  job->left -= bytes;
  return 1;
}

extern "C" void wf_unclaim(wf_ctx* ctx, uint64_t bytes) noexcept { reinterpret_cast<NativeJob*>(ctx)->left += bytes; }

extern "C" wf_code wf_fail(wf_ctx*, wf_code, uint32_t, wf_bytes) noexcept { return WF_FAILED; }
