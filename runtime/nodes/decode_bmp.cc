// BMP, read by hand: 1, 4, 8 (with runs, too), 16, 24 and 32 bits a pixel, headers of OS/2 1 and of Windows from 3 on.

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>

#include "runtime/nodes/file_numbers.h"
#include "runtime/nodes/picture.h"

namespace wf::nodes {
namespace {

enum Compression : uint32_t { kPlain = 0, kRuns8 = 1, kRuns4 = 2, kMasks = 3, kMasksWithAlpha = 6 };
constexpr uint64_t kFileHeader = 14, kOldHeader = 12, kHeader = 40, kMasksAt = kFileHeader + kHeader;
constexpr uint64_t kMostHeader = 124;
constexpr int64_t kRunsPerStopCheck = 256;  // each of 255 pixels at most

// One of red, green, blue and opacity within a pixel.
struct Channel {
  uint32_t shift = 0, most = 0;  // 0: there is none
  uint8_t Of(uint32_t pixel) const {
    const uint64_t value = pixel >> shift & most;
    if (most == 255 || most == 0) return static_cast<uint8_t>(value);
    return static_cast<uint8_t>((value * 255 + most / 2) / most);
  }
};

struct Bmp {
  // Is each pixel blue, green and red, a byte each, and of 32 bits one that says nothing?
  bool has_bytes() const {
    constexpr uint32_t kShifts[] = {16, 8, 0};
    for (int i = 0; i < 3; ++i) {
      if (channels[i].shift != kShifts[i] || channels[i].most != 255) return false;
    }
    return bits >= 24 && channels[3].most == 0;
  }
  bool has_runs() const { return compression == kRuns8 || compression == kRuns4; }
  uint64_t row_bytes() const { return (static_cast<uint64_t>(size.width) * bits + 7) / 8; }
  uint64_t stride() const { return (row_bytes() + 3) / 4 * 4; }

  Size size;
  bool is_top_down;
  uint32_t bits, compression;
  uint64_t pixels_at;
  uint8_t palette[256][3] = {};  // red, green, blue; black where the file has fewer
  Channel channels[4];
};

// Blue, green and red as red, green and blue, from pixels of `kBytes` bytes.
template <int64_t kBytes>
void ExchangeOneByOne(const uint8_t* from, int64_t width, uint8_t* rgb) {
  for (int64_t x = 0; x < width; ++x) {
    for (int64_t channel = 0; channel < 3; ++channel) rgb[3 * x + channel] = from[kBytes * x + 2 - channel];
  }
}

// As many pixels at a time as 16 bytes hold. What is stored behind them is stored again by those that follow.
template <int64_t kBytes>
__attribute__((target("ssse3"))) void ExchangeByShuffle(const uint8_t* from, int64_t width, uint8_t* rgb) {
  constexpr int64_t kVector = 16, kPixels = kVector / kBytes;
  std::array<int8_t, kVector> places{};
  for (int64_t i = 0; i < 3 * kPixels; ++i) places[static_cast<size_t>(i)] = static_cast<int8_t>(i / 3 * kBytes + 2 - i % 3);
  const __m128i order = _mm_loadu_si128(reinterpret_cast<const __m128i*>(places.data()));
  int64_t x = 0;
  for (; kVector <= 3 * (width - x); x += kPixels) {  // then so many bytes of the file are there, too
    const __m128i pixels = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + kBytes * x));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(rgb + 3 * x), _mm_shuffle_epi8(pixels, order));
  }
  ExchangeOneByOne<kBytes>(from + kBytes * x, width - x, rgb + 3 * x);
}

template <int64_t kBytes>
void Exchange(const uint8_t* from, int64_t width, uint8_t* rgb) {
  static const auto exchange = __builtin_cpu_supports("ssse3") != 0 ? ExchangeByShuffle<kBytes> : ExchangeOneByOne<kBytes>;
  exchange(from, width, rgb);
}

class BmpReader {
 public:
  BmpReader(wf_ctx* ctx, const wf_bytes& file) : ctx_(ctx), file_(file), numbers_(ViewOf(file), false) {}

  wf_code ReadHeader(Bmp* bmp);
  wf_code HoldsPixels(const Bmp& bmp);  // before memory is taken for them; of runs nobody knows
  wf_code ReadPixels(const Bmp& bmp, uint8_t* rgb);

 private:
  wf_code Damaged(const char* what) { return Fail(ctx_, code::kType, "the BMP image is damaged: %s", what); }
  wf_code Unknown(const char* what, uint64_t value) {
    return Fail(ctx_, code::kType, "the BMP image cannot be decoded: %s %llu", what, static_cast<unsigned long long>(value));
  }
  wf_code ReadMasks(uint64_t header, Bmp* bmp);
  void ReadPalette(uint64_t at, uint64_t entry_bytes, uint64_t count, Bmp* bmp);
  static void ReadRow(const Bmp& bmp, const uint8_t* from, int64_t width, uint8_t* rgb);  // `width` pixels of one
  static void ReadMaskedRow(const Bmp& bmp, const uint8_t* from, int64_t width, uint8_t* rgb);
  wf_code ReadRuns(const Bmp& bmp, uint8_t* rgb);

