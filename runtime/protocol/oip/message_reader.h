#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/protocol/oip/names.h"
#include "runtime/protocol/oip/request.h"

namespace wf::oip {

// What costs time in a message are its fields, however long they are: a loop walks over so many. No call in earnest has more in its
// outermost message.
inline constexpr uint32_t kFieldsAtOnce = 1024;

// `method` as its path names it ("ModelInfer"). kNone: there is none of this name.
Call CallOf(std::string_view method);

inline constexpr std::string_view kTooManyFields = "the message has more than 65536 fields";
static_assert(kMaxFields == 65'536);

enum class RouteRead : uint8_t { kDone, kBroken, kManyFields };

// What a call of inference.GRPCInferenceService asks for, model and version out of the message, as views of it; and how much of a
// ModelInferRequest are raw tensors. Errors: kBroken for bytes that are no such message, kManyFields for more than `most_fields`.
RouteRead ReadRoute(std::string_view method, wf_bytes message, uint32_t most_fields, Route* route, uint64_t* raw_bytes);

// The `id` of a ModelInferRequest that may not be read: that of its route, else one among its first kFieldsAtOnce fields; empty: none, or
// no UTF-8.
std::string_view IdOf(const Route& route, wf_bytes message);

// Where the first raw tensor of a ModelInferRequest begins, of which these are the first bytes; 0: not in them.
size_t RawAt(std::span<const uint8_t> begin);

// Reads a ModelInferRequest into `request`. 64 bytes behind the message are readable.
// Errors: 5000, naming the input; 3000 for what is not built.   Bounds: kMaxFields.
wf_code ReadMessage(InferRequest* request, wf_ctx* scratch, const wf_plan& plan, const wf_workflow& workflow, wf_bytes message);

}  // namespace wf::oip
