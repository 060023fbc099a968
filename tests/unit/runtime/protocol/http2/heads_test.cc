#include "runtime/protocol/http2/heads.h"

#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace wf::http2 {
namespace {

using Texts = std::vector<std::pair<std::string, std::string>>;

// What nghttp2, a reader by others, makes of the frames.
class HeadsTest : public testing::Test {
 protected:
  HeadsTest() {
    EXPECT_EQ(nghttp2_hd_inflate_new(&inflater_), 0);
    writer_.Open();
  }
  ~HeadsTest() override { nghttp2_hd_inflate_del(inflater_); }

  // The frames of a head; status 0: of trailers.
  std::string Write(int status, const Texts& fields, bool ends = false) {
    writer_.Begin(status);
    for (const auto& [name, value] : fields) writer_.Put(name, value);
    wf_sink out;
    EXPECT_TRUE(writer_.End(5, ends));
    EXPECT_FALSE(writer_.empty());
    EXPECT_TRUE(writer_.MoveTo(&out));
    EXPECT_TRUE(writer_.empty());
    std::string text;
    for (const base::SinkPiece& piece : out.Pieces()) text.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
    return text;
  }
  // One HEADERS and what CONTINUATION it takes.
  static std::string BlockOf(const std::string& frames, bool ends) {
    std::string block;
    size_t at = 0;
    while (at < frames.size()) {
      const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(frames[at + i])); };
      const size_t length = byte(0) << 16 | byte(1) << 8 | byte(2);
      EXPECT_LE(length, 16384U);
      EXPECT_EQ(byte(3), at == 0 ? 1U : 9U);
      EXPECT_EQ(byte(4), (at == 0 && ends ? 1U : 0U) | (at + 9 + length == frames.size() ? 4U : 0U));
      EXPECT_EQ(frames.substr(at + 5, 4), std::string("\0\0\0\5", 4));
      block += frames.substr(at + 9, length);
      at += 9 + length;
    }
    EXPECT_EQ(at, frames.size());
    return block;
  }
  Texts Read(const std::string& block) {
    Texts fields;
    const auto* at = reinterpret_cast<const uint8_t*>(block.data());
    size_t left = block.size();
    for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
      nghttp2_nv field;
      const ssize_t used = nghttp2_hd_inflate_hd2(inflater_, &field, &flags, at, left, 1);
      EXPECT_GE(used, 0);
      if (used < 0) return {{"broken", ""}};
      at += used;
      left -= static_cast<size_t>(used);
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0)
        fields.emplace_back(std::string(reinterpret_cast<const char*>(field.name), field.namelen),
                            std::string(reinterpret_cast<const char*>(field.value), field.valuelen));
    }
    nghttp2_hd_inflate_end_headers(inflater_);
    return fields;
  }
  // Both ways; how many bytes the frames have.
  size_t Check(int status, const Texts& fields, bool ends = false) {
    const std::string frames = Write(status, fields, ends);
    Texts expected;
    if (status != 0) expected.emplace_back(":status", std::to_string(status));
    expected.insert(expected.end(), fields.begin(), fields.end());
    EXPECT_EQ(Read(BlockOf(frames, ends)), expected);
    return frames.size();
  }
  void SetTableBytes(uint32_t bytes) {
    writer_.SetTableBytes(bytes);
    EXPECT_EQ(nghttp2_hd_inflate_change_table_size(inflater_, bytes), 0);
  }

  HeadWriter writer_;
  nghttp2_hd_inflater* inflater_ = nullptr;
};

const Texts kCall = {
    {"date", "Sun, 06 Nov 1994 08:49:37 GMT"}, {"content-type", "application/grpc"}, {"grpc-accept-encoding", "identity,gzip,deflate"}};

TEST_F(HeadsTest, WhatIsSaidAgainIsAByte) {
  EXPECT_GT(Check(200, kCall), 80U);
  EXPECT_EQ(Check(200, kCall), 9U + 4);
  EXPECT_GT(Check(0, {{"grpc-status", "0"}}, true), 9U + 1);
  EXPECT_EQ(Check(0, {{"grpc-status", "0"}}, true), 9U + 1);
  EXPECT_EQ(Check(200, kCall), 9U + 4);
}