  wf_ctx* ctx_;
  const wf_bytes& file_;
  Numbers numbers_;
};

uint8_t* RowOf(const Bmp& bmp, uint8_t* rgb, int64_t y) {
  return rgb + 3 * bmp.size.width * (bmp.is_top_down ? y : bmp.size.height - 1 - y);
}

wf_code BmpReader::ReadHeader(Bmp* bmp) {
  const uint64_t header = numbers_.At(kFileHeader, 4);
  const bool is_old = header == kOldHeader;
  if (file_.len < kFileHeader + kOldHeader) return Damaged("truncated");
  if (!is_old && (header < kHeader || header > kMostHeader)) return Unknown("a header of size", header);
  if (file_.len < kFileHeader + header) return Damaged("truncated");
  const auto extent = [&](uint64_t at) -> int64_t {
    return is_old ? int64_t{numbers_.At(at, 2)} : static_cast<int32_t>(numbers_.At(at, 4));
  };
  const int64_t width = extent(18), height = extent(is_old ? 20 : 22);
  bmp->size = {std::abs(height), width};
  bmp->is_top_down = height < 0;
  bmp->bits = numbers_.At(is_old ? 24 : 28, 2);
  bmp->compression = is_old ? 0 : numbers_.At(30, 4);
  bmp->pixels_at = numbers_.At(10, 4);
  if (width <= 0 || height == 0) return Damaged("no pixels");
  if (bmp->size.pixels() > WF_MAX_BMP_PIXELS) return FailTooLarge(ctx_, bmp->size, WF_MAX_BMP_PIXELS);
  const bool has_palette = bmp->bits == 1 || bmp->bits == 4 || bmp->bits == 8;
  const bool has_masks = bmp->compression == kMasks || bmp->compression == kMasksWithAlpha;
  if (!has_palette && bmp->bits != 16 && bmp->bits != 24 && bmp->bits != 32) return Unknown("bits a pixel:", bmp->bits);
  const bool is_known = bmp->compression == kPlain || (bmp->compression == kRuns8 && bmp->bits == 8) ||
                        (bmp->compression == kRuns4 && bmp->bits == 4) || (has_masks && (bmp->bits == 16 || bmp->bits == 32));
  if (!is_known) return Unknown("compression", bmp->compression);
  if (has_palette) {
    const uint64_t used = is_old ? 0 : numbers_.At(46, 4), most = 1ULL << bmp->bits;
    ReadPalette(kFileHeader + header, is_old ? 3 : 4, used == 0 ? most : std::min(used, most), bmp);
    return 0;
  }
  return ReadMasks(header, bmp);
}

void BmpReader::ReadPalette(uint64_t at, uint64_t entry_bytes, uint64_t count, Bmp* bmp) {
  for (uint64_t i = 0; i < count; ++i, at += entry_bytes) {
    for (uint64_t channel = 0; channel < 3; ++channel) bmp->palette[i][2 - channel] = static_cast<uint8_t>(numbers_.At(at + channel, 1));
  }
}

wf_code BmpReader::ReadMasks(uint64_t header, Bmp* bmp) {
  uint32_t masks[4] = {0xff0000, 0xff00, 0xff, 0};
  if (bmp->bits == 16) masks[0] = 0x7c00, masks[1] = 0x3e0, masks[2] = 0x1f;
  if (bmp->compression != kPlain) {
    const bool has_opacity = header >= kHeader + 16 || bmp->compression == kMasksWithAlpha;
    for (uint64_t i = 0; i < 4; ++i) masks[i] = i < 3 || has_opacity ? numbers_.At(kMasksAt + 4 * i, 4) : 0;
  }
  for (int i = 0; i < 4; ++i) {
    if (masks[i] == 0) continue;
    Channel& channel = bmp->channels[i];
    channel.shift = static_cast<uint32_t>(std::countr_zero(masks[i]));
    channel.most = masks[i] >> channel.shift;
    if ((channel.most & (channel.most + 1)) != 0) return Damaged("a mask with gaps");
  }
  return 0;
}

void BmpReader::ReadRow(const Bmp& bmp, const uint8_t* from, int64_t width, uint8_t* rgb) {
  if (bmp.bits == 24) {
    Exchange<3>(from, width, rgb);
  } else if (bmp.has_bytes()) {
    Exchange<4>(from, width, rgb);
  } else if (bmp.bits <= 8) {
    for (int64_t x = 0; x < width; ++x) {
      const uint64_t bit = static_cast<uint64_t>(x) * bmp.bits;
      const uint32_t index = from[bit / 8] >> (8 - bmp.bits - bit % 8) & ((1U << bmp.bits) - 1);
      std::memcpy(rgb + 3 * x, bmp.palette[index], 3);
    }
  } else {
    ReadMaskedRow(bmp, from, width, rgb);
  }
}

