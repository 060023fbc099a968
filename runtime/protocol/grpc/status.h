#pragma once

#include "runtime/base/sink.h"
#include "runtime/base/status.h"
#include "runtime/protocol/codes.h"
#include "runtime/protocol/http/head.h"

namespace wf::grpc {

inline constexpr http::Header kOk = {"grpc-status", "0"};
inline constexpr auto kUnauthenticated = base::StatusCode{16};  // a refusal before any work, which no work ends in

// Adds the fields that end a call which failed: `grpc-status`, `grpc-message`, the error's code, name, path and ids as `wf-..`, and all of
// it once more as `grpc-status-details-bin`: a google.rpc.Status with an ErrorInfo. Bounds: texts are cut so that clients which take 8 KiB
// of fields take these.   Cost: no allocation where `fields` has room and no text needs its bytes escaped.
void PutStatus(const protocol::ErrorText& error, base::StatusCode status, http::Head* fields);

}  // namespace wf::grpc
