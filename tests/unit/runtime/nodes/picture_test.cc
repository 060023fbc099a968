#include "runtime/nodes/picture.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

TEST(OverWhite, MixesLight) {
  const auto light = [](double value) { return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4); };
  for (int value = 0; value < 256; ++value) {
    for (int opacity = 0; opacity < 256; ++opacity) {
      const double mixed = (light(value / 255.0) * opacity + 255 - opacity) / 255;
      const double wanted = 255 * (mixed <= 0.0031308 ? mixed * 12.92 : 1.055 * std::pow(mixed, 1 / 2.4) - 0.055);
      ASSERT_NEAR(OverWhite(static_cast<uint8_t>(value), static_cast<uint8_t>(opacity)), wanted, 0.51) << value << " " << opacity;
    }
  }
}

std::string Tiff(std::string_view order, std::string_view entries, char count) {
  const bool is_big = order == "MM";
  return std::string(order) + (is_big ? std::string("\0\x2a\0\0\0\x08\0", 7) + count : std::string("\x2a\0\x08\0\0\0", 6) + count + '\0') +
         std::string(entries);
}

TEST(Exif, TellsTheOrientationInEitherOrderOfBytes) {
  EXPECT_EQ(Orientation(Tiff("MM", std::string_view("\x01\x12\0\3\0\0\0\1\0\6\0\0", 12), 1)), 6);
  EXPECT_EQ(Orientation(Tiff("II", std::string_view("\x12\x01\3\0\1\0\0\0\x08\0\0\0", 12), 1)), 8);
  EXPECT_EQ(Orientation(Tiff("II", std::string_view("\x00\x01\3\0\1\0\0\0\x07\0\0\0\x12\x01\3\0\1\0\0\0\3\0\0\0", 24), 2)), 3);
}

TEST(Exif, SaysNothingWhereItCannotBeRead) {
  const std::string good = Tiff("MM", std::string_view("\x01\x12\0\3\0\0\0\1\0\6\0\0", 12), 1);
  for (size_t length = 0; length < good.size() - 2; ++length) EXPECT_EQ(Orientation(std::string_view(good).substr(0, length)), 1) << length;
  for (const char value : {'\0', '\x09', '\x7f'})
    EXPECT_EQ(Orientation(Tiff("MM", std::string("\x01\x12\0\3\0\0\0\1\0", 9) + value + std::string(2, '\0'), 1)), 1);
  EXPECT_EQ(Orientation(Tiff("MM", std::string_view("\x01\x12\0\4\0\0\0\1\0\0\0\6", 12), 1)), 1);  // not a SHORT
  EXPECT_EQ(Orientation(std::string_view("MM\0\x2a\xff\xff\xff\xff", 8)), 1);                      // the directory is nowhere
  EXPECT_EQ(Orientation("not TIFF at all"), 1);
}

TEST(Exif, IsFoundInEveryFormat) {
  const std::string tiff = Tiff("MM", std::string_view("\x01\x12\0\3\0\0\0\1\0\6\0\0", 12), 1);  // 22 bytes
  const std::string exif = std::string("Exif\0\0", 6) + tiff;
  const auto jpeg = [&](const std::string& before) { return "\xff\xd8" + before + std::string("\xff\xe1\0\x1e", 4) + exif + "\xff\xda"; };
  EXPECT_EQ(OrientationOfJpeg(View(jpeg(""))), 6);
  EXPECT_EQ(OrientationOfJpeg(View(jpeg(std::string("\xff\xe0\0\4ab\xff\xff", 8)))), 6);
  EXPECT_EQ(OrientationOfJpeg(View(jpeg(std::string("\xff\xda\0\4ab", 6)))), 1);  // behind the pixels
  EXPECT_EQ(OrientationOfJpeg(View(jpeg(std::string("\xff\xe0\0\1", 4)))), 1);    // a segment that does not hold its own length
  const std::string png = "\x89PNG\r\n\x1a\n" + std::string("\0\0\0\2abcd12....", 14) +
                          std::string(
                              "\0\0\0\x16"
                              "eXIf",
                              8) +
                          tiff;
  EXPECT_EQ(OrientationOfPng(View(png)), 6);
  const std::string webp = "RIFF....WEBP" + std::string("VP8 \1\0\0\0x.", 10) + std::string("EXIF\x1c\0\0\0", 8) + exif;
  EXPECT_EQ(OrientationOfWebp(View(webp)), 6);
  for (const auto find : {OrientationOfJpeg, OrientationOfPng, OrientationOfWebp}) {
    for (const std::string& file : {jpeg(""), png, webp}) {
      for (size_t length = 0; length + 4 < file.size(); ++length) {
        const std::string cut = file.substr(0, length);
        const int found = find(View(cut));
        EXPECT_TRUE(found == 1 || found == 6);
      }
    }
  }
}

}  // namespace
}  // namespace wf::nodes
