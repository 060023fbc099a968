#pragma once

#include <cstdint>

#include "runtime/abi/values.h"
#include "runtime/base/clock.h"

namespace wf::bus {

struct Instance;

// One execution of a node within a request that is traced.
struct NodeSpan {
  NodeSpan* next = nullptr;  // the one before
  const Instance* instance = nullptr;
  base::TimePoint begin = 0, end = 0;
  int64_t wait_ns = 0;   // of its row for a batch
  int64_t element = -1;  // of the innermost fan-out around; -1: none
  uint32_t rows = 0;     // of that batch
  uint32_t attempt = 0;
  wf_code code = 0;
  uint16_t node = 0;
  bool open = false;  // more tasks of the node are to come
};

// Thread: the loop's.   Bounds: kMost spans; those behind are counted.
struct SpanList {
  static constexpr uint32_t kMost = 256;
  NodeSpan* last = nullptr;
  uint32_t count = 0, left_out = 0;
};

}  // namespace wf::bus
