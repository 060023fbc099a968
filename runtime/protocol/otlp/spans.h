#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/base/clock.h"
#include "runtime/base/sink.h"

namespace wf::otlp {

// A request, or the execution of a node within one. Texts outlive the process's threads.
struct Span {
  uint64_t trace_high = 0, trace_low = 0, id = 0, parent = 0;  // parent: 0: the trace begins with this one
  base::TimePoint begin = 0, end = 0;
  std::string_view service, workflow;  // of a request; empty: none was found
  std::string_view protocol;           // of a request
  std::string_view node;               // empty: a request
  uint64_t data_id = 0;
  int64_t wait_ns = 0, element = -1;
  uint32_t rows = 0, attempt = 0, left_out = 0;  // left_out: of a request: executions for which it had no room
  int32_t code = 0;
  int16_t status = 0;                        // of HTTP; of a request
  std::shared_ptr<const std::string> state;  // `tracestate`; null: none
};

// Who tells it. `unix_offset_ns`: what is added to points of time to count from 1970.
struct Teller {
  std::string_view service, version;
  int64_t unix_offset_ns = 0;
};

// An ExportTraceServiceRequest.
void PutTraces(std::span<const Span> spans, const Teller& teller, wf_sink* out);

}  // namespace wf::otlp
