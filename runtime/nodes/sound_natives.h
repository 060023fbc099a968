// Prototypes of the native bodies for sound, of which nodes.h says what holds for all.
#pragma once

#include "runtime/abi/values.h"

#ifdef __cplusplus
extern "C" {
#endif

// (samples: f32[channels, n], rate: i64)
typedef struct wf_sound {
  wf_tensor samples;
  int64_t rate;
} wf_sound;

// Of all channels: 256 MiB of result.
enum { WF_MAX_SOUND_SAMPLES = 64 * 1024 * 1024, WF_MAX_SOUND_CHANNELS = 64, WF_MAX_WINDOW = 64 * 1024 };

// A WAV (PCM of 8 to 32 bits, floats of 32 and 64) or FLAC file -> its samples, whole numbers as shares of the loudest, and how many there
// are a second. Errors: 7000 neither, damaged, truncated, of another kind or of more channels; 3012 of more samples.   Cost: O(samples), of
// a FLAC file whose head does not say how many there are twice; the decoder's own buffers are freed before return.
wf_code wf_n_decode_sound(wf_ctx*, const wf_bytes* file, wf_sound* sound) WF_NOEXCEPT;

// How many samples decoding such a file costs, where these may be more than its bytes: 0 of a WAV file, and where it ends at once.
// Cost: O(1).
uint64_t wf_samples(wf_bytes file) WF_NOEXCEPT;

// x: f32[n], cut into as many frames as there are whole ones, of the length of window: f64[m] and `hop` after each other -> of each, times
// the window, the squares of the magnitudes of its discrete Fourier transform: f32[m / 2 + 1, frames].
// Errors: 7000 when hop is below 1, when m is outside 1..WF_MAX_WINDOW or has a prime factor above 127.
// Cost: O(frames * m * sum of m's prime factors); at most 112 bytes for each of m besides the result, and 32 of KissFFT's own that are
// freed before return.
wf_code wf_n_spectra(wf_ctx*, const wf_tensor* x, const wf_tensor* window, const int64_t* hop, wf_tensor* power) WF_NOEXCEPT;

#ifdef __cplusplus
}
#endif
