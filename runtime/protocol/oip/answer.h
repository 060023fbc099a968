#pragma once

#include <vector>

#include "runtime/base/sink.h"
#include "runtime/bus/bus.h"
#include "runtime/protocol/codes.h"
#include "runtime/protocol/http/head.h"
#include "runtime/protocol/oip/outcome.h"
#include "runtime/protocol/oip/request.h"

namespace wf::oip {

inline constexpr std::string_view kJsonBytesHeader = "inference-header-content-length";

// The results of every sample, stacked, or the failure. `body` holds copies: it does not refer to the bus; `headers` do.
protocol::Answer WriteAnswer(bus::Bus& bus, const InferRequest& request, const Served& served, wf_sink* body,
                             std::vector<http::Header>* headers);

}  // namespace wf::oip
