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
  ExpectGivenBackWhereCut(Jpeg(64, 64, Pixels(size_t{3} * 64 * 64, 99), {JCS_RGB, false, true}));
}

// A black square in three scans, one of each colour, of which the last is there again and again.
std::string JpegOfScans(int side, int scans, bool is_arithmetic) {
  jpeg_error_mgr errors;
  jpeg_compress_struct jpeg;
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT: libjpeg's type
  jpeg_mem_dest(&jpeg, &bytes, &size);
  jpeg.image_width = jpeg.image_height = static_cast<JDIMENSION>(side);
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg.comp_info[0].h_samp_factor = jpeg.comp_info[0].v_samp_factor = 1;
  jpeg.arith_code = is_arithmetic ? TRUE : FALSE;
  const jpeg_scan_info of_each[] = {{1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
  jpeg.scan_info = of_each;
  jpeg.num_scans = 3;
  jpeg_start_compress(&jpeg, TRUE);
  Pixels black(3 * static_cast<size_t>(side));
  for (int y = 0; y < side; ++y) {
    uint8_t* row = black.data();
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  const std::string file(reinterpret_cast<char*>(bytes), size);
  std::free(bytes);
  const size_t last = file.rfind("\xff\xda");
  const std::string scan = file.substr(last, size - 2 - last);
  std::string all = file.substr(0, last);
  for (int i = 2; i < scans; ++i) all += scan;
  return all + file.substr(size - 2);
}

// What it fails with, "" where it is decoded.
std::string MessageOf(const std::string& file) {
  FakeJob job;
  wf_tensor px;
  const wf_code code = Decode(job, file, &px);
  EXPECT_EQ(code, job.code == 0 ? 0 : WF_FAILED);
  EXPECT_TRUE(job.code == 0 || job.code == 7000) << job.code;
  EXPECT_EQ(job.claimed, 0U);
  return job.message;
}

TEST(DecodeGray, ReadsAsManyScansAsTheyAreWorth) {
  constexpr int kSide = 2048;  // 4 Mi coefficients a scan
  for (const auto& [is_arithmetic, most] : {std::pair(false, 1 + 128), std::pair(true, 1 + 32)}) {
    EXPECT_EQ(MessageOf(JpegOfScans(kSide, most, is_arithmetic)), "");
    EXPECT_EQ(MessageOf(JpegOfScans(kSide, most + 1, is_arithmetic)),
              "the JPEG image cannot be decoded: more than 512 Mi coefficients in the first " + std::to_string(most + 1) + " scans");
  }
  EXPECT_EQ(MessageOf(JpegOfScans(8, 500, false)), "");
  EXPECT_EQ(MessageOf(JpegOfScans(8, 501, false)), "the JPEG image cannot be decoded: more than 500 scans");
}

}  // namespace
}  // namespace wf::nodes
