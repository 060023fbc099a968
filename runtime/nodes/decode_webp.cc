#include <malloc.h>
#include <webp/decode.h>

#include <cstdlib>

#include "runtime/nodes/claim.h"
#include "runtime/nodes/picture.h"

namespace wf::nodes {
namespace {

const char* TextOf(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OK:
    case VP8_STATUS_BITSTREAM_ERROR:
      return "its bits make no picture";
    case VP8_STATUS_OUT_OF_MEMORY:
      return "no memory for the decoder";
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return "a feature that is not supported";
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
    case VP8_STATUS_USER_ABORT:
      return "truncated";
    case VP8_STATUS_INVALID_PARAM:
      return "a parameter is out of range";
  }
  return "damaged";
}

wf_code FailWebp(wf_ctx* ctx, VP8StatusCode status) {
  const wf_code code = status == VP8_STATUS_OUT_OF_MEMORY ? code::kMemoryCap : code::kType;
  return Fail(ctx, code, "the WebP image cannot be decoded: %s", TextOf(status));
}

// What libwebp holds of a picture until it is decoded, but for what goes by its lines or the file: lossless ones 32 bits a pixel and 17
// lines of them, of others opacity alone, in 8 bits besides.
uint64_t KeptBytes(const WebPBitstreamFeatures& of) {
  constexpr int kLossy = 1;  // of `format`
  if (of.format == kLossy && of.has_alpha == 0) return 0;
  const auto width = static_cast<uint64_t>(of.width), pixels = width * static_cast<uint64_t>(of.height);
  return 4 * (pixels + 17 * width) + (of.format == kLossy ? pixels : 0);
}

// What the decoder takes counts as the job's memory while this lives: at first what a picture of its size does, then what it holds beyond.
// A file of 300 KB may have tables of 370 MB.
// Thread: confined to the call; one at a time.   Errors: false when the budget is spent (recorded).
class DecoderMemory {
 public:
  explicit DecoderMemory(wf_ctx* ctx) : claim_(ctx) {}
  ~DecoderMemory() { GiveBack(); }
  DecoderMemory(const DecoderMemory&) = delete;
  DecoderMemory& operator=(const DecoderMemory&) = delete;

  bool Begin(uint64_t bytes) {
    if (!claim_.Take(bytes)) return false;
    current_ = this;
    return true;
  }
  void GiveBack() {
    current_ = nullptr;
    claim_.GiveBack();
  }

  // Of what libwebp allocates on this thread. None is current: it is no decoder of ours that does.
  static void* Held(void* block) {
    if (current_ == nullptr || block == nullptr || current_->Hold(malloc_usable_size(block))) return block;
    std::free(block);
    return nullptr;
  }
  static void Free(void* block) {
    if (current_ != nullptr && block != nullptr) current_->held_ -= malloc_usable_size(block);
    std::free(block);
  }

 private:
  bool Hold(uint64_t bytes) {
    const uint64_t wanted = held_ + bytes, counted = claim_.bytes() + kUncounted;
    if (wanted > counted && !claim_.Take(wanted - counted)) return false;
    held_ += bytes;
    return true;
  }

  static constexpr uint64_t kUncounted = 256 * 1024;  // of lines, small tables and the decoder itself
  static thread_local DecoderMemory* current_;
  Claim claim_;
  uint64_t held_ = 0;
};
thread_local DecoderMemory* DecoderMemory::current_ = nullptr;

// What libwebp asks for at once, as its own function bounds it.
bool IsAllocated(uint64_t count, size_t size, size_t* bytes) {
  constexpr size_t kMost = size_t{1} << 34;
  return !__builtin_mul_overflow(count, size, bytes) && *bytes <= kMost;
}

// The file in parts of about so many pixels each, between which the job may be stopped (VP8_STATUS_USER_ABORT). Its pixels may lie in a few
// bytes, and so in one part: libwebp itself cannot be interrupted.
VP8StatusCode DecodeInParts(const wf_ctx* ctx, const wf_bytes& file, WebPDecoderConfig* config) {
  constexpr uint64_t kPixelsPerPart = 64 * 1024;
  const uint64_t pixels = static_cast<uint64_t>(config->input.width) * static_cast<uint64_t>(config->input.height);
  const uint64_t parts = std::min(pixels / kPixelsPerPart + 1, file.len);
  WebPIDecoder* const decoder = WebPIDecode(nullptr, 0, config);
  if (decoder == nullptr) return VP8_STATUS_OUT_OF_MEMORY;
  VP8StatusCode status = VP8_STATUS_SUSPENDED;
  for (uint64_t part = 1; part <= parts && status == VP8_STATUS_SUSPENDED; ++part)
    status = Stopped(ctx) ? VP8_STATUS_USER_ABORT : WebPIUpdate(decoder, file.ptr, part == parts ? file.len : file.len / parts * part);
  WebPIDelete(decoder);
  return status;
}

}  // namespace

