#include "tests/unit/runtime/nodes/fake_job.h"

#include <cstdlib>
#include <cstring>

#include "runtime/abi/plan.h"

using wf::nodes::FakeJob;

extern "C" void* wf_alloc(wf_ctx* ctx, uint64_t bytes, uint64_t align) noexcept {
  auto* job = reinterpret_cast<FakeJob*>(ctx);
  if (bytes > job->budget) {
    wf_fail(ctx, 3012, 0, wf::nodes::View("the request's memory is spent"));
    return nullptr;
  }
  job->budget -= bytes;
  auto* block = static_cast<uint8_t*>(std::aligned_alloc(align, bytes));
  job->blocks.emplace_back(block, [](uint8_t* memory) { std::free(memory); });
  return block;
}

extern "C" void* wf_grow(wf_ctx* ctx, const void* block, uint64_t used, uint64_t bytes) noexcept {
  void* const copy = wf_alloc(ctx, bytes + 64, 1);
  return copy == nullptr ? nullptr : std::memcpy(copy, block, used);
}

extern "C" wf_code wf_fail(wf_ctx* ctx, wf_code code, uint32_t, wf_bytes text) noexcept {
  auto* job = reinterpret_cast<FakeJob*>(ctx);
  if (job->code == 0) {
    job->code = code;
    job->message.assign(reinterpret_cast<const char*>(text.ptr), text.len);
  }
  return WF_FAILED;
}
