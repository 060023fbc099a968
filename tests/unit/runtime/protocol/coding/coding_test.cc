#include "runtime/protocol/coding/coding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "runtime/protocol/coding/compressor.h"
#include "runtime/protocol/coding/expander.h"

namespace wf::coding {
namespace {

constexpr Coding kCodings[] = {Coding::kGzip, Coding::kDeflate, Coding::kZstd};

std::span<const uint8_t> Bytes(const std::string& text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

// Both ways with so many bytes of input and output at a time.
std::string Compress(Compressor& compressor, Coding coding, const std::string& text, size_t in_bytes, size_t out_bytes) {
  EXPECT_TRUE(compressor.Begin(coding));
  std::string written, place(out_bytes, '\0');
  size_t at = 0;
  while (true) {
    const size_t bytes = std::min(in_bytes, text.size() - at);
    const bool last = at + bytes == text.size();
    std::span<const uint8_t> input = Bytes(text).subspan(at, bytes);
    std::span<uint8_t> output(reinterpret_cast<uint8_t*>(place.data()), place.size());
    const Step step = compressor.Next(&input, last, &output);
    at += bytes - input.size();
    written.append(place, 0, place.size() - output.size());
    EXPECT_TRUE(step == Step::kEnd || step == Step::kNeedInput || step == Step::kNeedOutput);
    if (step == Step::kEnd) return written;
  }
}

struct Expanded {
  std::string text;
  Step last = Step::kNeedInput;
};
struct Portions {
  size_t in_bytes = 4096, out_bytes = 4096, max_bytes = size_t{1} << 24;
};
Expanded Expand(Expander& expander, Coding coding, const std::string& text, Portions portions = {}) {
  const auto [in_bytes, out_bytes, max_bytes] = portions;
  EXPECT_TRUE(expander.Begin(coding));
  Expanded expanded;
  std::string place(out_bytes, '\0');
  for (size_t at = 0; at < text.size() && expanded.text.size() < max_bytes;) {
    const size_t bytes = std::min(in_bytes, text.size() - at);
    std::span<const uint8_t> input = Bytes(text).subspan(at, bytes);
    do {
      std::span<uint8_t> output(reinterpret_cast<uint8_t*>(place.data()), place.size());
      expanded.last = expander.Next(&input, &output);
      expanded.text.append(place, 0, place.size() - output.size());
    } while (expanded.last == Step::kNeedOutput && expanded.text.size() < max_bytes);
    if (expanded.last == Step::kBroken || expanded.last == Step::kNoMemory) break;
    at += bytes;
  }
  return expanded;
}

std::string Text(size_t bytes) {
  std::mt19937 random(7);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>('a' + random() % 4);
  return text;
}

TEST(Coding, GoesOnAfterWhatWasKeptIsDropped) {
  Compressor compressor;
  Expander expander;
  const std::string text = Text(10'000);
  for (const Coding coding : kCodings) {
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(Expand(expander, coding, Compress(compressor, coding, text, 4096, 4096)).text, text);
      compressor.DropKept();
      expander.DropKept();
    }
  }
}

TEST(Coding, ComesOffAsItWentOnHoweverTheBytesCome) {
  Compressor compressor;
  Expander expander;
  for (const Coding coding : kCodings) {
    for (const size_t bytes : {size_t{0}, size_t{1}, size_t{5000}, size_t{300'000}}) {
      const std::string text = Text(bytes);
      for (const size_t portion : {size_t{1}, size_t{7}, size_t{65'536}}) {
        if (portion * 3000 < bytes) continue;
        const std::string coded = Compress(compressor, coding, text, portion, portion);
        EXPECT_LT(coded.size(), bytes / 2 + 100);
        const Expanded expanded = Expand(expander, coding, coded, {portion, portion});
        EXPECT_EQ(expanded.last, Step::kEnd) << NameOf(coding);
        EXPECT_TRUE(expanded.text == text) << NameOf(coding) << " " << bytes << " " << portion;
      }
    }
  }
}

TEST(Coding, WhatIsCutAnywhereIsNotAtItsEnd) {
  Compressor compressor;
  Expander expander;
  for (const Coding coding : kCodings) {
    const std::string coded = Compress(compressor, coding, Text(200), 4096, 4096);
    for (size_t bytes = 1; bytes < coded.size(); ++bytes)
      EXPECT_EQ(Expand(expander, coding, coded.substr(0, bytes)).last, Step::kNeedInput) << NameOf(coding) << " " << bytes;
  }
}

TEST(Coding, PartsFollowEachOtherWhereTheirFormatSaysSo) {
  Compressor compressor;
  Expander expander;
  for (const Coding coding : kCodings) {
    const std::string coded = Compress(compressor, coding, "ab", 4096, 4096);
    const Expanded two = Expand(expander, coding, coded + coded, {.in_bytes = 3});
    if (coding == Coding::kDeflate) {
      EXPECT_EQ(two.last, Step::kBroken);
    } else {
      EXPECT_EQ(two.text, "abab");
      EXPECT_EQ(two.last, Step::kEnd);
    }
    EXPECT_EQ(Expand(expander, coding, coded + "what is this").last, Step::kBroken) << NameOf(coding);
  }
}

TEST(Coding, ChangedBytesNeverPassForOthersAndNeverCrash) {
  Compressor compressor;
  Expander expander;
  std::mt19937 random(11);
  const std::string text = Text(400);
  for (const Coding coding : kCodings) {
    const std::string coded = Compress(compressor, coding, text, 4096, 4096);
    for (int i = 0; i < 2000; ++i) {
      std::string changed = coded;
      changed[random() % changed.size()] ^= static_cast<char>(1 << random() % 8);
      const Expanded expanded = Expand(expander, coding, changed, {64, 64, 100'000});
      const bool checked = coding == Coding::kGzip && expanded.last == Step::kEnd;  // by a CRC; the sum of deflate is a weak one
      EXPECT_TRUE(!checked || expanded.text == text) << i;
    }
  }
}

TEST(Coding, ALotOfNothingComesOutInPortions) {
  Compressor compressor;
  Expander expander;
  const std::string nothing(size_t{16} << 20, '\0');
  for (const Coding coding : kCodings) {
    const std::string coded = Compress(compressor, coding, nothing, 65'536, 65'536);
    EXPECT_LT(coded.size(), nothing.size() / 100);
    const Expanded expanded = Expand(expander, coding, coded, {65'536, 1000, 50'000});
    EXPECT_EQ(expanded.last, Step::kNeedOutput);  // stopped by its reader
    EXPECT_LT(expanded.text.size(), 52'000U);
  }
}

TEST(Coding, AWindowOfMoreThanEightMebibytesIsRefused) {
  Expander expander;
  // A frame of zstd whose header asks for a window of 2^27 bytes (RFC 8878, 3.1.1.1.2: exponent 17 in the upper five bits).
  const std::string frame("\x28\xb5\x2f\xfd\x00\x88\x01\x00\x00", 9);
  EXPECT_EQ(Expand(expander, Coding::kZstd, frame).last, Step::kBroken);
}

TEST(Coding, Names) {
  EXPECT_EQ(CodingOf("gzip"), Coding::kGzip);
  EXPECT_EQ(CodingOf(" GZip "), Coding::kGzip);
  EXPECT_EQ(CodingOf("x-gzip"), Coding::kGzip);
  EXPECT_EQ(CodingOf("deflate"), Coding::kDeflate);
  EXPECT_EQ(CodingOf("zstd"), Coding::kZstd);
  EXPECT_EQ(CodingOf("identity"), Coding::kIdentity);
  for (const char* name : {"", "br", "gzip, deflate", "gzi", "*"}) EXPECT_FALSE(CodingOf(name)) << name;
  for (const char* names : {"gzip", "gzip, identity", "identity,\tgzip", " , gzip,"}) EXPECT_EQ(CodingOfAll(names), Coding::kGzip) << names;
  for (const char* names : {"", ",", "identity", "identity, identity"}) EXPECT_EQ(CodingOfAll(names), Coding::kIdentity) << names;
  for (const char* names : {"gzip, gzip", "br", "gzip, br", "zstd, identity, gzip"}) EXPECT_FALSE(CodingOfAll(names)) << names;
}

TEST(Coding, AnswersAreCodedAsTheyAreAskedFor) {
  const struct {
    const char* accept;
    Coding coding;
  } rows[] = {
      {"", Coding::kIdentity},
      {"br", Coding::kIdentity},
      {"gzip", Coding::kGzip},
      {"gzip, deflate, br, zstd", Coding::kZstd},
      {"deflate, gzip;q=1.0, *;q=0.5", Coding::kGzip},
      {"gzip;q=0.5, deflate;q=0.75", Coding::kDeflate},
      {"gzip;q=0", Coding::kIdentity},
      {"identity, gzip;q=0.5", Coding::kIdentity},
      {"*", Coding::kZstd},
      {"zstd;q=0, *;q=0.1", Coding::kGzip},
      {"GZIP ; Q=0.3", Coding::kGzip},
      {",,;;,q=", Coding::kIdentity},
      {"gzip;q=0.", Coding::kIdentity},
      {"gzip;q=0.9999999999999", Coding::kGzip},
  };
  for (const auto& row : rows) EXPECT_EQ(Choose(row.accept), row.coding) << row.accept;
}

}  // namespace
}  // namespace wf::coding
