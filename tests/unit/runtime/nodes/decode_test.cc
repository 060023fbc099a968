#include <gtest/gtest.h>
#include <png.h>
#include <turbojpeg.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"
#include "tests/unit/support/source_path.h"

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

std::string Jpeg(int width, int height, const Pixels& pixels, int format = TJPF_RGB, int subsampling = TJSAMP_420) {
  const tjhandle encoder = tjInitCompress();
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT: TurboJPEG's type
  EXPECT_EQ(tjCompress2(encoder, pixels.data(), width, 0, height, format, &bytes, &size, subsampling, 95, 0), 0);
  std::string file(reinterpret_cast<char*>(bytes), size);
  tjFree(bytes);
  tjDestroy(encoder);
  return file;
}

using Decoder = decltype(&wf_n_decode);
constexpr Decoder kDecoders[] = {wf_n_decode_gray, wf_n_decode};

// The file in a block of exactly its size, so that ASan sees a read past its end.
wf_code Decode(FakeJob& job, std::string_view file, wf_tensor* px, Decoder decoder = wf_n_decode_gray) {
  const std::unique_ptr<uint8_t[]> exact(new uint8_t[file.size()]);
  std::copy(file.begin(), file.end(), exact.get());
  const wf_bytes bytes{exact.get(), file.size()};
  return decoder(&job.ctx, &bytes, px);
}

Pixels Colours(std::string_view file) {
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

void ExpectNear(const Pixels& found, const Pixels& wanted, int tolerance) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], tolerance) << i;
}

