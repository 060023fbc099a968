#include <cstdlib>
#include <vector>

#include "runtime/nodes/nodes.h"

namespace {

struct Job {
  wf_ctx ctx;
  uint64_t left;
  std::vector<void*> blocks;
};

}  // namespace

extern "C" void* wf_alloc(wf_ctx* ctx, uint64_t bytes, uint64_t align) noexcept {
  auto* job = reinterpret_cast<Job*>(ctx);
  if (bytes > job->left) return nullptr;
  job->left -= bytes;
  return job->blocks.emplace_back(std::aligned_alloc(align, bytes));
}

extern "C" wf_code wf_fail(wf_ctx*, wf_code, uint32_t, wf_bytes) noexcept { return WF_FAILED; }

int OneInput(const uint8_t* data, size_t size) {
  const wf_optional_i64 no_least{}, least{static_cast<int64_t>(size % 300), 1};
  for (const auto decode : {wf_n_decode_gray, wf_n_decode}) {
    const uint32_t stop = 0;
    Job job{{&stop}, 1 << 20, {}};
    const wf_bytes file{data, size};
    wf_tensor px;
    if (decode(&job.ctx, &file, decode == wf_n_decode ? &least : &no_least, &no_least, &px) == 0) {
      // What is called decoded is there in full.
      const auto* pixels = static_cast<const uint8_t*>(px.data);
      volatile uint8_t last = pixels[px.dim[0] * px.stride[0] - 1];
      (void)last;
      const auto found = static_cast<uint64_t>(px.dim[0] * px.dim[1]);
      if (decode == wf_n_decode_gray && wf_pixels(file) < found) std::abort();  // it was to cost less
    }
    for (void* block : job.blocks) std::free(block);
  }
  return 0;
}
