#include <FLAC/stream_encoder.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

using Samples = std::vector<float>;

std::string Little(uint64_t value, int n_bytes) {
  std::string text;
  for (int i = 0; i < n_bytes; ++i) text += static_cast<char>(value >> 8 * i);
  return text;
}
std::string Chunk(const std::string& name, const std::string& content) {
  return name + Little(content.size(), 4) + content + std::string(content.size() % 2, '\0');
}
std::string Riff(const std::string& chunks) { return "RIFF" + Little(4 + chunks.size(), 4) + "WAVE" + chunks; }

struct WavWay {
  uint64_t kind, bits, channels, rate = 8000;
};
std::string Format(const WavWay& way) {
  const uint64_t frame_bytes = way.channels * ((way.bits + 7) / 8);
  return Little(way.kind, 2) + Little(way.channels, 2) + Little(way.rate, 4) + Little(way.rate * frame_bytes, 4) + Little(frame_bytes, 2) +
         Little(way.bits, 2);
}
std::string Extensible(const WavWay& way, const std::string& tail = std::string("\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71", 14)) {
  WavWay outer = way;
  outer.kind = 0xfffe;
  return Format(outer) + Little(22, 2) + Little(way.bits, 2) + Little(0, 4) + Little(way.kind, 2) + tail;
}
std::string Wav(const WavWay& way, const std::string& data) { return Riff(Chunk("fmt ", Format(way)) + Chunk("data", data)); }

struct FlacWay {
  uint32_t bits = 16, channels = 1;
  bool says_how_many = true;
  uint32_t block = 0;
};
// `samples` lie side by side.
std::string Flac(const std::vector<int32_t>& samples, FlacWay way = {}) {
  std::string file;
  FLAC__StreamEncoder* const encoder = FLAC__stream_encoder_new();
  const auto count = static_cast<uint32_t>(samples.size() / way.channels);
  FLAC__stream_encoder_set_channels(encoder, way.channels);
  FLAC__stream_encoder_set_bits_per_sample(encoder, way.bits);
  FLAC__stream_encoder_set_sample_rate(encoder, 8000);
  FLAC__stream_encoder_set_streamable_subset(encoder, 0);
  FLAC__stream_encoder_set_blocksize(encoder, way.block);
  if (way.says_how_many) FLAC__stream_encoder_set_total_samples_estimate(encoder, count);
  const auto write = [](const FLAC__StreamEncoder*, const FLAC__byte* bytes, size_t size, uint32_t, uint32_t, void* to) {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), size);
    return FLAC__STREAM_ENCODER_WRITE_STATUS_OK;
  };
  EXPECT_EQ(FLAC__stream_encoder_init_stream(encoder, write, nullptr, nullptr, nullptr, &file), FLAC__STREAM_ENCODER_INIT_STATUS_OK);
  EXPECT_TRUE(FLAC__stream_encoder_process_interleaved(encoder, samples.data(), count));
  EXPECT_TRUE(FLAC__stream_encoder_finish(encoder));
  FLAC__stream_encoder_delete(encoder);
  return file;
}

std::vector<int32_t> Noise(size_t count, uint32_t bits) {
  std::vector<int32_t> samples(count);
  uint32_t state = 1;
  for (int32_t& sample : samples) sample = static_cast<int32_t>(state = state * 1664525 + 1013904223) >> (32 - bits);
  return samples;
}

// The file in a block of exactly its size, so that ASan sees a read past its end.
wf_code Decode(FakeJob& job, std::string_view file, wf_sound* sound) {
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[file.size()]);
  std::copy(file.begin(), file.end(), exact.get());
  const wf_bytes bytes{exact.get(), file.size()};
  return wf_n_decode_sound(&job.ctx, &bytes, sound);
}

struct Decoded {
  Samples samples;
  int64_t channels = 0, rate = 0;
};
Decoded Found(std::string_view file) {
  FakeJob job;
  wf_sound sound;
  if (Decode(job, file, &sound) != 0) {
    ADD_FAILURE() << job.message;
    return {};
  }
  EXPECT_EQ(sound.samples.rank, 2);
  EXPECT_EQ(sound.samples.stride[0], sound.samples.dim[1]);
  return {Elements<float>(sound.samples), sound.samples.dim[0], sound.rate};
}

