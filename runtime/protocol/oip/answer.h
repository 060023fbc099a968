#pragma once

#include "runtime/base/sink.h"
#include "runtime/bus/bus.h"
#include "runtime/protocol/codes.h"
#include "runtime/protocol/oip/request.h"

namespace wf::oip {

// The results of every sample, stacked, or the failure. `body` holds copies: it does not refer to the bus.
protocol::Answer WriteAnswer(bus::Bus& bus, const InferRequest& request, std::string_view model, int64_t version, wf_sink* body);

}  // namespace wf::oip
