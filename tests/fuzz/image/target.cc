#include <cstdlib>

#include "runtime/nodes/nodes.h"
#include "tests/fuzz/native_job.h"

int OneInput(const uint8_t* data, size_t size) {
  const wf_optional_i64 no_least{}, least{static_cast<int64_t>(size % 300), 1};
  for (const auto decode : {wf_n_decode_gray, wf_n_decode}) {
    NativeJob job(1 << 20);
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
  }
  return 0;
}
