#include <gtest/gtest.h>
#include <png.h>
#include <webp/encode.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/picture_files.h"
#include "tests/unit/support/source_path.h"

namespace wf::nodes {
namespace {

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

// Lossless; the pixels of the file are those given, but where they are transparent.
std::string Webp(int width, int height, const Pixels& rgba) {
  uint8_t* bytes = nullptr;
  const size_t size = WebPEncodeLosslessRGBA(rgba.data(), width, height, 4 * width, &bytes);
  std::string file(reinterpret_cast<char*>(bytes), size);
  WebPFree(bytes);
  return file;
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

// 16 bits a channel, from the coarsest pixels to the finest.
std::string InterlacedPng(uint32_t width, uint32_t height, std::vector<uint16_t> pixels, int colours = PNG_COLOR_TYPE_GRAY) {
  std::string file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  const auto add = [](png_structp to, png_bytep bytes, size_t length) {
    static_cast<std::string*>(png_get_io_ptr(to))->append(reinterpret_cast<char*>(bytes), length);
  };
  png_set_write_fn(png, &file, add, nullptr);
  png_set_IHDR(png, info, width, height, 16, colours, PNG_INTERLACE_ADAM7, PNG_COMPRESSION_TYPE_BASE, PNG_FILTER_TYPE_BASE);
  png_write_info(png, info);
  png_set_swap(png);
  std::vector<png_bytep> rows;
  for (uint32_t y = 0; y < height; ++y) rows.push_back(reinterpret_cast<png_bytep>(pixels.data() + pixels.size() / height * y));
  png_write_image(png, rows.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

TEST(DecodeGray, ReadsInterlacedPngOf16Bits) {
  std::vector<uint16_t> pixels;
  Pixels wanted;
  for (int i = 0; i < 11 * 9; ++i) {
    wanted.push_back(static_cast<uint8_t>(i * 23));
    pixels.push_back(static_cast<uint16_t>(257 * wanted.back()));
  }
  FakeJob job;
  wf_tensor gray;
  ASSERT_EQ(Decode(job, InterlacedPng(11, 9, pixels), &gray), 0) << job.message;
  EXPECT_EQ(Elements<uint8_t>(gray), wanted);
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
    ASSERT_EQ(Decode(job, Jpeg(8, 8, pixels, {JCS_RGB, true}), &jpeg), 0) << job.message;
    EXPECT_EQ(png.rank, 2);
    EXPECT_EQ(png.stride[0], 8);
    EXPECT_EQ(Elements<uint8_t>(png), Pixels(64, c.luma));
    ExpectNear(Elements<uint8_t>(jpeg), Pixels(64, c.luma), 1);
  }
}

TEST(DecodeGray, LaysTransparencyOverWhite) {
  const Pixels pixels{0,   0, 0,
                      255, 0, 254};  // grey, alpha: a transparent black, an opaque one, and one that lets a 255th of the light through
  FakeJob job;
  wf_tensor gray;
  ASSERT_EQ(Decode(job, Png(3, 1, PNG_FORMAT_GA, pixels.data()), &gray), 0) << job.message;
  EXPECT_EQ(Elements<uint8_t>(gray), (Pixels{255, 0, 13}));
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
  ASSERT_EQ(Decode(job, Jpeg(16, 8, Repeated({200, 40, 100, 180}, 128), {JCS_CMYK, true}), &gray), 0) << job.message;
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
  ExpectNear(Colours(Jpeg(8, 8, Pixels(64, 99), {JCS_GRAYSCALE})), Pixels(192, 99), 1);
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
  ExpectNear(Colours(Jpeg(16, 24, inks, {JCS_CMYK, true})), Repeated({141, 28, 71}, 16 * 24), 3);
  ExpectNear(Colours(Jpeg(8, 8, Pixels(4 * 64, 255), {JCS_CMYK, true})), Pixels(3 * 64, 255), 1);
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
  for (const std::string_view file : {"", "\x89", "GIF89a", "<svg/>", "\xff\xd8", "not an image at all", "RIFF....WEBQ"}) {
    for (const Decoder decoder : kDecoders) {
      FakeJob job;
      wf_tensor px;
      EXPECT_EQ(Decode(job, file, &px, decoder), WF_FAILED);
      EXPECT_EQ(job.code, 7000);
      EXPECT_EQ(job.message, "not a PNG, JPEG, WebP or BMP image");
    }
  }
}

TEST(Decoders, RefuseEveryTruncation) {
  Pixels noise(3 * 16 * 16);
  for (size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<uint8_t>(i * 37 + i / 7);
  const std::string png = Png(16, 16, PNG_FORMAT_RGB, noise.data());
  const std::string jpeg = Jpeg(16, 16, noise);
  noise.resize(size_t{4} * 16 * 16, 200);
  const std::string cmyk = Jpeg(16, 16, noise, {JCS_CMYK});
  const std::string webp = Webp(16, 16, noise), bmp = Bmp({16, 16, 24, 0, std::string(size_t{3} * 16 * 16, 'x')});
  // The last bytes carry no pixels: PNG's IEND chunk and the checksum before it, JPEG's end marker, WebP's filling.
  for (const auto& [file, tail] : {std::pair(png, size_t{24}), std::pair(jpeg, size_t{2}), std::pair(cmyk, size_t{2}),
                                   std::pair(webp, size_t{3}), std::pair(bmp, size_t{0})}) {
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
  const std::string files[] = {Png(8, 8, PNG_FORMAT_GRAY, grey.data()), Jpeg(4, 4, Pixels(48, 99)), Jpeg(4, 4, Pixels(64, 99), {JCS_CMYK}),
                               Webp(4, 4, Pixels(64, 99)), Bmp({4, 4, 8, 1, std::string("\4\0\0\0\0\4abcd\0\2\1\1\2\3\0\1", 18)})};
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

// 16000 by 16000, as far as its head says.
std::string JpegHeader() {
  std::string file = Jpeg(8, 8, Pixels(size_t{3} * 64, 77));
  return file.replace(file.find("\xff\xc0") + 5, 4, "\x3e\x80\x3e\x80");
}

TEST(Decoders, RefuseHugeImagesBeforeTakingMemory) {
  const std::pair<std::string, std::string> cases[] = {
      {PngHeader(16'000, 16'000), "the image has 16000 x 16000 pixels; at most 67108864 are decoded"},
      {JpegHeader(), "the image has 16000 x 16000 pixels; at most 33554432 are decoded"},
      {PngHeader(100'000, 100'000), "the image has 100000 x 100000 pixels; at most 67108864 are decoded"},
      {PngHeader(8'000, 8'000), "the PNG image is damaged: truncated"},
      {Bmp({100'000, 100'000, 24, 0, ""}), "the image has 100000 x 100000 pixels; at most 67108864 are decoded"},
      {Bmp({0x7fffffff, -0x7fffffff, 1, 0, ""}), "the image has 2147483647 x 2147483647 pixels; at most 67108864 are decoded"},
      {Bmp({8'000, 8'000, 24, 0, "few"}), "the BMP image is damaged: truncated"},
      // Lossless, 16383 by 16383.
      {std::string("RIFF\x12\0\0\0WEBPVP8L\5\0\0\0\x2f\xfe\xbf\xff\x0f\0\0\0\0\0\0\0\0\0", 34),
       "the image has 16383 x 16383 pixels; at most 33554432 are decoded"},
  };
  for (const auto& [file, message] : cases) {
    for (const Decoder decoder : kDecoders) {
      FakeJob job;
      wf_tensor px;
      EXPECT_EQ(Decode(job, file, &px, decoder), WF_FAILED);
      EXPECT_EQ(job.code, CodeOf(message));
      EXPECT_EQ(job.message, message);
      EXPECT_TRUE(job.blocks.empty());
    }
  }
}

TEST(Decoders, FailWhenMemoryIsSpent) {
  const Pixels grey(64, 77);
  for (const std::string& file : {Png(8, 8, PNG_FORMAT_GRAY, grey.data()), Jpeg(8, 8, Pixels(256, 99), {JCS_CMYK}),
                                  Webp(8, 8, Pixels(256, 99)), Bmp({8, 8, 24, 0, std::string(size_t{3} * 64, 'x')})}) {
    for (const Decoder decoder : kDecoders) {
      FakeJob job;
      job.budget = 64;
      wf_tensor px;
      EXPECT_EQ(Decode(job, file, &px, decoder), WF_FAILED);
      EXPECT_EQ(job.code, 3012);
    }
  }
}

TEST(Decode, KeepsTheColoursOfALosslessWebp) {
  Pixels rgba;
  for (int i = 0; i < 7 * 5; ++i)
    rgba.insert(rgba.end(), {static_cast<uint8_t>(i * 37), static_cast<uint8_t>(i * 11), static_cast<uint8_t>(200 - i), 255});
  Pixels rgb = rgba;
  for (size_t i = 0; i < 35; ++i) std::copy_n(rgba.begin() + static_cast<long>(4 * i), 3, rgb.begin() + static_cast<long>(3 * i));
  rgb.resize(size_t{3} * 35);
  EXPECT_EQ(Colours(Webp(7, 5, rgba)), rgb);
}

TEST(Decode, LaysTransparencyOverWhiteAlikeInEveryFormat) {
  Pixels rgba;
  for (int i = 0; i < 256; ++i)
    rgba.insert(rgba.end(), {static_cast<uint8_t>(i), static_cast<uint8_t>(255 - i), 90, static_cast<uint8_t>(i == 0 ? 1 : i * 7)});
  EXPECT_EQ(Colours(Png(16, 16, PNG_FORMAT_RGBA, rgba.data())), Colours(Webp(16, 16, rgba)));
  std::vector<uint16_t> wide;
  for (const uint8_t value : rgba) wide.push_back(static_cast<uint16_t>(257 * value));
  EXPECT_EQ(Colours(InterlacedPng(16, 16, wide, PNG_COLOR_TYPE_RGB_ALPHA)), Colours(Webp(16, 16, rgba)));
  const std::string masks = Number(0xff, 4) + Number(0xff00, 4) + Number(0xff0000, 4) + Number(0xff000000, 4);
  ExpectNear(Colours(Bmp({16, -16, 32, 6, masks + std::string(rgba.begin(), rgba.end()), 16})), Colours(Webp(16, 16, rgba)), 0);
}

TEST(Decode, DividesAJpegAsFarAsTheLeastSizeLeavesIt) {
  const std::string file = Jpeg(100, 80, Repeated({200, 30, 90}, 8000));
  struct Case {
    Least least;
    int64_t height, width;
  };
  const Case cases[] = {{{}, 80, 100},           {{{10, 1}, {12, 1}}, 10, 13},   {{{10, 1}, {13, 1}}, 20, 25},
                        {{{11, 1}, {}}, 20, 25}, {{{}, {26, 1}}, 40, 50},        {{{41, 1}, {1, 1}}, 80, 100},
                        {{{-5, 1}, {}}, 10, 13}, {{{INT64_MAX, 1}, {}}, 80, 100}};
  for (const Case& c : cases) {
    for (const Decoder decoder : kDecoders) {
      FakeJob job;
      wf_tensor px;
      ASSERT_EQ(Decode(job, file, &px, decoder, c.least), 0) << job.message;
      EXPECT_EQ(px.dim[0], c.height);
      EXPECT_EQ(px.dim[1], c.width);
    }
  }
}

// A picture of each format, of 640 by 480 pixels.
std::vector<std::pair<std::string, std::string>> LargeFiles() {
  Pixels noise(size_t{4} * 640 * 480);
  uint32_t state = 1;
  for (uint8_t& value : noise) value = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  const std::string pixels(noise.begin(), noise.end());
  std::string runs;
  for (int i = 0; i < 480; ++i) runs += std::string("\xff\1\xff\2\x82\3\0\0", 8);
  return {{"png", Png(640, 480, PNG_FORMAT_RGB, noise.data())},
          {"jpeg", Jpeg(640, 480, noise)},
          {"progressive jpeg", Jpeg(640, 480, noise, {JCS_RGB, false, true})},
          {"jpeg of inks", Jpeg(640, 480, noise, {JCS_CMYK})},
          {"webp", Webp(640, 480, noise)},
          {"bmp", Bmp({640, 480, 24, 0, pixels})},
          {"bmp of runs", Bmp({640, 480, 8, 1, runs})}};
}

TEST(Decoders, EndOnceTheyAreStopped) {
  for (const auto& [name, file] : LargeFiles()) {
    for (const Decoder decoder : kDecoders) {
      FakeJob job;
      job.stop = 1;
      wf_tensor px;
      EXPECT_EQ(Decode(job, file, &px, decoder), WF_FAILED) << name;
      EXPECT_EQ(job.code, 0) << name << ": " << job.message;
    }
  }
}

TEST(Pixels, AreThoseThatTheHeaderClaims) {
  for (const auto& [name, file] : LargeFiles()) {
    EXPECT_EQ(wf_pixels(View(file)), 640U * 480) << name;
    for (size_t length = 0; length < 100; ++length) {  // in a block of its size
      const Pixels begin(file.begin(), file.begin() + static_cast<long>(length));
      const uint64_t found = wf_pixels({begin.data(), length});
      EXPECT_TRUE(found == 0 || found == 640U * 480) << name << " " << length;
    }
  }
  EXPECT_EQ(wf_pixels(View(Bmp({7, -5, 24, 0, ""}))), 35U);
  EXPECT_EQ(wf_pixels(View(PngHeader(8192, 8192))), uint64_t{WF_MAX_PNG_PIXELS});
  EXPECT_EQ(wf_pixels(View(PngHeader(8193, 8192))), 0U);  // refused at once
  EXPECT_EQ(wf_pixels(View(Bmp({INT32_MIN, INT32_MIN, 24, 0, ""}))), 0U);
  for (const std::string_view none : {"", "GIF89a", "\xff\xd8\xff\xda", "BM", "RIFF....WEBP"}) EXPECT_EQ(wf_pixels(View(none)), 0U);
}

TEST(Pixels, AreFoundBehindMarkersWithoutALength) {
  const std::string jpeg = Jpeg(8, 8, Pixels(192, 99)), marked = std::string("\xff\xd8\xff\xd0\xff\x01\xff\xff\xd7", 9) + jpeg.substr(2);
  EXPECT_EQ(Colours(marked), Colours(jpeg));
  EXPECT_EQ(wf_pixels(View(marked)), 64U);
}

TEST(Pixels, AreTheMostWhereTheyAreFarIntoAJpeg) {
  const std::string jpeg = Jpeg(8, 8, Pixels(192, 99));
  EXPECT_EQ(wf_pixels(View("\xff\xd8" + std::string(1000, '\xff') + jpeg.substr(2))), 64U);
  EXPECT_EQ(wf_pixels(View("\xff\xd8" + std::string(5000, '\xff') + jpeg.substr(2))), uint64_t{WF_MAX_JPEG_PIXELS});
}

// What precedes the pixels of a JPEG: EXIF with the orientation alone.
std::string WithOrientation(const std::string& jpeg, char orientation) {
  const std::string tiff = std::string("MM\0\x2a\0\0\0\x08\0\1\x01\x12\0\3\0\0\0\1\0", 19) + orientation + std::string(6, '\0');
  const std::string exif = std::string("Exif\0\0", 6) + tiff;
  return jpeg.substr(0, 2) + "\xff\xe1" + std::string(1, '\0') + static_cast<char>(exif.size() + 2) + exif + jpeg.substr(2);
}

TEST(Decode, TurnsAPictureAsExifTells) {
  const int corners[9][4] = {{},           {0, 1, 2, 3}, {1, 0, 3, 2}, {3, 2, 1, 0}, {2, 3, 0, 1},
                             {0, 2, 1, 3}, {2, 0, 3, 1}, {3, 1, 2, 0}, {1, 3, 0, 2}};
  Pixels px(size_t{16} * 32);  // quarters of 8 by 16 with levels 10, 60, 110, 160
  for (size_t i = 0; i < px.size(); ++i) px[i] = static_cast<uint8_t>(10 + 50 * ((i % 32 >= 16 ? 1 : 0) + (i >= 256 ? 2 : 0)));
  const std::string file = Jpeg(32, 16, px, {JCS_GRAYSCALE});
  for (char orientation = 1; orientation <= 8; ++orientation) {
    for (const Decoder decoder : kDecoders) {
      FakeJob job;
      wf_tensor found;
      ASSERT_EQ(Decode(job, WithOrientation(file, orientation), &found, decoder), 0) << job.message;
      const int64_t height = found.dim[0], width = found.dim[1];
      EXPECT_EQ(height, orientation < 5 ? 16 : 32);
      EXPECT_EQ(width, orientation < 5 ? 32 : 16);
      for (int64_t corner = 0; corner < 4; ++corner) {
        const int64_t y = corner / 2 * (height - 1), x = corner % 2 * (width - 1);
        const auto* data = static_cast<const uint8_t*>(found.data);
        EXPECT_NEAR(data[y * found.stride[0] + x * found.stride[1]], 10 + 50 * corners[static_cast<int>(orientation)][corner], 3)
            << int{orientation};
      }
    }
  }
  FakeJob job;
  wf_tensor found;
  ASSERT_EQ(Decode(job, WithOrientation(file, 6), &found, wf_n_decode, {{16, 1}, {8, 1}}), 0)
      << job.message;  // sizes of the upright picture
  EXPECT_EQ(found.dim[0], 16);
  EXPECT_EQ(found.dim[1], 8);
}

}  // namespace
}  // namespace wf::nodes
