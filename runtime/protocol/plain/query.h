#pragma once

#include "runtime/bus/bus.h"
#include "runtime/protocol/http/head.h"

namespace wf::plain {

// A raw body: the required parameter is the body, the others come from the query or their defaults.
wf_code ReadRawRequest(bus::Bus& bus, const http::Head& head, wf_bytes body);

}  // namespace wf::plain