std::string Failure(std::string_view file, int32_t code = 7000) {
  FakeJob job;
  wf_sound sound;
  EXPECT_EQ(Decode(job, file, &sound), WF_FAILED);
  EXPECT_EQ(job.code, code) << job.message;
  return job.message;
}

TEST(Wav, OfEachSizeIsSharesOfTheLoudest) {
  EXPECT_EQ(Found(Wav({1, 8, 1}, std::string("\x00\x80\xff\x81", 4))).samples, (Samples{-1, 0, 127 / 128.0F, 1 / 128.0F}));
  EXPECT_EQ(Found(Wav({1, 16, 1}, std::string("\x00\x80\xff\x7f\x01\x00", 6))).samples, (Samples{-1, 32767 / 32768.0F, 1 / 32768.0F}));
  EXPECT_EQ(Found(Wav({1, 24, 1}, std::string("\x00\x00\x80\xff\xff\x7f\x01\x00\x00", 9))).samples,
            (Samples{-1, 8388607 / 8388608.0F, 1 / 8388608.0F}));
  EXPECT_EQ(Found(Wav({1, 32, 1}, std::string("\x00\x00\x00\x80\x00\x00\x00\x40", 8))).samples, (Samples{-1, 0.5F}));
  EXPECT_EQ(Found(Wav({1, 12, 1}, std::string("\x00\x80\x00\x40", 4))).samples, (Samples{-1, 0.5F}));
  EXPECT_EQ(Found(Wav({3, 32, 1}, Little(std::bit_cast<uint32_t>(2.5F), 4))).samples, Samples{2.5F});
  EXPECT_EQ(Found(Wav({3, 64, 1}, Little(std::bit_cast<uint64_t>(0.1), 8))).samples, Samples{0.1F});
  const Samples nan = Found(Wav({3, 32, 1}, Little(std::bit_cast<uint32_t>(std::numeric_limits<float>::quiet_NaN()), 4))).samples;
  EXPECT_TRUE(std::isnan(nan.at(0)));
}

TEST(Wav, Of24BitsMayHaveBlocksOf4Bytes) {
  std::string format = Format({1, 24, 2});
  format[12] = 8;
  const std::string data("\x00\x00\x00\x80\x00\x00\x00\x40\x00\x01\x00\x00\x00\xff\xff\x7f", 16);
  EXPECT_EQ(Found(Riff(Chunk("fmt ", format) + Chunk("data", data))).samples, (Samples{-1, 1 / 8388608.0F, 0.5F, 8388607 / 8388608.0F}));
  format[12] = 10;
  EXPECT_EQ(Failure(Riff(Chunk("fmt ", format) + Chunk("data", data))), "the WAV file is damaged: samples of other sizes than it says");
}

TEST(Wav, HasARowForEachChannel) {
  const Decoded found = Found(Wav({1, 8, 3, 44100}, "\x80\xa0\xc0\x60\x40\x20"));
  EXPECT_EQ(found.channels, 3);
  EXPECT_EQ(found.rate, 44100);
  EXPECT_EQ(found.samples, (Samples{0, -0.25, 0.25, -0.5, 0.5, -0.75}));
}

TEST(Wav, MayHaveTheLongFormatAndOtherChunks) {
  const std::string data = Chunk("data", "\xc0");
  EXPECT_EQ(Found(Riff(Chunk("LIST", "odd") + Chunk("fmt ", Extensible({1, 8, 1})) + Chunk("fact", "....") + data + "behind")).samples,
            Samples{0.5F});
  EXPECT_EQ(Found(Riff(Chunk("fmt ", Format({1, 8, 1}) + Little(0, 2)) + data)).samples, Samples{0.5F});
  EXPECT_EQ(Found(Riff(Chunk("fmt ", Extensible({3, 32, 1})) + Chunk("data", Little(std::bit_cast<uint32_t>(0.5F), 4)))).samples,
            Samples{0.5F});
  const std::string other(14, 'x');
  EXPECT_NE(Failure(Riff(Chunk("fmt ", Extensible({1, 8, 1}, other)) + data)).find("of kind 65534"), std::string::npos);
}

