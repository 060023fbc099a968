#include <gtest/gtest.h>
#include <png.h>
#include <turbojpeg.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

using Pixels = std::vector<uint8_t>;

std::string Png(uint32_t width, uint32_t height, uint32_t format, const void* pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = width;
  image.height = height;
  image.format = format;
  png_alloc_size_t size = 0;
  EXPECT_TRUE(png_image_write_get_memory_size(image, size, 0, pixels, 0, nullptr));
  std::string file(size, '\0');
  EXPECT_TRUE(png_image_write_to_memory(&image, file.data(), &size, 0, pixels, 0, nullptr));
  file.resize(size);
  return file;
}

std::string Jpeg(int width, int height, const Pixels& rgb, int format = TJPF_RGB) {
  const tjhandle encoder = tjInitCompress();
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT: TurboJPEG's type
  EXPECT_EQ(tjCompress2(encoder, rgb.data(), width, 0, height, format, &bytes, &size, TJSAMP_420, 95, 0), 0);
  std::string file(reinterpret_cast<char*>(bytes), size);
  tjFree(bytes);
  tjDestroy(encoder);
  return file;
}

// The file in a block of exactly its size, so that ASan sees a read past its end.
wf_code Decode(FakeJob& job, std::string_view file, wf_tensor* gray) {
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[file.size()]);
  std::copy(file.begin(), file.end(), exact.get());
  const wf_bytes bytes{exact.get(), file.size()};
  return wf_n_decode_gray(&job.ctx, &bytes, gray);
}

TEST(DecodeGray, KeepsGreyPngAsItIs) {
  Pixels all(256);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i);
  FakeJob job;
  wf_tensor gray;
  ASSERT_EQ(Decode(job, Png(32, 8, PNG_FORMAT_GRAY, all.data()), &gray), 0) << job.message;
  EXPECT_EQ(gray.dtype, WF_U8);
  EXPECT_EQ(gray.rank, 2);
  EXPECT_EQ(gray.dim[0], 8);
  EXPECT_EQ(gray.dim[1], 32);
  EXPECT_EQ(gray.stride[0], 32);
  EXPECT_EQ(gray.stride[1], 1);
  EXPECT_EQ(Elements<uint8_t>(gray), all);
}

TEST(DecodeGray, WeighsTheColoursOfAPng) {
  const Pixels colours{255, 255, 255, 0, 0, 0, 0, 255, 0, 0, 0, 255};
  FakeJob job;
  wf_tensor gray;
  ASSERT_EQ(Decode(job, Png(4, 1, PNG_FORMAT_RGB, colours.data()), &gray), 0) << job.message;
  const Pixels found = Elements<uint8_t>(gray);
  EXPECT_EQ(found[0], 255);
  EXPECT_EQ(found[1], 0);
  EXPECT_GT(found[2], found[3]);  // green looks brighter than blue
  EXPECT_GT(found[3], 0);
}

TEST(DecodeGray, LaysTransparencyOverWhite) {
  const Pixels pixels{0, 0, 0, 255};  // grey, alpha: a transparent black and an opaque black
  FakeJob job;
  wf_tensor gray;
  ASSERT_EQ(Decode(job, Png(2, 1, PNG_FORMAT_GA, pixels.data()), &gray), 0) << job.message;
  EXPECT_EQ(Elements<uint8_t>(gray), (Pixels{255, 0}));
}

TEST(DecodeGray, ReadsAScanOfTheDigitsExample) {
  std::ifstream stream(WF_SOURCE_DIR "/examples/digits/testdata/seven.png", std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(stream), {}};
  FakeJob job;
  wf_tensor gray;
  ASSERT_EQ(Decode(job, file, &gray), 0) << job.message;
  const Pixels found = Elements<uint8_t>(gray);
  ASSERT_EQ(found.size(), 64U);
  EXPECT_EQ(*std::max_element(found.begin(), found.end()), 255);
}

TEST(DecodeGray, ReadsJpegOfAnyColour) {
  Pixels rgb;
  for (int i = 0; i < 16 * 24; ++i) rgb.insert(rgb.end(), {200, 30, 90});
  FakeJob job;
  wf_tensor gray;
  ASSERT_EQ(Decode(job, Jpeg(16, 24, rgb), &gray), 0) << job.message;
  EXPECT_EQ(gray.dim[0], 24);
  EXPECT_EQ(gray.dim[1], 16);
  const double luma = 0.299 * 200 + 0.587 * 30 + 0.114 * 90;
  for (const uint8_t pixel : Elements<uint8_t>(gray)) EXPECT_NEAR(pixel, luma, 2);
}

