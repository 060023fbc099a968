#include <algorithm>
#include <cstdlib>
#include <vector>

#include "runtime/nodes/nodes.h"
#include "tests/fuzz/native_job.h"

int OneInput(const uint8_t* data, size_t size) {
  NativeJob job(1 << 20);
  const wf_bytes file{data, size};
  wf_sound sound;
  if (wf_n_decode_sound(&job.ctx, &file, &sound) == 0) {
    const wf_tensor& samples = sound.samples;
    const auto found = static_cast<uint64_t>(samples.dim[0] * samples.dim[1]);
    if (sound.rate < 1 || std::max(wf_samples(file), uint64_t{size}) < found) std::abort();  // it was to cost less
    // What is called decoded is there in full.
    wf_tensor all = samples, window = samples, power;
    all.rank = window.rank = 1;
    all.dim[0] = static_cast<int64_t>(found), all.stride[0] = window.stride[0] = 1;
    std::vector<double> weights(std::min<uint64_t>(size % 130, found), 0.5);
    window.data = weights.data(), window.dtype = WF_F64, window.dim[0] = static_cast<int64_t>(weights.size());
    const int64_t hop = 1 + all.dim[0] / 4;
    (void)wf_n_spectra(&job.ctx, &all, &window, &hop, &power);
  }
  return 0;
}
