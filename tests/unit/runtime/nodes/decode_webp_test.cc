#include <gtest/gtest.h>
#include <webp/encode.h>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/picture_files.h"

namespace wf::nodes {
namespace {

constexpr int kWidth = 64, kHeight = 48;
constexpr uint64_t kPixels = kWidth * kHeight, kLossless = 4 * (kPixels + 17 * kWidth);

std::string Webp(uint8_t opacity, bool is_lossless) {
  Pixels rgba;
  for (uint64_t i = 0; i < kPixels; ++i) rgba.insert(rgba.end(), {static_cast<uint8_t>(i), 99, 7, i % 5 == 0 ? opacity : uint8_t{255}});
  uint8_t* bytes = nullptr;
  const size_t size = is_lossless ? WebPEncodeLosslessRGBA(rgba.data(), kWidth, kHeight, 4 * kWidth, &bytes)
                                  : WebPEncodeRGBA(rgba.data(), kWidth, kHeight, 4 * kWidth, 80, &bytes);
  std::string file(reinterpret_cast<char*>(bytes), size);
  WebPFree(bytes);
  return file;
}

TEST(Decoders, CountWhatLibwebpHoldsOfAPictureAsTheJobsMemoryUntilItIsDecoded) {
  struct Case {
    uint8_t opacity;
    bool is_lossless;
    uint64_t claimed;
  };
  for (const auto& [opacity, is_lossless, claimed] :
       {Case{255, false, 0}, Case{255, true, kLossless}, Case{100, true, kLossless}, Case{100, false, kLossless + kPixels}}) {
    const std::string file = Webp(opacity, is_lossless);
    for (const Decoder decoder : kDecoders) {
      wf_tensor px;
      FakeJob rich;
      const uint64_t before = rich.budget;
      ASSERT_EQ(Decode(rich, file, &px, decoder), 0) << rich.message;
      EXPECT_EQ(rich.claimed, 0U);
      const uint64_t result = before - rich.budget;
      FakeJob exact;
      exact.budget = claimed + result;
      EXPECT_EQ(Decode(exact, file, &px, decoder), 0) << exact.message;
      FakeJob poor;
      poor.budget = claimed + result - 1;
      EXPECT_EQ(Decode(poor, file, &px, decoder), WF_FAILED);
      EXPECT_EQ(poor.code, 3012);
      EXPECT_EQ(poor.claimed, 0U);
    }
  }
}

TEST(Decoders, GiveBackWhatTheyClaimedForADamagedWebp) { ExpectGivenBackWhereCut(Webp(100, true)); }

}  // namespace
}  // namespace wf::nodes
