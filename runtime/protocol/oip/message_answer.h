#pragma once

#include "runtime/base/sink.h"
#include "runtime/bus/bus.h"
#include "runtime/protocol/codes.h"
#include "runtime/protocol/oip/outcome.h"
#include "runtime/protocol/oip/request.h"

namespace wf::oip {

// The results of every sample, stacked, as a ModelInferResponse; `message` holds copies. Raw, unless the call asks for no output that way.
// False: the call failed, and `error` says how, in the memory of the bus.
bool WriteMessage(bus::Bus& bus, const InferRequest& request, const Served& served, wf_sink* message, protocol::ErrorText* error);

}  // namespace wf::oip