Pixels Repeated(const Pixels& pixel, int count) {
  Pixels all;
  for (int i = 0; i < count; ++i) all.insert(all.end(), pixel.begin(), pixel.end());
  return all;
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

TEST(DecodeGray, WeighsColoursAlikeInPngAndJpeg) {
  struct Case {
    Pixels colour;
    uint8_t luma;
  };
  for (const Case& c :
       {Case{{255, 255, 255}, 255}, Case{{0, 0, 0}, 0}, Case{{255, 0, 0}, 76}, Case{{0, 255, 0}, 150}, Case{{0, 0, 255}, 29}}) {
    FakeJob job;
    wf_tensor png, jpeg;
    const Pixels pixels = Repeated(c.colour, 64);
    ASSERT_EQ(Decode(job, Png(8, 8, PNG_FORMAT_RGB, pixels.data()), &png), 0) << job.message;
    ASSERT_EQ(Decode(job, Jpeg(8, 8, pixels, TJPF_RGB, TJSAMP_444), &jpeg), 0) << job.message;
    EXPECT_EQ(png.rank, 2);
    EXPECT_EQ(png.stride[0], 8);
    EXPECT_EQ(Elements<uint8_t>(png), Pixels(64, c.luma));
    ExpectNear(Elements<uint8_t>(jpeg), Pixels(64, c.luma), 1);
  }
}

TEST(DecodeGray, LaysTransparencyOverWhite) {
  const Pixels pixels{0, 0, 0, 255};  // grey, alpha: a transparent black and an opaque black
  FakeJob job;
  wf_tensor gray;
  ASSERT_EQ(Decode(job, Png(2, 1, PNG_FORMAT_GA, pixels.data()), &gray), 0) << job.message;
  EXPECT_EQ(Elements<uint8_t>(gray), (Pixels{255, 0}));
}

TEST(DecodeGray, ReadsAScanOfTheDigitsExample) {
  std::ifstream stream(SourcePath("examples/digits/testdata/seven.png"), std::ios::binary);
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

TEST(DecodeGray, TakesTheLumaOfInks) {
  FakeJob job;
  wf_tensor gray;
  ASSERT_EQ(Decode(job, Jpeg(16, 8, Repeated({200, 40, 100, 180}, 128), TJPF_CMYK, TJSAMP_444), &gray), 0) << job.message;
  EXPECT_EQ(gray.rank, 2);
  EXPECT_EQ(gray.dim[0], 8);
  EXPECT_EQ(gray.dim[1], 16);
  EXPECT_EQ(gray.stride[0], 16);
  ExpectNear(Elements<uint8_t>(gray), Pixels(128, 67), 3);  // of the light below
}

TEST(Decode, KeepsTheColoursOfAPng) {
  Pixels rgb;
  for (int i = 0; i < 3 * 7 * 5; ++i) rgb.push_back(static_cast<uint8_t>(i * 37));
  FakeJob job;
  wf_tensor found;
  ASSERT_EQ(Decode(job, Png(7, 5, PNG_FORMAT_RGB, rgb.data()), &found, wf_n_decode), 0) << job.message;
  EXPECT_EQ(found.dtype, WF_U8);
  EXPECT_EQ(found.dim[0], 5);
  EXPECT_EQ(found.dim[1], 7);
  EXPECT_EQ(Colours(Png(7, 5, PNG_FORMAT_RGB, rgb.data())), rgb);
}

TEST(Decode, WidensGrey) {
  const Pixels grey{0, 90, 255};
  EXPECT_EQ(Colours(Png(3, 1, PNG_FORMAT_GRAY, grey.data())), (Pixels{0, 0, 0, 90, 90, 90, 255, 255, 255}));
  ExpectNear(Colours(Jpeg(8, 8, Pixels(64, 99), TJPF_GRAY, TJSAMP_GRAY)), Pixels(192, 99), 1);
}

TEST(Decode, LaysTransparencyOverWhite) {
  const Pixels rgba{9, 8, 7, 0, 9, 8, 7, 255};
  EXPECT_EQ(Colours(Png(2, 1, PNG_FORMAT_RGBA, rgba.data())), (Pixels{255, 255, 255, 9, 8, 7}));
  const Pixels half{0, 0, 0, 128};
  ExpectNear(Colours(Png(1, 1, PNG_FORMAT_RGBA, half.data())), Pixels(3, 187), 1);  // half of the light, in sRGB
}

TEST(Decode, ReadsJpeg) { ExpectNear(Colours(Jpeg(16, 24, Repeated({200, 30, 90}, 16 * 24))), Repeated({200, 30, 90}, 16 * 24), 3); }

TEST(Decode, TurnsInksIntoLight) {
  const Pixels inks = Repeated({200, 40, 100, 180}, 16 * 24);  // inverted: 255 is none
  ExpectNear(Colours(Jpeg(16, 24, inks, TJPF_CMYK, TJSAMP_444)), Repeated({141, 28, 71}, 16 * 24), 3);
  ExpectNear(Colours(Jpeg(8, 8, Pixels(4 * 64, 255), TJPF_CMYK, TJSAMP_444)), Pixels(3 * 64, 255), 1);
}

TEST(Decoders, SayWhatKindOfJpegTheyDoNotKnow) {
  std::string twelve_bits = Jpeg(8, 8, Pixels(192, 99));
  const size_t frame = twelve_bits.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  twelve_bits[frame + 4] = 12;
  for (const Decoder decoder : kDecoders) {
    FakeJob job;
    wf_tensor px;
    EXPECT_EQ(Decode(job, twelve_bits, &px, decoder), WF_FAILED);
    EXPECT_EQ(job.code, 7000);
    EXPECT_TRUE(job.message.starts_with("the JPEG image cannot be decoded: ")) << job.message;
  }
}

TEST(Decoders, RefuseWhatIsNoImage) {
  for (const std::string_view file : {"", "\x89", "GIF89a", "<svg/>", "\xff\xd8", "not an image at all"}) {
    for (const Decoder decoder : kDecoders) {
      FakeJob job;
      wf_tensor px;
      EXPECT_EQ(Decode(job, file, &px, decoder), WF_FAILED);
      EXPECT_EQ(job.code, 7000);
      EXPECT_EQ(job.message, "not a PNG or JPEG image");
    }
  }
}

TEST(Decoders, RefuseEveryTruncation) {
  Pixels noise(3 * 16 * 16);
  for (size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<uint8_t>(i * 37 + i / 7);
  const std::string png = Png(16, 16, PNG_FORMAT_RGB, noise.data());
  const std::string jpeg = Jpeg(16, 16, noise);
  noise.resize(size_t{4} * 16 * 16, 200);
  const std::string cmyk = Jpeg(16, 16, noise, TJPF_CMYK);
  // The last bytes carry no pixels: PNG's IEND chunk and the checksum before it, JPEG's end marker.
  for (const auto& [file, tail] : {std::pair(png, size_t{24}), std::pair(jpeg, size_t{2}), std::pair(cmyk, size_t{2})}) {
    for (size_t length = 8; length < file.size() - tail; ++length) {
      for (const Decoder decoder : kDecoders) {
        FakeJob job;
        wf_tensor px;
        ASSERT_EQ(Decode(job, std::string_view(file).substr(0, length), &px, decoder), WF_FAILED) << length << " of " << file.size();
        ASSERT_EQ(job.code, 7000) << job.message;
      }
    }
  }
}

TEST(Decoders, SurviveEveryFlippedByte) {
  const Pixels grey(64, 77);
  const std::string files[] = {Png(8, 8, PNG_FORMAT_GRAY, grey.data()), Jpeg(4, 4, Pixels(48, 99)), Jpeg(4, 4, Pixels(64, 99), TJPF_CMYK)};
  for (const std::string& file : files) {
    for (size_t at = 0; at < file.size(); ++at) {
      for (const uint8_t flip : {0x01, 0x80, 0xff}) {
        std::string damaged = file;
        damaged[at] = static_cast<char>(damaged[at] ^ flip);
        for (const Decoder decoder : kDecoders) {
          FakeJob job;
          job.budget = 1 << 20;
          wf_tensor px;
          const bool ok = Decode(job, damaged, &px, decoder) == 0;
          EXPECT_TRUE(ok || job.code == 7000 || job.code == 3012) << job.code;
        }
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

TEST(Decoders, RefuseHugeImagesBeforeTakingMemory) {
  const std::pair<std::string, std::string> cases[] = {
      {PngHeader(100'000, 100'000), "the image has 100000 x 100000 pixels; at most 67108864 are decoded"},
      {PngHeader(8'000, 8'000), "the PNG image is damaged: truncated"},
  };
  for (const auto& [file, message] : cases) {
    for (const Decoder decoder : kDecoders) {
      FakeJob job;
      wf_tensor px;
      EXPECT_EQ(Decode(job, file, &px, decoder), WF_FAILED);
      EXPECT_EQ(job.code, 7000);
      EXPECT_EQ(job.message, message);
      EXPECT_TRUE(job.blocks.empty());
    }
  }
}

TEST(Decoders, FailWhenMemoryIsSpent) {
  const Pixels grey(64, 77);
  for (const std::string& file : {Png(8, 8, PNG_FORMAT_GRAY, grey.data()), Jpeg(8, 8, Pixels(256, 99), TJPF_CMYK)}) {
    for (const Decoder decoder : kDecoders) {
      FakeJob job;
      job.budget = 64;
      wf_tensor px;
      EXPECT_EQ(Decode(job, file, &px, decoder), WF_FAILED);
      EXPECT_EQ(job.code, 3012);
    }
  }
}

}  // namespace
}  // namespace wf::nodes
