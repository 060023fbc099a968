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

// The same as one message of a stream, a ModelStreamInferResponse.
void WriteStreamed(wf_sink* response, wf_sink* message);
// A failure as one: `error_message`, and the call's id with the rest of the error as parameters, so that a client knows which call it was.
void WriteStreamedError(std::string_view id, const protocol::ErrorText& error, wf_sink* message);

}  // namespace wf::oip
