#include "runtime/nodes/jpeg.h"

#include <jerror.h>

#include <algorithm>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {
namespace {

// A file may have any number of scans, each over the whole image and in a few bytes. The first is what every file has; those behind it read
// at most this many coefficients, five times all of the largest picture in three colours. What encoders write reads them two to four times.
constexpr int kMostScans = 500;
constexpr uint64_t kMostCoefficients = uint64_t{512} << 20;
constexpr int kLeastOfABlock = 16;     // which takes the time of as many, however few a scan has of it
constexpr int kTimesOfArithmetic = 4;  // that of a coefficient against Huffman's code

// What reading this scan costs.
uint64_t CoefficientsOf(const jpeg_decompress_struct& jpeg) {
  const uint64_t blocks = uint64_t{jpeg.MCUs_per_row} * jpeg.MCU_rows_in_scan * static_cast<uint64_t>(jpeg.blocks_in_MCU);
  const int each = std::max(jpeg.Se - jpeg.Ss + 1, kLeastOfABlock) * (jpeg.arith_code != 0 ? kTimesOfArithmetic : 1);
  return blocks * static_cast<uint64_t>(each);
}

}  // namespace

JpegCall::JpegCall(wf_ctx* ctx) : ctx_(ctx) {
  jpeg_std_error(&errors_);
  errors_.error_exit = OnError;
  errors_.emit_message = OnMessage;
  progress_.progress_monitor = OnProgress;
}

void JpegCall::HandleErrorsOf(j_common_ptr jpeg) {
  jpeg->err = &errors_;
  jpeg->client_data = this;
}

void JpegCall::OnError(j_common_ptr jpeg) {
  JpegCall& call = Of(jpeg);
  if (jpeg->err->msg_code == JERR_OUT_OF_MEMORY) call.end_ = End::kNoMemory;
  jpeg->err->format_message(jpeg, call.message_);
  call.exit_.Leave();
}

void JpegCall::OnMessage(j_common_ptr jpeg, int level) {
  if (level >= 0) return;  // below: the data are wrong, and the library would make something up
  Of(jpeg).end_ = End::kDamage;
  OnError(jpeg);
}

void JpegCall::OnProgress(j_common_ptr jpeg) {
  JpegCall& call = Of(jpeg);
  if (Stopped(call.ctx_)) {
    call.end_ = End::kStop;
    call.exit_.Leave();
  }
  if (jpeg->is_decompressor != 0) call.CountScans(*reinterpret_cast<j_decompress_ptr>(jpeg));
}

// Once for each scan, before it is read.
void JpegCall::CountScans(const jpeg_decompress_struct& jpeg) {
  if (jpeg.input_scan_number == scans_) return;
  scans_ = jpeg.input_scan_number;
  coefficients_ += CoefficientsOf(jpeg);
  if (scans_ > kMostScans)
    std::snprintf(message_, sizeof message_, "more than %d scans", kMostScans);
  else if (coefficients_ > kMostCoefficients)
    std::snprintf(message_, sizeof message_, "more than %llu Mi coefficients in the first %d scans",
                  static_cast<unsigned long long>(kMostCoefficients >> 20), scans_);
  else
    return;
  exit_.Leave();
}

wf_code JpegCall::Fail(const char* what, const char* damaged) const {
  if (end_ == End::kStop) return WF_FAILED;
  return nodes::Fail(ctx_, end_ == End::kNoMemory ? code::kMemoryCap : code::kType, "%s: %s", end_ == End::kDamage ? damaged : what,
                     message_);
}

}  // namespace wf::nodes
