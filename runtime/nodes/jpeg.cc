#include "runtime/nodes/jpeg.h"

#include <jerror.h>

#include "runtime/nodes/failure.h"
#include "runtime/nodes/stop.h"

namespace wf::nodes {
namespace {

// A progressive file may have thousands of scans over the whole image: this bounds the time that a small file can take.
constexpr int kMostScans = 500;

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
  if (jpeg->is_decompressor == 0 || reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMostScans) return;
  std::snprintf(call.message_, sizeof call.message_, "more than %d scans", kMostScans);
  call.exit_.Leave();
}

wf_code JpegCall::Fail(const char* what, const char* damaged) const {
  if (end_ == End::kStop) return WF_FAILED;
  return nodes::Fail(ctx_, end_ == End::kNoMemory ? code::kMemoryCap : code::kType, "%s: %s", end_ == End::kDamage ? damaged : what,
                     message_);
}

}  // namespace wf::nodes
