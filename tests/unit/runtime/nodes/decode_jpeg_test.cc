#include <gtest/gtest.h>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/picture_files.h"

namespace wf::nodes {
namespace {

TEST(Decoders, CountWhatAProgressiveJpegTakesAsTheJobsMemoryUntilItIsDecoded) {
  const Pixels pixels(size_t{3} * 64 * 64, 99);
  for (const bool is_progressive : {false, true}) {
    for (const Least least : {Least{}, Least{{1, 1}, {1, 1}}}) {  // at an eighth of the size it takes as much
      for (const Decoder decoder : kDecoders) {
        const std::string file = Jpeg(64, 64, pixels, {JCS_RGB, false, is_progressive});
        constexpr uint64_t kCoefficientBytes = 2 * 6144;  // half of the colours' resolution
        FakeJob poor;
        poor.budget = kCoefficientBytes + 63;
        wf_tensor px;
        const bool has_room = !is_progressive && (decoder == wf_n_decode_gray || least.height.has != 0);
        EXPECT_EQ(Decode(poor, file, &px, decoder, least), has_room ? 0 : WF_FAILED);
        EXPECT_EQ(poor.code, has_room ? 0 : 3012);
        EXPECT_EQ(poor.claimed, 0U);
        FakeJob job;
        ASSERT_EQ(Decode(job, file, &px, decoder, least), 0) << job.message;
        const uint64_t kept = job.budget;
        EXPECT_EQ(job.claimed, 0U);
        FakeJob exact;
        exact.budget = (uint64_t{256} << 20) - kept + (is_progressive ? kCoefficientBytes : 0);
        EXPECT_EQ(Decode(exact, file, &px, decoder, least), 0) << exact.message;
      }
    }
  }
}

TEST(Decoders, GiveBackWhatTheyClaimedForADamagedJpeg) {
  const std::string file = Jpeg(64, 64, Pixels(size_t{3} * 64 * 64, 99), {JCS_RGB, false, true});
  for (const Decoder decoder : kDecoders) {
    FakeJob job;
    wf_tensor px;
    EXPECT_EQ(Decode(job, file.substr(0, file.size() - 40), &px, decoder), WF_FAILED);
    EXPECT_EQ(job.code, 7000);
    EXPECT_EQ(job.claimed, 0U);
  }
}

}  // namespace
}  // namespace wf::nodes
