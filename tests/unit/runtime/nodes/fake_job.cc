#include "tests/unit/runtime/nodes/fake_job.h"

#include <cstdlib>
#include <cstring>

#include "runtime/abi/plan.h"

using wf::nodes::FakeJob;

namespace {

bool Spend(FakeJob* job, uint64_t bytes) {
  if (bytes > job->budget) return wf_fail(&job->ctx, 3012, 0, wf::nodes::View("the request's memory is spent")) == 0;
  job->budget -= bytes;
  return true;
}

}  // namespace

extern "C" int32_t wf_claim(wf_ctx* ctx, uint64_t bytes) noexcept {
  auto* job = reinterpret_cast<FakeJob*>(ctx);
  if (!Spend(job, bytes)) return 0;
  job->claimed += bytes;
  return 1;
}

extern "C" void wf_unclaim(wf_ctx* ctx, uint64_t bytes) noexcept {
  auto* job = reinterpret_cast<FakeJob*>(ctx);
  job->budget += bytes;
  job->claimed -= bytes;
}

extern "C" void* wf_alloc(wf_ctx* ctx, uint64_t bytes, uint64_t align) noexcept {
  auto* job = reinterpret_cast<FakeJob*>(ctx);
  if (!Spend(job, bytes)) return nullptr;
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