void BmpReader::ReadMaskedRow(const Bmp& bmp, const uint8_t* from, int64_t width, uint8_t* rgb) {
  const uint64_t bytes = bmp.bits / 8;
  for (int64_t x = 0; x < width; ++x, rgb += 3) {
    uint32_t pixel = 0;
    for (uint64_t i = 0; i < bytes; ++i) pixel |= uint32_t{*from++} << 8 * i;
    const uint8_t opacity = bmp.channels[3].most == 0 ? 255 : bmp.channels[3].Of(pixel);
    for (int channel = 0; channel < 3; ++channel) rgb[channel] = OverWhite(bmp.channels[channel].Of(pixel), opacity);
  }
}

// Pixels that no run reaches have the first colour; what reaches beyond its row is left out.
wf_code BmpReader::ReadRuns(const Bmp& bmp, uint8_t* rgb) {
  const bool is_filled = InSteps(ctx_, bmp.size.pixels(), [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) std::memcpy(rgb + 3 * i, bmp.palette[0], 3);
  });
  if (!is_filled) return WF_FAILED;
  uint64_t at = bmp.pixels_at;
  int64_t x = 0, y = 0;
  const auto put = [&](uint32_t index) {
    if (x < bmp.size.width) std::memcpy(RowOf(bmp, rgb, y) + 3 * x++, bmp.palette[index], 3);
  };
  const auto nibble = [&](uint32_t i, uint32_t byte) { return bmp.compression == kRuns8 ? byte : i % 2 == 0 ? byte >> 4 : byte & 15; };
  for (int64_t steps = 1; y < bmp.size.height; ++steps) {
    if (steps % kRunsPerStopCheck == 0 && Stopped(ctx_)) return WF_FAILED;
    if (at + 2 > file_.len) return Damaged("truncated");
    const uint32_t count = file_.ptr[at], value = file_.ptr[at + 1];
    at += 2;
    if (count > 0) {
      for (uint32_t i = 0; i < count; ++i) put(nibble(i, value));
    } else if (value == 0) {  // end of the row
      x = 0, ++y;
    } else if (value == 1) {  // end of the picture
      return 0;
    } else if (value == 2) {  // right and up
      if (at + 2 > file_.len) return Damaged("truncated");
      x += file_.ptr[at], y += file_.ptr[at + 1];
      at += 2;
    } else {
      const uint64_t bytes = bmp.compression == kRuns8 ? value : (value + 1) / 2;
      if (bytes > file_.len - at) return Damaged("truncated");
      for (uint32_t i = 0; i < value; ++i) put(nibble(i, file_.ptr[at + (bmp.compression == kRuns8 ? i : i / 2)]));
      at += bytes + bytes % 2;
      if (at > file_.len) return Damaged("truncated");
    }
  }
  return 0;
}

wf_code BmpReader::HoldsPixels(const Bmp& bmp) {
  if (bmp.pixels_at > file_.len) return Damaged("truncated");
  if (bmp.has_runs()) return 0;
  // The filling behind the last row need not be there.
  const uint64_t bytes = bmp.stride() * static_cast<uint64_t>(bmp.size.height - 1) + bmp.row_bytes();
  return bytes > file_.len - bmp.pixels_at ? Damaged("truncated") : 0;
}

wf_code BmpReader::ReadPixels(const Bmp& bmp, uint8_t* rgb) {
  if (bmp.has_runs()) return ReadRuns(bmp, rgb);
  const uint64_t stride = bmp.stride();
  static_assert(kElementsPerStopCheck % 8 == 0);  // so that each step of a row begins with a byte
  for (int64_t y = 0; y < bmp.size.height; ++y) {
    const uint8_t* const from = file_.ptr + bmp.pixels_at + static_cast<uint64_t>(y) * stride;
    uint8_t* const row = RowOf(bmp, rgb, y);
    const bool is_read = InSteps(ctx_, bmp.size.width, [&](int64_t first, int64_t last) {
      ReadRow(bmp, from + static_cast<uint64_t>(first) * bmp.bits / 8, last - first, row + 3 * first);
    });
    if (!is_read) return WF_FAILED;
  }
  return 0;
}

}  // namespace

wf_code DecodeBmp(wf_ctx* ctx, const wf_bytes& file, const Wanted& wanted, wf_tensor* px) {
  BmpReader reader(ctx, file);
  Bmp bmp{};
  if (const wf_code code = reader.ReadHeader(&bmp); code != 0) return code;
  if (const wf_code code = reader.HoldsPixels(bmp); code != 0) return code;
  if (!AllocateTensor(ctx, WF_U8, Shape(bmp.size, 3).axes(), px)) return WF_FAILED;
  if (const wf_code code = reader.ReadPixels(bmp, static_cast<uint8_t*>(px->data)); code != 0) return code;
  return wanted.channels == 3 || ColoursToLuma(ctx, bmp.size, px) ? 0 : WF_FAILED;
}

}  // namespace wf::nodes