TEST(Wav, WithoutALengthGoesToItsEnd) {
  for (const uint64_t length : {0xffffffffU, 0x7fffffffU, 0x7ffff000U}) {
    const std::string head = Chunk("fmt ", Format({1, 16, 1})) + "data" + Little(length, 4);
    EXPECT_EQ(Found(Riff(head + std::string("\x00\x40\x00", 3))).samples, Samples{0.5F});
    EXPECT_EQ(Found(Riff(head)).samples, Samples{});
  }
}

TEST(Wav, WithoutSamplesIsEmpty) {
  const Decoded found = Found(Wav({1, 16, 2}, ""));
  EXPECT_EQ(found.channels, 2);
  EXPECT_EQ(found.samples, Samples{});
}

TEST(Wav, ThatIsDamagedOrOfAnotherKindIsRefused) {
  const std::string format = Chunk("fmt ", Format({1, 16, 1})), data = Chunk("data", "abcd"), damaged = "the WAV file is damaged: ";
  EXPECT_EQ(Failure(Riff(format)), damaged + "no samples");
  EXPECT_EQ(Failure(Riff("")), damaged + "no format");
  EXPECT_EQ(Failure(Riff(data + format)), damaged + "samples before their format");
  EXPECT_EQ(Failure(Riff(format + "data" + Little(5, 4) + "abcd")), damaged + "truncated");
  EXPECT_EQ(Failure(Riff(format + Chunk("data", "abc"))), damaged + "truncated");
  EXPECT_EQ(Failure(Riff(Chunk("fmt ", "short") + data)), damaged + "truncated");
  EXPECT_EQ(Failure(Riff(Chunk("fmt ", Extensible({1, 16, 1}).substr(0, 30)) + data)), damaged + "truncated");
  EXPECT_EQ(Failure(Wav({1, 16, 0}, "abcd")), damaged + "no channels, or no rate");
  EXPECT_EQ(Failure(Wav({1, 16, 1, 0}, "abcd")), damaged + "no channels, or no rate");
  std::string odd = Format({1, 16, 1});
  odd[12] = 3;
  EXPECT_EQ(Failure(Riff(Chunk("fmt ", odd) + data)), damaged + "samples of other sizes than it says");
  EXPECT_EQ(Failure(Wav({1, 8, 65}, std::string(65, 'a'))), "the WAV file has more than 64 channels");
  for (const WavWay& way : {WavWay{1, 33, 1}, WavWay{1, 0, 1}, WavWay{3, 16, 1}, WavWay{6, 8, 1}, WavWay{7, 8, 1}, WavWay{2, 4, 1}})
    EXPECT_NE(Failure(Wav(way, "abcd")).find("cannot be decoded: samples of kind"), std::string::npos) << way.kind << " " << way.bits;
}

TEST(Flac, IsWhatWasEncoded) {
  for (const uint32_t bits : {8U, 16U, 20U, 24U}) {
    for (const uint32_t channels : {1U, 2U, 8U}) {
      for (const bool says_how_many : {true, false}) {
        const std::vector<int32_t> samples = Noise(5000 * channels, bits);
        const Decoded found = Found(Flac(samples, {bits, channels, says_how_many}));
        ASSERT_EQ(found.channels, channels);
        ASSERT_EQ(found.rate, 8000);
        ASSERT_EQ(found.samples.size(), samples.size());
        for (size_t i = 0; i < samples.size(); ++i)
          ASSERT_EQ(found.samples[i % channels * 5000 + i / channels],
                    std::ldexp(static_cast<float>(samples[i]), 1 - static_cast<int>(bits)));
      }
    }
  }
}

TEST(Flac, OfFewOrNoSamples) {
  EXPECT_EQ(Found(Flac({-32768})).samples, Samples{-1});
  EXPECT_EQ(Found(Flac({}, {.says_how_many = false})).samples, Samples{});
}

TEST(Flac, ThatIsDamagedIsRefused) {
  const std::string file = Flac(Noise(9000, 16)), damaged = "the FLAC file is damaged: ";
  EXPECT_EQ(Failure(file.substr(0, file.size() - 100)).find(damaged), 0U);
  EXPECT_EQ(Failure("fLaC").find(damaged), 0U);
  EXPECT_EQ(Failure(file.substr(0, 60)).find(damaged), 0U);
  std::string turned = file;
  turned[file.size() / 2] ^= 0x10;
  EXPECT_EQ(Failure(turned).find(damaged), 0U);
}

