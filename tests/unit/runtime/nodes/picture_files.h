// Files of pictures for tests, and what is decoded from them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>  // before jpeglib.h, which wants it
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <jpeglib.h>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {

using Pixels = std::vector<uint8_t>;

inline std::string Number(uint64_t value, int n_bytes) {
  std::string text;
  for (int i = 0; i < n_bytes; ++i) text += static_cast<char>(i < 8 ? value >> 8 * i : 0);
  return text;
}

struct BmpFile {
  int32_t width, height;
  uint32_t bits, compression;
  std::string tail;        // masks, palette and pixels,
  uint64_t pixels_at = 0;  // which begin there
};
inline std::string Bmp(const BmpFile& file) {
  return "BM" + Number(0, 8) + Number(54 + file.pixels_at, 4) + Number(40, 4) + Number(static_cast<uint32_t>(file.width), 4) +
         Number(static_cast<uint32_t>(file.height), 4) + Number(1, 2) + Number(file.bits, 2) + Number(file.compression, 4) + Number(0, 20) +
         file.tail;
}

struct JpegWay {
  J_COLOR_SPACE space = JCS_RGB;
  bool is_whole = false;  // else colours have half the resolution
  bool is_progressive = false;
};
inline std::string Jpeg(int width, int height, const Pixels& pixels, JpegWay way = {}) {
  const auto [space, is_whole, is_progressive] = way;
  jpeg_error_mgr errors;
  jpeg_compress_struct jpeg;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT: libjpeg's type
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = static_cast<JDIMENSION>(width);
  jpeg.image_height = static_cast<JDIMENSION>(height);
  jpeg.input_components = space == JCS_GRAYSCALE ? 1 : space == JCS_RGB ? 3 : 4;
  jpeg.in_color_space = space;
  jpeg_set_defaults(&jpeg);
  if (space == JCS_CMYK) jpeg_set_colorspace(&jpeg, JCS_YCCK);
  jpeg_set_quality(&jpeg, 95, TRUE);
  if (is_whole) jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = 1;
  if (is_whole && space == JCS_CMYK) jpeg.comp_info[3].h_samp_factor = jpeg.comp_info[3].v_samp_factor = 1;
  if (is_progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* row =
        const_cast<uint8_t*>(pixels.data()) + size_t{jpeg.next_scanline} * jpeg.image_width * static_cast<size_t>(jpeg.input_components);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string file(reinterpret_cast<char*>(bytes), size);
  std::free(bytes);
  return file;
}

using Decoder = decltype(&wf_n_decode);
inline constexpr Decoder kDecoders[] = {wf_n_decode_gray, wf_n_decode};

// The file in a block of exactly its size, so that ASan sees a read past its end.
struct Least {
  wf_optional_i64 height{}, width{};
};
inline wf_code Decode(FakeJob& job, std::string_view file, wf_tensor* px, Decoder decoder = wf_n_decode_gray, Least least = {}) {
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[file.size()]);
  std::copy(file.begin(), file.end(), exact.get());
  const wf_bytes bytes{exact.get(), file.size()};
  return decoder(&job.ctx, &bytes, &least.height, &least.width, px);
}

inline Pixels Colours(std::string_view file) {
  FakeJob job;
  wf_tensor rgb;
  if (Decode(job, file, &rgb, wf_n_decode) != 0) {
    ADD_FAILURE() << job.message;
    return {};
  }
  EXPECT_EQ(rgb.rank, 3);
  EXPECT_EQ(rgb.dim[2], 3);
  EXPECT_EQ(rgb.stride[2], 1);
  EXPECT_EQ(rgb.stride[1], 3);
  EXPECT_EQ(rgb.stride[0], 3 * rgb.dim[1]);
  return Elements<uint8_t>(rgb);
}

// A file that is cut before its end fails, and leaves nothing claimed.
inline void ExpectGivenBackWhereCut(const std::string& file) {
  for (const Decoder decoder : kDecoders) {
    FakeJob job;
    wf_tensor px;
    EXPECT_EQ(Decode(job, file.substr(0, file.size() - 40), &px, decoder), WF_FAILED);
    EXPECT_EQ(job.code, 7000);
    EXPECT_EQ(job.claimed, 0U);
  }
}

// What a file fails with that is told so.
inline int CodeOf(const std::string& message) { return message.starts_with("the image has") ? 3012 : 7000; }

}  // namespace wf::nodes
