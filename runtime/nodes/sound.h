// What the decoders of sound share.
#pragma once

#include <string_view>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/file_numbers.h"
#include "runtime/nodes/nodes.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {

enum class SoundKind { kNone, kWav, kFlac };

// What a file is behind the tag (ID3v2) that programs for MP3 put before other sounds, too.
std::string_view WithoutTag(std::string_view file);

// What that begins as.
inline SoundKind KindOfSound(std::string_view file) {
  if (file.starts_with("fLaC")) return SoundKind::kFlac;
  if (file.starts_with("RIFF") && file.size() >= 12 && file.substr(8, 4) == "WAVE") return SoundKind::kWav;
  return SoundKind::kNone;
}

// What a file says that it holds: so many samples of each channel.
struct Extent {
  uint64_t channels, count;
  uint64_t samples() const { return channels * count; }  // of counts below 2^40
};

inline wf_code FailTooLong(wf_ctx* ctx, Extent extent) {
  return Fail(ctx, code::kMemoryCap, "the sound has %llu samples of %llu channels; at most %d are decoded, of all channels",
              static_cast<unsigned long long>(extent.count), static_cast<unsigned long long>(extent.channels), WF_MAX_SOUND_SAMPLES);
}

inline bool AllocateSound(wf_ctx* ctx, Extent extent, wf_tensor* samples) {
  const int64_t dims[] = {static_cast<int64_t>(extent.channels), static_cast<int64_t>(extent.count)};
  return AllocateTensor(ctx, WF_F32, dims, samples);
}

// Each for a file that begins as one of its format.
wf_code DecodeWav(wf_ctx* ctx, std::string_view file, wf_sound* sound);
wf_code DecodeFlac(wf_ctx* ctx, std::string_view file, wf_sound* sound);

}  // namespace wf::nodes