TEST(DecodeGray, RefusesWhatIsNoImage) {
  for (const std::string_view file : {"", "\x89", "GIF89a", "<svg/>", "\xff\xd8", "not an image at all"}) {
    FakeJob job;
    wf_tensor gray;
    EXPECT_EQ(Decode(job, file, &gray), WF_FAILED);
    EXPECT_EQ(job.code, 7000);
    EXPECT_EQ(job.message, "not a PNG or JPEG image");
  }
}

TEST(DecodeGray, SaysOfColoursForPrintThatTheyAreNotRead) {
  FakeJob job;
  wf_tensor gray;
  EXPECT_EQ(Decode(job, Jpeg(8, 8, Pixels(4 * 8 * 8, 90), TJPF_CMYK), &gray), WF_FAILED);
  EXPECT_EQ(job.message, "the JPEG image has colours for print (CMYK), which are not read; save it in RGB");
}

TEST(DecodeGray, RefusesEveryTruncation) {
  Pixels noise(3 * 16 * 16);
  for (size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<uint8_t>(i * 37 + i / 7);
  const std::string png = Png(16, 16, PNG_FORMAT_RGB, noise.data());
  const std::string jpeg = Jpeg(16, 16, noise);
  // The last bytes carry no pixels: PNG's IEND chunk and the checksum before it, JPEG's end marker.
  for (const auto& [file, tail] : {std::pair(png, size_t{24}), std::pair(jpeg, size_t{2})}) {
    for (size_t length = 8; length < file.size() - tail; ++length) {
      FakeJob job;
      wf_tensor gray;
      ASSERT_EQ(Decode(job, std::string_view(file).substr(0, length), &gray), WF_FAILED) << length << " of " << file.size();
      ASSERT_EQ(job.code, 7000) << job.message;
    }
  }
}

TEST(DecodeGray, SurvivesEveryFlippedByte) {
  const Pixels grey(64, 77);
  const std::string files[] = {Png(8, 8, PNG_FORMAT_GRAY, grey.data()), Jpeg(4, 4, Pixels(48, 99))};
  for (const std::string& file : files) {
    for (size_t at = 0; at < file.size(); ++at) {
      for (const uint8_t flip : {0x01, 0x80, 0xff}) {
        std::string damaged = file;
        damaged[at] = static_cast<char>(damaged[at] ^ flip);
        FakeJob job;
        job.budget = 1 << 20;
        wf_tensor gray;
        const bool ok = Decode(job, damaged, &gray) == 0;
        EXPECT_TRUE(ok || job.code == 7000 || job.code == 3012) << job.code;
      }
    }
  }
}

// A header with its right checksum, and nothing behind it.
std::string PngHeader(uint32_t width, uint32_t height) {
  std::string ihdr = "IHDR";
  for (const uint32_t side : {width, height}) {
    for (int shift = 24; shift >= 0; shift -= 8) ihdr += static_cast<char>(side >> shift);
  }
  ihdr += std::string("\x08\x00\x00\x00\x00", 5);
  uint32_t sum = 0xffffffff;
  for (const char c : ihdr) {
    sum ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0xedb88320U : 0);
  }
  sum = ~sum;
  std::string file = std::string("\x89PNG\r\n\x1a\n\0\0\0\x0d", 12) + ihdr;
  for (int shift = 24; shift >= 0; shift -= 8) file += static_cast<char>(sum >> shift);
  return file + std::string("\0\0\0\x10IDAT0123456789abcdef1234", 28);
}

TEST(DecodeGray, RefusesHugeImagesBeforeTakingMemory) {
  const std::pair<std::string, std::string> cases[] = {
      {PngHeader(100'000, 100'000), "the image has 100000 x 100000 pixels; at most 67108864 are decoded"},
      {PngHeader(8'000, 8'000), "the PNG image is damaged: truncated"},
  };
  for (const auto& [file, message] : cases) {
    FakeJob job;
    wf_tensor gray;
    EXPECT_EQ(Decode(job, file, &gray), WF_FAILED);
    EXPECT_EQ(job.code, 7000);
    EXPECT_EQ(job.message, message);
    EXPECT_TRUE(job.blocks.empty());
  }
}

TEST(DecodeGray, FailsWhenMemoryIsSpent) {
  const Pixels grey(64, 77);
  FakeJob job;
  job.budget = 64;
  wf_tensor gray;
  EXPECT_EQ(Decode(job, Png(8, 8, PNG_FORMAT_GRAY, grey.data()), &gray), WF_FAILED);
  EXPECT_EQ(job.code, 3012);
}

}  // namespace
}  // namespace wf::nodes
