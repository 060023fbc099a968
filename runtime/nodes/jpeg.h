#pragma once

#include <cstdio>  // before jpeglib.h, which wants it

#include <jpeglib.h>

#include "runtime/abi/values.h"
#include "runtime/nodes/exit.h"

namespace wf::nodes {

// One use of libjpeg, which calls back at each row of blocks of each scan: what goes wrong ends it, and so do the job's being stopped and a
// file of scans that read more than it is worth.
// Thread: confined to the call.   Borrows: ctx.
class JpegCall {
 public:
  explicit JpegCall(wf_ctx* ctx);
  JpegCall(const JpegCall&) = delete;
  JpegCall& operator=(const JpegCall&) = delete;

  // Around whatever calls the library. False: Fail() says what to return.
  template <typename Body>
  bool Try(const Body& body) {
    return exit_.Try(body);
  }
  void HandleErrorsOf(j_common_ptr jpeg);  // before it is created
  void Watch(j_common_ptr jpeg) { jpeg->progress = &progress_; }
  // `what`: of "the JPEG image cannot be decoded: Unsupported JPEG data precision 12", all before the colon; `damaged` where it is the
  // bytes that are wrong.
  wf_code Fail(const char* what, const char* damaged) const;

 private:
  enum class End { kError, kDamage, kNoMemory, kStop };
  static JpegCall& Of(j_common_ptr jpeg) { return *static_cast<JpegCall*>(jpeg->client_data); }
  static void OnError(j_common_ptr jpeg);
  static void OnMessage(j_common_ptr jpeg, int level);
  static void OnProgress(j_common_ptr jpeg);
  void CountScans(const jpeg_decompress_struct& jpeg);

  wf_ctx* const ctx_;
  Exit exit_;
  End end_ = End::kError;
  int scans_ = 1;  // that were counted: not the first
  uint64_t coefficients_ = 0;
  char message_[JMSG_LENGTH_MAX] = {};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
};

}  // namespace wf::nodes
