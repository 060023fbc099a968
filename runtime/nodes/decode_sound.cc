#include "runtime/nodes/sound.h"

#include <algorithm>

namespace wf::nodes {
namespace {

// Where STREAMINFO, the first block of a FLAC file, has the number of channels less one, in 3 bits, and how many samples of each there
// are, in 36; 0 where whoever wrote it did not know.
constexpr uint64_t kFlacBlockAt = 4, kFlacChannelsAt = 20, kFlacCountAt = 21;
constexpr uint64_t kFlacHead = 26;

// A tag's head: "ID3", a version in 2 bytes, flags, and in 4 bytes of 7 bits each how long the rest is.
constexpr uint64_t kTagHead = 10, kTagFlagsAt = 5, kTagLengthAt = 6;
constexpr uint32_t kHasFoot = 16;  // as long as the head, and not counted

uint64_t SamplesOfFlac(std::string_view file) {
  const Numbers numbers(file, true);
  if (file.size() < kFlacHead) return 0;
  const bool begins_with_it = (numbers.At(kFlacBlockAt, 1) & 0x7f) == 0;
  const Extent extent{(numbers.At(kFlacChannelsAt, 1) >> 1 & 7) + 1,
                      uint64_t{numbers.At(kFlacCountAt, 1) & 15} << 32 | numbers.At(kFlacCountAt + 1, 4)};
  if (!begins_with_it || extent.count == 0) return WF_MAX_SOUND_SAMPLES;
  return extent.samples() <= WF_MAX_SOUND_SAMPLES ? extent.samples() : 0;
}

}  // namespace

std::string_view WithoutTag(std::string_view file) {
  if (!file.starts_with("ID3")) return file;
  const Numbers numbers(file, true);
  uint64_t length = kTagHead + ((numbers.At(kTagFlagsAt, 1) & kHasFoot) != 0 ? kTagHead : 0);
  for (uint64_t i = 0; i < 4; ++i) length += uint64_t{numbers.At(kTagLengthAt + i, 1) & 0x7f} << 7 * (3 - i);
  return file.substr(std::min<uint64_t>(length, file.size()));
}

}  // namespace wf::nodes

extern "C" wf_code wf_n_decode_sound(wf_ctx* ctx, const wf_bytes* file, wf_sound* sound) noexcept {
  using namespace wf::nodes;
  const std::string_view bytes = WithoutTag(ViewOf(*file));
  switch (KindOfSound(bytes)) {
    case SoundKind::kWav:
      return DecodeWav(ctx, bytes, sound);
    case SoundKind::kFlac:
      return DecodeFlac(ctx, bytes, sound);
    case SoundKind::kNone:
      break;
  }
  return Fail(ctx, wf::code::kType, "not a WAV or FLAC file");
}

extern "C" uint64_t wf_samples(wf_bytes file) noexcept {
  using namespace wf::nodes;
  const std::string_view bytes = WithoutTag(ViewOf(file));
  return KindOfSound(bytes) == SoundKind::kFlac ? SamplesOfFlac(bytes) : 0;
}
