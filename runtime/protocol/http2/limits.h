#pragma once

#include <cstdint>

#include "runtime/protocol/http/head.h"

namespace wf::http2 {

// What one connection may ask for.
struct Limits {
  uint32_t streams = 100;
  uint32_t stream_window = 1 << 20, connection_window = 4 << 20;
  int64_t control_frames = 1000;  // at once; refilled in 30 s
  http::Limits head = {};
};

}  // namespace wf::http2
