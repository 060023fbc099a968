// WAV, read by hand: PCM of 8, 16, 24 and 32 bits and floats of 32 and 64, with WAVE_FORMAT_EXTENSIBLE or without.

#include <cstring>

#include "runtime/nodes/sound.h"

namespace wf::nodes {
namespace {

constexpr uint64_t kFileHead = 12, kChunkHead = 8, kFormat = 16, kExtensibleFormat = 40;
constexpr uint32_t kPcm = 1, kFloat = 3, kExtensible = 0xfffe;
// Of a GUID what stands behind the kind of samples, where it is one of those above.
constexpr std::string_view kKnownGuid("\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71", 14);
constexpr uint32_t kUntilTheEnd = 0x7ffff000;  // such lengths, and longer ones, write programs that do not know it yet
constexpr int64_t kChunksPerStopCheck = 4096;

struct Wav {
  uint64_t frame_bytes() const { return channels * sample_bytes; }  // of a sample of each channel
  Extent extent() const { return {channels, data.size() / frame_bytes()}; }

  uint32_t kind;
  uint64_t channels, sample_bytes;
  int64_t rate;
  std::string_view data;
};

class WavReader {
 public:
  WavReader(wf_ctx* ctx, std::string_view file) : ctx_(ctx), file_(file), numbers_(file, false) {}

  wf_code ReadHead(Wav* wav);  // and finds the samples
  wf_code ReadSamples(const Wav& wav, float* to);

 private:
  wf_code Damaged(const char* what) { return Fail(ctx_, code::kType, "the WAV file is damaged: %s", what); }
  wf_code ReadFormat(uint64_t at, uint64_t length, Wav* wav);
  wf_code FindSamples(uint64_t at, uint64_t length, Wav* wav);
  template <typename Convert>
  wf_code ReadEach(const Wav& wav, float* to, const Convert& convert);

  wf_ctx* ctx_;
  std::string_view file_;
  Numbers numbers_;
};

wf_code WavReader::ReadHead(Wav* wav) {
  bool has_format = false;
  uint64_t at = kFileHead;
  for (int64_t chunks = 1; at <= file_.size() && file_.size() - at >= kChunkHead; ++chunks) {
    if (chunks % kChunksPerStopCheck == 0 && Stopped(ctx_)) return WF_FAILED;
    const std::string_view kind = file_.substr(at, 4);
    const uint64_t length = numbers_.At(at + 4, 4), begin = at + kChunkHead;
    if (kind == "data") return has_format ? FindSamples(begin, length, wav) : Damaged("samples before their format");
    if (kind == "fmt ") {
      if (const wf_code code = ReadFormat(begin, length, wav); code != 0) return code;
      has_format = true;
    }
    at = begin + length + length % 2;
  }
  return Damaged(has_format ? "no samples" : "no format");
}

wf_code WavReader::ReadFormat(uint64_t at, uint64_t length, Wav* wav) {
  if (length < kFormat || length > file_.size() - at) return Damaged("truncated");
  const uint64_t bits = numbers_.At(at + 14, 2), frame_bytes = numbers_.At(at + 12, 2);
  wav->kind = numbers_.At(at, 2);
  wav->channels = numbers_.At(at + 2, 2);
  wav->rate = numbers_.At(at + 4, 4);
  wav->sample_bytes = (bits + 7) / 8;
  if (wav->sample_bytes == 3 && frame_bytes == 4 * wav->channels) wav->sample_bytes = 4;  // the upper ones, the last is 0
  if (wav->kind == kExtensible) {
    if (length < kExtensibleFormat) return Damaged("truncated");
    wav->kind = file_.substr(at + 26, kKnownGuid.size()) == kKnownGuid ? numbers_.At(at + 24, 2) : kExtensible;
  }
  if (wav->rate == 0 || wav->channels == 0) return Damaged("no channels, or no rate");
  if (wav->channels > WF_MAX_SOUND_CHANNELS)
    return Fail(ctx_, code::kType, "the WAV file has more than %d channels", WF_MAX_SOUND_CHANNELS);
  const bool is_known = (wav->kind == kPcm && bits > 0 && bits <= 32) || (wav->kind == kFloat && (bits == 32 || bits == 64));
  if (!is_known) {
    return Fail(ctx_, code::kType, "the WAV file cannot be decoded: samples of kind %u with %llu bits", wav->kind,
                static_cast<unsigned long long>(bits));
  }
  return frame_bytes == wav->frame_bytes() ? 0 : Damaged("samples of other sizes than it says");
}

wf_code WavReader::FindSamples(uint64_t at, uint64_t length, Wav* wav) {
  const uint64_t left = file_.size() - at;
  if (length >= kUntilTheEnd) length = left / wav->frame_bytes() * wav->frame_bytes();
  if (length > left || length % wav->frame_bytes() != 0) return Damaged("truncated");
  wav->data = file_.substr(at, length);
  return wav->extent().samples() > WF_MAX_SOUND_SAMPLES ? FailTooLong(ctx_, wav->extent()) : 0;
}

template <typename Convert>
wf_code WavReader::ReadEach(const Wav& wav, float* to, const Convert& convert) {
  const auto count = static_cast<int64_t>(wav.extent().count), stride = static_cast<int64_t>(wav.frame_bytes());
  const bool is_read = InSteps(ctx_, count, [&](int64_t first, int64_t last) {
    for (uint64_t channel = 0; channel < wav.channels; ++channel) {
      const char* from = wav.data.data() + first * stride + channel * wav.sample_bytes;
      float* const samples = to + static_cast<int64_t>(channel) * count;
      for (int64_t i = first; i < last; ++i, from += stride) samples[i] = convert(from);
    }
  });
  return is_read ? 0 : WF_FAILED;
}

template <typename T>
T Loaded(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

// Bits that fill no whole byte stand at its upper end, so that what fills the bytes is the loudest for them, too.
wf_code WavReader::ReadSamples(const Wav& wav, float* to) {
  if (wav.kind == kFloat) {
    if (wav.sample_bytes == 4) return ReadEach(wav, to, Loaded<float>);
    return ReadEach(wav, to, [](const char* from) { return static_cast<float>(Loaded<double>(from)); });
  }
  switch (wav.sample_bytes) {
    case 1:
      return ReadEach(wav, to, [](const char* from) { return static_cast<float>(Loaded<uint8_t>(from) - 128) / 128.0F; });
    case 2:
      return ReadEach(wav, to, [](const char* from) { return static_cast<float>(Loaded<int16_t>(from)) / 32768.0F; });
    case 3:
      return ReadEach(wav, to, [](const char* from) {
        const uint32_t upper = uint32_t{Loaded<uint16_t>(from)} << 8 | uint32_t{Loaded<uint8_t>(from + 2)} << 24;
        return static_cast<float>(static_cast<int32_t>(upper)) / 2147483648.0F;
      });
    default:
      return ReadEach(wav, to, [](const char* from) { return static_cast<float>(Loaded<int32_t>(from)) / 2147483648.0F; });
  }
}

}  // namespace

wf_code DecodeWav(wf_ctx* ctx, std::string_view file, wf_sound* sound) {
  WavReader reader(ctx, file);
  Wav wav{};
  if (const wf_code code = reader.ReadHead(&wav); code != 0) return code;
  if (!AllocateSound(ctx, wav.extent(), &sound->samples)) return WF_FAILED;
  sound->rate = wav.rate;
  return reader.ReadSamples(wav, static_cast<float*>(sound->samples.data));
}

}  // namespace wf::nodes
