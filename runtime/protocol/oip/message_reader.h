#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/protocol/oip/names.h"
#include "runtime/protocol/oip/request.h"

namespace wf::oip {

// What a call of inference.GRPCInferenceService asks for: `method` as its path names it ("ModelInfer"), model and version out of the
// message, as views of it. kNone: there is no such method. Errors: false for bytes that are no such message.
bool ReadRoute(std::string_view method, wf_bytes message, Route* route);

// The `id` of a ModelInferRequest that may not be read; empty: none, or no UTF-8.
std::string_view IdOf(wf_bytes message);

// Where the first raw tensor of a ModelInferRequest begins, of which these are the first bytes; 0: not in them.
size_t RawAt(std::span<const uint8_t> begin);

// Reads a ModelInferRequest into `request`. 64 bytes behind the message are readable.
// Errors: 5000, naming the input; 3000 for what is not built.
wf_code ReadMessage(InferRequest* request, wf_ctx* scratch, const wf_plan& plan, const wf_workflow& workflow, wf_bytes message);

}  // namespace wf::oip