TEST(Flac, EndsWithTheLastOfItsSamples) {
  const std::string file = Flac(Noise(100, 16));
  EXPECT_EQ(Found(file + "TAG of a player").samples, Found(file).samples);
}

std::string Tag(size_t length, bool has_foot = false) {
  return std::string("ID3\4\0", 5) + (has_foot ? '\x10' : '\0') + std::string(2, '\0') + static_cast<char>(length >> 7) +
         static_cast<char>(length & 0x7f) + std::string(length + (has_foot ? 10 : 0), 'x');
}

TEST(Sound, MayStandBehindATag) {
  const std::string flac = Flac(Noise(100, 16)), wav = Wav({1, 8, 1}, "\xc0");
  for (const std::string& tag : {Tag(0), Tag(300), Tag(300, true)}) {
    EXPECT_EQ(Found(tag + flac).samples, Found(flac).samples);
    EXPECT_EQ(wf_samples(View(tag + flac)), 100U);
    EXPECT_EQ(Found(tag + wav).samples, Samples{0.5F});
    for (size_t length = 0; length <= tag.size(); ++length) EXPECT_EQ(Failure(tag.substr(0, length)), "not a WAV or FLAC file");
  }
}

// What a head says, in its own bits.
std::string Claiming(std::string file, uint64_t count) {
  file[21] = static_cast<char>((static_cast<uint8_t>(file[21]) & 0xf0) | count >> 32);
  for (int i = 0; i < 4; ++i) file[static_cast<size_t>(22 + i)] = static_cast<char>(count >> (24 - 8 * i));
  return file;
}

TEST(Flac, ThatHasOtherSamplesThanItSaysIsRefused) {
  const std::string file = Flac(Noise(9000, 16));
  EXPECT_EQ(Failure(Claiming(file, 9001)), "the FLAC file is damaged: truncated");
  EXPECT_EQ(Failure(Claiming(file, 5000)), "the FLAC file is damaged: more samples than it says, or than are decoded");
}

TEST(Flac, OfHugeClaimsTakesNoMemory) {
  const std::string file = Flac(Noise(100, 16));
  FakeJob job;
  job.budget = 0;
  wf_sound sound;
  EXPECT_EQ(Decode(job, Claiming(file, 60'000'000), &sound), WF_FAILED);
  EXPECT_EQ(job.message, "the FLAC file is damaged: truncated");
  EXPECT_NE(Failure(Claiming(file, WF_MAX_SOUND_SAMPLES + 1), 3012).find("at most 67108864 are decoded"), std::string::npos);
}

TEST(Sound, OfNeitherKindIsRefused) {
  for (const std::string_view none : {"", "RIFF", "RIFF....WEBP", "OggS", "ID3"}) EXPECT_EQ(Failure(none), "not a WAV or FLAC file");
}

TEST(Sound, FailsWhenMemoryIsSpentAndStopsWhenAbandoned) {
  const std::vector<int32_t> noise = Noise(9000, 16);
  for (const std::string& file : {Wav({1, 16, 1}, std::string(9000, 'a')), Flac(noise), Flac(noise, {.says_how_many = false})}) {
    wf_sound sound;
    FakeJob poor;
    poor.budget = 8;
    EXPECT_EQ(Decode(poor, file, &sound), WF_FAILED);
    EXPECT_EQ(poor.code, 3012);
    FakeJob abandoned;
    abandoned.stop = 1;
    EXPECT_EQ(Decode(abandoned, file, &sound), WF_FAILED);
    EXPECT_EQ(abandoned.code, 0);
  }
}

TEST(Samples, AreThoseThatTheHeadClaims) {
  const std::string file = Flac(Noise(18000, 16), {.channels = 2});
  EXPECT_EQ(wf_samples(View(file)), 18000U);
  EXPECT_EQ(wf_samples(View(Claiming(file, 0))), uint64_t{WF_MAX_SOUND_SAMPLES});  // nobody knows
  EXPECT_EQ(wf_samples(View(Claiming(file, WF_MAX_SOUND_SAMPLES))), 0U);           // refused at once
  EXPECT_EQ(wf_samples(View(Wav({1, 16, 1}, "abcd"))), 0U);                        // its bytes
  for (size_t length = 0; length < 26; ++length) EXPECT_EQ(wf_samples(View(file.substr(0, length))), 0U);
}

}  // namespace
}  // namespace wf::nodes
