#include <FLAC/stream_decoder.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/nodes/sound.h"

namespace wf::nodes {
namespace {

// A block of 65,535 equal samples takes 11 bytes: a head that claims more has no blocks to go with it. Refused before memory is taken for
// it.
constexpr uint64_t kMostSamplesPerByte = 8192;  // of each channel

// One way through a file. Its head, then its blocks: these are written to planes of samples, or, without any, only counted.
class FlacDecoder {
 public:
  FlacDecoder(wf_ctx* ctx, std::string_view file) : ctx_(ctx), rest_(file), decoder_(FLAC__stream_decoder_new()) {}
  ~FlacDecoder() {
    if (decoder_ != nullptr) FLAC__stream_decoder_delete(decoder_);
  }
  FlacDecoder(const FlacDecoder&) = delete;
  FlacDecoder& operator=(const FlacDecoder&) = delete;

  wf_code ReadHead();
  // `most` samples of each channel, and nothing behind them; a block that goes beyond is refused.
  wf_code ReadBlocks(uint64_t most, float* to);

  const FLAC__StreamMetadata_StreamInfo& head() const { return head_; }
  uint64_t count() const { return count_; }  // of samples of each channel that have been read

 private:
  static FlacDecoder& Of(void* data) { return *static_cast<FlacDecoder*>(data); }
  static FLAC__StreamDecoderReadStatus Read(const FLAC__StreamDecoder*, FLAC__byte* to, size_t* bytes, void* data);
  static FLAC__StreamDecoderWriteStatus Write(const FLAC__StreamDecoder*, const FLAC__Frame* block, const FLAC__int32* const* channels,
                                              void* data);
  static void KeepHead(const FLAC__StreamDecoder*, const FLAC__StreamMetadata* metadata, void* data);
  static void KeepError(const FLAC__StreamDecoder*, FLAC__StreamDecoderErrorStatus status, void* data);
  wf_code Fail() const;

