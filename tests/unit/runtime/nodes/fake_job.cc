#include "tests/unit/runtime/nodes/fake_job.h"

#include <cstdlib>

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

extern "C" wf_code wf_fail(wf_ctx* ctx, wf_code code, uint32_t, wf_bytes text) noexcept {
  auto* job = reinterpret_cast<FakeJob*>(ctx);
  if (job->code == 0) {
    job->code = code;
    job->message.assign(reinterpret_cast<const char*>(text.ptr), text.len);
  }
  return WF_FAILED;
}
