#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

#include "compiler/load/histogram.h"
#include "compiler/load/target.h"
#include "runtime/base/status.h"

namespace wf::load {

struct Plan {
  Target target;
  std::string request;      // its bytes, head and body
  int connections = 16;     // one request in flight on each
  double rate = 0;          // requests a second, evenly spaced, whatever the answers take; 0: the next one follows its answer
  int64_t measured_ns = 0;  // in which requests are due
  int64_t timeout_ns = 0;   // of a request, after which its connection is closed
};

struct Outcome {
  Histogram good;                     // of answers below 400: from when the request was due to the end of its answer
  Histogram wrong;                    // of the others
  std::map<int, uint64_t> by_status;  // of all answers
  uint64_t lost = 0;                  // connections that ended, or said what is no HTTP, before the answer
  uint64_t refused = 0;               // connections that could not be made, after the first
  uint64_t timed_out = 0;
  uint64_t not_sent = 0;    // due, but every connection was waiting for an answer until the end
  int64_t measured_ns = 0;  // shorter than the plan's when stopped
  std::string first_wrong;  // the first answer from 400: "422 {"error":...", cut
};

// Sends one request again and again from one thread.
// A request that is due while all connections wait counts its wait: what a client of a given rate sees, not what a patient one does.
// Errors: kUnavailable: nothing listens, or every connection is refused; kResourceExhausted: not as many descriptors.
// `stop` may be set by a signal: what was measured until then is the outcome.
base::Result<Outcome> Generate(const Plan& plan, const std::atomic<bool>& stop);

}  // namespace wf::load