  wf_ctx* ctx_;
  std::string_view rest_;
  FLAC__StreamDecoder* decoder_;
  bool has_head_ = false;
  FLAC__StreamMetadata_StreamInfo head_{};
  const char* problem_ = nullptr;
  uint64_t count_ = 0, most_ = 0;
  float* to_ = nullptr;
};

FLAC__StreamDecoderReadStatus FlacDecoder::Read(const FLAC__StreamDecoder*, FLAC__byte* to, size_t* bytes, void* data) {
  FlacDecoder& decoder = Of(data);
  if (decoder.problem_ != nullptr || Stopped(decoder.ctx_)) return FLAC__STREAM_DECODER_READ_STATUS_ABORT;
  *bytes = std::min(*bytes, decoder.rest_.size());
  std::memcpy(to, decoder.rest_.data(), *bytes);
  decoder.rest_.remove_prefix(*bytes);
  return *bytes == 0 ? FLAC__STREAM_DECODER_READ_STATUS_END_OF_STREAM : FLAC__STREAM_DECODER_READ_STATUS_CONTINUE;
}

FLAC__StreamDecoderWriteStatus FlacDecoder::Write(const FLAC__StreamDecoder*, const FLAC__Frame* block, const FLAC__int32* const* channels,
                                                  void* data) {
  FlacDecoder& decoder = Of(data);
  const FLAC__StreamMetadata_StreamInfo& head = decoder.head_;
  const uint64_t count = block->header.blocksize;
  if (block->header.channels != head.channels || block->header.bits_per_sample != head.bits_per_sample)
    decoder.problem_ = "blocks of different kinds";
  else if (count > decoder.most_ - decoder.count_)
    decoder.problem_ = "more samples than it says, or than are decoded";
  if (decoder.problem_ != nullptr || Stopped(decoder.ctx_)) return FLAC__STREAM_DECODER_WRITE_STATUS_ABORT;
  if (decoder.to_ != nullptr) {
    const float unit = std::ldexp(1.0F, 1 - static_cast<int>(head.bits_per_sample));
    for (uint64_t channel = 0; channel < head.channels; ++channel) {
      float* const samples = decoder.to_ + channel * decoder.most_ + decoder.count_;
      for (uint64_t i = 0; i < count; ++i) samples[i] = static_cast<float>(channels[channel][i]) * unit;
    }
  }
  decoder.count_ += count;
  return FLAC__STREAM_DECODER_WRITE_STATUS_CONTINUE;
}

void FlacDecoder::KeepHead(const FLAC__StreamDecoder*, const FLAC__StreamMetadata* metadata, void* data) {
  FlacDecoder& decoder = Of(data);
  if (metadata->type != FLAC__METADATA_TYPE_STREAMINFO || decoder.has_head_) return;
  decoder.head_ = metadata->data.stream_info;
  decoder.has_head_ = true;
}

void FlacDecoder::KeepError(const FLAC__StreamDecoder*, FLAC__StreamDecoderErrorStatus status, void* data) {
  if (Of(data).problem_ == nullptr)
    Of(data).problem_ = status == FLAC__STREAM_DECODER_ERROR_STATUS_FRAME_CRC_MISMATCH ? "a checksum" : "no block where one has to be";
}

wf_code FlacDecoder::Fail() const {
  if (Stopped(ctx_)) return WF_FAILED;
  return nodes::Fail(ctx_, code::kType, "the FLAC file is damaged: %s", problem_ != nullptr ? problem_ : "truncated");
}

wf_code FlacDecoder::ReadHead() {
  if (decoder_ == nullptr || FLAC__stream_decoder_init_stream(decoder_, Read, nullptr, nullptr, nullptr, nullptr, Write, KeepHead,
                                                              KeepError, this) != FLAC__STREAM_DECODER_INIT_STATUS_OK) {
    return nodes::Fail(ctx_, code::kMemoryCap, "no memory for a decoder");
  }
  if (FLAC__stream_decoder_process_until_end_of_metadata(decoder_) == 0 || problem_ != nullptr || !has_head_) return Fail();
  if (head_.sample_rate == 0 || head_.channels == 0)
    return nodes::Fail(ctx_, code::kType, "the FLAC file is damaged: no channels, or no rate");
  return 0;
}

wf_code FlacDecoder::ReadBlocks(uint64_t most, float* to) {
  most_ = most;
  to_ = to;
  const bool is_counting = to == nullptr;
  while ((is_counting || count_ < most_) && FLAC__stream_decoder_get_state(decoder_) != FLAC__STREAM_DECODER_END_OF_STREAM) {
    if (FLAC__stream_decoder_process_single(decoder_) == 0 || problem_ != nullptr) return Fail();
  }
  return 0;
}

// How many samples there are where the head does not say it.
wf_code Count(wf_ctx* ctx, std::string_view file, Extent* extent) {
  FlacDecoder counting(ctx, file);
  if (const wf_code code = counting.ReadHead(); code != 0) return code;
  if (const wf_code code = counting.ReadBlocks(WF_MAX_SOUND_SAMPLES / extent->channels, nullptr); code != 0) return code;
  extent->count = counting.count();
  return 0;
}

}  // namespace

wf_code DecodeFlac(wf_ctx* ctx, std::string_view file, wf_sound* sound) {
  FlacDecoder decoder(ctx, file);
  if (const wf_code code = decoder.ReadHead(); code != 0) return code;
  Extent extent{decoder.head().channels, decoder.head().total_samples};
  if (extent.count == 0) {
    if (const wf_code code = Count(ctx, file, &extent); code != 0) return code;
  }
  if (extent.samples() > WF_MAX_SOUND_SAMPLES) return FailTooLong(ctx, extent);
  if (extent.count / kMostSamplesPerByte > file.size()) return Fail(ctx, code::kType, "the FLAC file is damaged: truncated");
  if (!AllocateSound(ctx, extent, &sound->samples)) return WF_FAILED;
  sound->rate = decoder.head().sample_rate;
  if (const wf_code code = decoder.ReadBlocks(extent.count, static_cast<float*>(sound->samples.data)); code != 0) return code;
  return decoder.count() == extent.count ? 0 : Fail(ctx, code::kType, "the FLAC file is damaged: truncated");
}

}  // namespace wf::nodes
