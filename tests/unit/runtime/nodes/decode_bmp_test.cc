#include "tests/unit/runtime/nodes/picture_files.h"

namespace wf::nodes {
namespace {

TEST(DecodeBmp, ReadsEveryDepth) {
  const std::string palette("\x03\x02\x01\0\x13\x12\x11\0\x23\x22\x21\0", 12);  // blue, green, red, nothing; black beyond
  const Pixels none{1, 2, 3}, one{17, 18, 19}, two{33, 34, 35}, black{0, 0, 0};
  const auto joined = [](std::initializer_list<Pixels> parts) {
    Pixels all;
    for (const Pixels& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  };
  const auto with_palette = [&](uint32_t bits, const std::string& rows, int32_t height, uint32_t compression = 0) {
    return Colours(Bmp({3, height, bits, compression, palette + std::string((size_t{4} << bits) - 12 % (size_t{4} << bits), '\0') + rows,
                        size_t{4} << bits}));
  };
  EXPECT_EQ(Colours(Bmp({3, 1, 1, 0, palette.substr(0, 8) + "\xa0\0\0\0", 8})), joined({one, none, one}));
  EXPECT_EQ(with_palette(4, std::string("\x12\0\0\0", 4), 1), joined({one, two, none}));
  EXPECT_EQ(with_palette(8, std::string("\1\2\x09\0", 4), 1), joined({one, two, black}));
  EXPECT_EQ(with_palette(8, std::string("\1\1\1\0\2\2\2\0", 8), 2), joined({two, two, two, one, one, one}));  // from the bottom
  EXPECT_EQ(with_palette(8, std::string("\1\1\1\0\2\2\2\0", 8), -2), joined({one, one, one, two, two, two}));
  EXPECT_EQ(with_palette(8, std::string("\2\1\0\0\0\3\2\1\2\0\0\1", 12), 2, 1),
            joined({two, one, two, one, one, none}));  // runs, then as they are
  EXPECT_EQ(with_palette(8, std::string("\0\2\1\1\x09\2\0\1", 8), 2, 1),
            joined({none, two, two, none, none, none}));  // moves, and a run too long
  EXPECT_EQ(with_palette(4, std::string("\3\x12\0\1", 4), 1, 2), joined({one, two, one}));
  EXPECT_EQ(Colours(Bmp({1, 1, 16, 0, std::string("\x1f\x7c\0\0", 4)})), (Pixels{255, 0, 255}));  // 5, 5, 5
  EXPECT_EQ(Colours(Bmp({1, 1, 16, 3, Number(0xf800, 4) + Number(0x7e0, 4) + Number(0x1f, 4) + Number(0x7e0, 4), 12})),
            (Pixels{0, 255, 0}));
  EXPECT_EQ(Colours(Bmp({1, 1, 32, 0, std::string("\3\2\1\0", 4)})), (Pixels{1, 2, 3}));  // the fourth byte is nothing
  const std::string old = "BM" + Number(0, 8) + Number(26, 4) + Number(12, 4) + Number(1, 2) + Number(1, 2) + Number(1, 2) + Number(24, 2);
  EXPECT_EQ(Colours(old + std::string("\3\2\1\0", 4)), (Pixels{1, 2, 3}));
}

TEST(DecodeBmp, ReadsWholeBytesInRowsOfEveryLength) {
  constexpr uint8_t kNothing = 0x77;
  const std::string masks = Number(0xff0000, 4) + Number(0xff00, 4) + Number(0xff, 4),
                    others = Number(0xff, 4) + Number(0xff00, 4) + Number(0xff0000, 4);
  for (int32_t width = 1; width <= 70; ++width) {
    Pixels rgb;
    std::string rows_of_3, rows_of_4, rows_of_others;
    for (int32_t y = 0; y < 2; ++y) {
      for (int32_t x = 0; x < width; ++x) {
        const Pixels pixel{static_cast<uint8_t>(3 * x + y), static_cast<uint8_t>(200 - x), static_cast<uint8_t>(17 * x + 90 * y)};
        rgb.insert(rgb.end(), pixel.begin(), pixel.end());
        rows_of_3.append(pixel.rbegin(), pixel.rend());
        rows_of_4.append(pixel.rbegin(), pixel.rend()).push_back(static_cast<char>(kNothing));
        rows_of_others.append(pixel.begin(), pixel.end()).push_back(static_cast<char>(kNothing));
      }
      if (y == 0)
        rows_of_3.append(static_cast<size_t>(width % 4), '\0');  // to a whole number of 4 bytes; behind the last row it may be missing
    }
    EXPECT_EQ(Colours(Bmp({width, -2, 24, 0, rows_of_3})), rgb) << width;
    EXPECT_EQ(Colours(Bmp({width, -2, 32, 0, rows_of_4})), rgb) << width;
    EXPECT_EQ(Colours(Bmp({width, -2, 32, 3, masks + rows_of_4, 12})), rgb) << width;
    EXPECT_EQ(Colours(Bmp({width, -2, 32, 3, others + rows_of_others, 12})), rgb) << width;
  }
}

TEST(DecodeBmp, SaysWhatItDoesNotKnow) {
  const std::string pixels(64, 'x');
  const std::pair<std::string, std::string> cases[] = {
      {Bmp({2, 2, 7, 0, pixels}), "the BMP image cannot be decoded: bits a pixel: 7"},
      {Bmp({2, 2, 24, 4, pixels}), "the BMP image cannot be decoded: compression 4"},  // a JPEG inside
      {Bmp({0, 2, 24, 0, pixels}), "the BMP image is damaged: no pixels"},
      {Bmp({2, static_cast<int32_t>(0x80000000), 24, 0, pixels}), "the image has 2 x 2147483648 pixels; at most 67108864 are decoded"},
      {Bmp({2, 2, 32, 3, Number(0xf0f, 4) + pixels, 12}), "the BMP image is damaged: a mask with gaps"},
      {Bmp({2, 2, 8, 1, std::string(1024, 'x') + std::string("\2\1\0\0", 4), 1024}), "the BMP image is damaged: truncated"},
  };
  for (const auto& [file, message] : cases) {
    FakeJob job;
    wf_tensor px;
    EXPECT_EQ(Decode(job, file, &px, wf_n_decode), WF_FAILED);
    EXPECT_EQ(job.message, message);
    EXPECT_EQ(job.code, CodeOf(message));
  }
}

}  // namespace
}  // namespace wf::nodes
