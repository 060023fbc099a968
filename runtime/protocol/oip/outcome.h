#pragma once

#include <vector>

#include "runtime/bus/bus.h"
#include "runtime/protocol/codes.h"
#include "runtime/protocol/oip/request.h"

namespace wf::oip {

// What the answers of all dialects say beside the results.

// The name that the call used, and the version that ran.
struct Served {
  std::string_view model;
  int64_t version = 1;
};

// A copy in the memory of the bus; empty where there is none.
std::string_view Keep(bus::Bus& bus, std::string_view text, std::string_view more = {});

// Of one key the textually last counts, of one place the newest.   Cost: O(annotations x keys).
std::vector<const bus::Annotation*> StandingAnnotations(const bus::Bus& bus);

// Failures of tasks say which sample they are of; those of the whole call (its inputs, its deadline) do not. Texts are in the memory of the
// bus.
protocol::ErrorText FailureOf(bus::Bus& bus, const bus::Failure& failure, const InferRequest& request);

}  // namespace wf::oip
