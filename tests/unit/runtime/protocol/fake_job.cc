#include "tests/unit/runtime/protocol/fake_job.h"

#include <cstring>

using wf::fake::Job;

extern "C" void* wf_alloc(wf_ctx* ctx, uint64_t bytes, uint64_t align) noexcept {
  Job& job = *reinterpret_cast<Job*>(ctx);
  if (bytes > job.left_bytes) {
    wf_fail(ctx, 3012, 0, wf::fake::Bytes("the request's memory is spent"));
    return nullptr;
  }
  job.left_bytes -= bytes;
  job.blocks.push_back(std::make_unique<uint8_t[]>(bytes + align));
  const auto at = reinterpret_cast<uintptr_t>(job.blocks.back().get());
  return reinterpret_cast<void*>((at + align - 1) & ~(align - 1));
}

extern "C" void* wf_grow(wf_ctx* ctx, const void* block, uint64_t used, uint64_t bytes) noexcept {
  void* const copy = wf_alloc(ctx, bytes + 64, 1);
  return copy == nullptr ? nullptr : std::memcpy(copy, block, used);
}

extern "C" wf_code wf_fail(wf_ctx* ctx, wf_code code, uint32_t, wf_bytes text) noexcept {
  Job& job = *reinterpret_cast<Job*>(ctx);
  if (job.code == 0) {
    job.code = code;
    job.message = wf::fake::View(text);
  }
  return WF_FAILED;
}
