#pragma once

#include <string_view>
#include <vector>

#include "runtime/base/sink.h"
#include "runtime/bus/bus.h"
#include "runtime/protocol/codes.h"
#include "runtime/protocol/http/head.h"

namespace wf::plain {

inline constexpr std::string_view kJson = "application/json";

// Fills the parameters of the bus's one sample. Not 0: the bus is to be rejected with it.
// `body` has 64 readable bytes behind it and outlives the bus, as `head` does.
wf_code ReadRequest(bus::Bus& bus, const http::Head& head, wf_bytes body);

// The parameter that a body which is not JSON stands for: the only required one of type bytes. Null: there is none.
const wf_port* RawBodyOf(const wf_plan& plan, const wf_workflow& workflow);

// Is the body JSON? The content type says so, but for those that clients put in unasked (none, or that of a form): then a body is JSON when
// it begins as an object does whose first member is a parameter.
bool IsJsonBody(const wf_plan& plan, const wf_workflow& workflow, std::string_view content_type, wf_bytes body);

// Encodes what the bus came to: the results, or its failure. Appends to `headers` the annotations, as views into the bus.
protocol::Answer WriteAnswer(bus::Bus& bus, wf_sink* body, std::vector<http::Header>* headers);

void WriteError(const protocol::ErrorText& error, wf_sink* body);

}  // namespace wf::plain