// A server's linker puts these in the place of libwebp's own (runtime/archive.cmake).
extern "C" {
void* __wrap_WebPSafeMalloc(uint64_t count, size_t size) noexcept;
void* __wrap_WebPSafeCalloc(uint64_t count, size_t size) noexcept;
void __wrap_WebPSafeFree(void* block) noexcept;

void* __wrap_WebPSafeMalloc(uint64_t count, size_t size) noexcept {
  size_t bytes = 0;
  return IsAllocated(count, size, &bytes) ? DecoderMemory::Held(std::malloc(bytes)) : nullptr;
}
void* __wrap_WebPSafeCalloc(uint64_t count, size_t size) noexcept {
  size_t bytes = 0;
  return IsAllocated(count, size, &bytes) ? DecoderMemory::Held(std::calloc(count, size)) : nullptr;
}
void __wrap_WebPSafeFree(void* block) noexcept { DecoderMemory::Free(block); }
}

wf_code DecodeWebp(wf_ctx* ctx, const wf_bytes& file, const Wanted& wanted, wf_tensor* px) {
  DecoderMemory memory(ctx);
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) return FailWebp(ctx, VP8_STATUS_INVALID_PARAM);
  const VP8StatusCode header = WebPGetFeatures(file.ptr, file.len, &config.input);
  if (header != VP8_STATUS_OK) return FailWebp(ctx, header);
  if (config.input.has_animation != 0) return Fail(ctx, code::kType, "the WebP image is animated; one picture is wanted");
  const Size size{config.input.height, config.input.width};
  if (size.pixels() > WF_MAX_WEBP_PIXELS) return FailTooLarge(ctx, size, WF_MAX_WEBP_PIXELS);
  const int64_t channels = config.input.has_alpha != 0 ? 4 : 3;
  if (!memory.Begin(KeptBytes(config.input)) || !AllocateTensor(ctx, WF_U8, Shape(size, channels).axes(), px)) return WF_FAILED;
  auto* const data = static_cast<uint8_t*>(px->data);
  config.output.colorspace = channels == 4 ? MODE_RGBA : MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = data;
  config.output.u.RGBA.stride = static_cast<int>(px->stride[0]);
  config.output.u.RGBA.size = static_cast<size_t>(size.pixels() * channels);
  const VP8StatusCode status = DecodeInParts(ctx, file, &config);
  WebPFreeDecBuffer(&config.output);
  memory.GiveBack();
  if (status == VP8_STATUS_USER_ABORT) return WF_FAILED;
  if (status != VP8_STATUS_OK) return FailWebp(ctx, status);
  if (channels == 4) {
    const auto lay = [data](int64_t first, int64_t last) { LayOverWhite(data + 4 * first, last - first, 3, data + 3 * first); };
    if (!InSteps(ctx, size.pixels(), lay)) return WF_FAILED;
    *px = Dense(WF_U8, Shape(size, 3).axes());
    px->data = data;
  }
  if (wanted.channels == 1 && !ColoursToLuma(ctx, size, px)) return WF_FAILED;
  return Upright(ctx, OrientationOfWebp(file), size, wanted.channels, px);
}

}  // namespace wf::nodes