TEST_F(HeadsTest, EachStatusIsRead) {
  for (const int status : {100, 200, 204, 206, 304, 400, 404, 429, 500, 503, 599}) Check(status, {{"x-any", std::to_string(status)}});
}

TEST_F(HeadsTest, AnEmptyTextIsAField) { Check(200, {{"x-empty", ""}, {"vary", ""}}); }

TEST_F(HeadsTest, LongFieldsGoOnInFramesOfTheirOwn) {
  for (const size_t bytes : {size_t{126}, size_t{127}, size_t{255}, size_t{16'000}, size_t{16'384}, size_t{40'000}, size_t{60'000}}) {
    Check(200, {{"x-long", std::string(bytes, 'a')}, {"content-type", "text/plain"}, {std::string(200, 'n'), "v"}}, true);
    Check(0, {{"x-long", std::string(bytes, 'b')}}, true);
  }
}

TEST_F(HeadsTest, HeadsMayWaitForOneAnother) {
  std::string expected, at_once;
  HeadWriter other;
  other.Open();
  wf_sink out;
  for (int i = 0; i < 300; ++i) {
    const std::string text(static_cast<size_t>(i * 37 % 1500), 'w');
    for (HeadWriter* const writer : {&writer_, &other}) {
      writer->Begin(i % 2 == 0 ? 200 : 0);
      writer->Put("x-text", text);
      writer->Put("date", std::to_string(i / 5));
      EXPECT_TRUE(writer->End(static_cast<uint32_t>(i), i % 3 == 0));
    }
    EXPECT_TRUE(other.MoveTo(&out));
  }
  wf_sink all;
  EXPECT_TRUE(writer_.MoveTo(&all));
  for (const base::SinkPiece& piece : out.Pieces()) expected.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  for (const base::SinkPiece& piece : all.Pieces()) at_once.append(reinterpret_cast<const char*>(piece.data), piece.bytes);
  EXPECT_EQ(at_once, expected);
}

TEST_F(HeadsTest, AConnectionBeginsWithAnEmptyTable) {
  Check(200, kCall);
  nghttp2_hd_inflate_del(inflater_);
  ASSERT_EQ(nghttp2_hd_inflate_new(&inflater_), 0);
  writer_.Open();
  EXPECT_GT(Check(200, kCall), 80U);
}

TEST_F(HeadsTest, APeerWithoutATableHasNone) {
  Check(200, kCall);
  SetTableBytes(0);
  const size_t first = Check(200, kCall);
  EXPECT_EQ(Check(200, kCall) + 1, first);  // which tells of the size
  SetTableBytes(100);
  SetTableBytes(4096);
  Check(200, kCall);
  EXPECT_EQ(Check(200, kCall), 9U + 4);
  SetTableBytes(1 << 20);
  EXPECT_EQ(Check(200, kCall), 9U + 4);
}

// Fields that come and go, in tables of changing sizes.
TEST_F(HeadsTest, BothSidesKeepTheSame) {
  std::mt19937 random(11);
  const auto below = [&](uint32_t count) { return static_cast<uint32_t>(random() % count); };
  constexpr const char* kNames[] = {"date",        "content-type", "grpc-status",   "grpc-encoding", "vary", "content-encoding",
                                    "retry-after", "x-other",      "content-length"};
  for (int i = 0; i < 20'000; ++i) {
    if (below(50) == 0) SetTableBytes(below(3) == 0 ? 0 : below(600));
    if (below(200) == 0) SetTableBytes(4096);
    Texts fields;
    for (uint32_t count = below(8); count > 0; --count)
      fields.emplace_back(kNames[below(std::size(kNames))], std::string(below(90), static_cast<char>('a' + below(3))));
    Check(below(3) == 0 ? 0 : 200, fields);
    if (HasFailure()) FAIL() << "head " << i;
  }
}

}  // namespace
}  // namespace wf::http2
