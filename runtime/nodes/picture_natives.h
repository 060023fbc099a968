// Natives of std.image; part of nodes.h, which says whose memory is whose.
#pragma once

#include "runtime/abi/plan.h"
#include "runtime/abi/values.h"

#ifdef __cplusplus
extern "C" {
#endif

// i64?
typedef struct wf_optional_i64 {
  int64_t value;
  uint8_t has;
} wf_optional_i64;

enum {
  WF_MAX_PNG_PIXELS = 64 * 1024 * 1024, /* 64 MiB of result, in colour 192 MiB */
  WF_MAX_BMP_PIXELS = 64 * 1024 * 1024,
  WF_MAX_JPEG_PIXELS =
      32 * 1024 * 1024, /* a progressive JPEG holds up to 6 bytes a pixel in the decoder besides, of CMYK 8: claimed (claim.h) */
  WF_MAX_WEBP_PIXELS = 32 * 1024 * 1024, /* a lossless one holds 4, one with opacity up to 5: claimed, too */
};

// A PNG, JPEG, WebP or BMP file -> u8[h, w], 0 black, sRGB-encoded luma; transparency is laid over white, what EXIF says is turned is
// turned. A JPEG is divided by 8, 4 or 2 where no fewer rows and columns than the least ones are left. Errors: 7000 none of the formats,
// damaged or truncated; 3012 over the limits above, and where memory is spent.   Cost: O(pixels); the decoder's own buffers are freed
// before return; a quarter turn takes memory for a second picture.
wf_code wf_n_decode_gray(wf_ctx*, const wf_bytes* file, const wf_optional_i64* least_height, const wf_optional_i64* least_width,
                         wf_tensor* gray) WF_NOEXCEPT;

// The same file -> u8[h, w, 3], sRGB. Of a CMYK JPEG and a transparent WebP either takes 4 bytes a pixel.
// Errors, cost: as wf_n_decode_gray.
wf_code wf_n_decode(wf_ctx*, const wf_bytes* file, const wf_optional_i64* least_height, const wf_optional_i64* least_width,
                    wf_tensor* rgb) WF_NOEXCEPT;

// How many pixels the header of such a file claims: what decoding it costs goes by them. 0 where it claims none or more than are decoded,
// so that decoding it ends at once.   Cost: O(1), of a JPEG what precedes the header.
uint64_t wf_pixels(wf_bytes file) WF_NOEXCEPT;

// px: u8[h, w, ..] with the frames of boxes: f32[n, 4], (x0, y0, x1, y1) with x1 and y1 behind the last pixel, in colour: u8[channels].
// Errors: 7000 when colour has another length, or thickness is below 1.   Cost: O(pixels + boxes * pixels of a frame).
wf_code wf_n_draw_boxes(wf_ctx*, const wf_tensor* px, const wf_tensor* boxes, const wf_tensor* colour, const int64_t* thickness,
                        wf_tensor* drawn) WF_NOEXCEPT;

// px: u8[h, w, ..] -> u8[height, width, ..]: what it shows at rows v and columns u: f32[height, width], mixed of four pixels in f32; fill
// outside, and for NaN. Errors: 7000 when v and u differ in shape, 7001 when there are places and no pixels.   Cost: O(result).
wf_code wf_n_remap(wf_ctx*, const wf_tensor* px, const wf_tensor* v, const wf_tensor* u, const uint8_t* fill, wf_tensor* shown) WF_NOEXCEPT;

// px: u8[h, w, ..] -> u8[height, width, ..]: each line becomes one of `width` pixels, the sums of shares: i32[width, n], in 1/4194304, of
// the pixels from first: i64[width] on, as far as there are some, then those each column of `height`; both times the nearest level. i32
// wraps. Errors: 7000 when `first` and `shares` differ in length, 7001 when a first pixel is none.   Cost: O(h * width * n + height * width
// * n); holds n narrow lines.
wf_code wf_n_resample(wf_ctx*, const wf_tensor* px, const wf_tensor* first_across, const wf_tensor* shares_across,
                      const wf_tensor* first_down, const wf_tensor* shares_down, wf_tensor* resized) WF_NOEXCEPT;

// px: u8[h, w], of PNG also u8[h, w, 2], u8[h, w, 3] and of PNG u8[h, w, 4], as a file.
// Errors: 7000 for other channels, a quality outside 1..100, no pixels or too many in a line.   Cost: O(pixels); the encoder's own buffers
// are freed before return.
wf_code wf_n_encode_jpeg(wf_ctx*, const wf_tensor* px, const int64_t* quality, wf_bytes* file) WF_NOEXCEPT;
wf_code wf_n_encode_png(wf_ctx*, const wf_tensor* px, wf_bytes* file) WF_NOEXCEPT;

#ifdef __cplusplus
}
#endif
