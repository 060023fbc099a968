#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/abi/plan.h"
#include "runtime/base/sink.h"
#include "runtime/base/status.h"
#include "runtime/protocol/codes.h"

namespace wf::oip {

void WriteServerMetadata(wf_sink* out);
void WriteHealth(std::string_view what, bool good, wf_sink* out);  // {"live": true}
// Shapes begin with -1: the axis of samples.
void WriteModelMetadata(const wf_plan& plan, const wf_workflow& workflow, std::string_view name, std::span<const int64_t> versions,
                        wf_sink* out);
void WriteModelReady(std::string_view name, bool ready, wf_sink* out);
// {"error": message, "code", "name", "path", "data_id", "log_id"}
void WriteError(const protocol::ErrorText& error, wf_sink* out);

// The HTTP status of this dialect, by the canonical one: refusals and deadlines are 503.
int OipStatus(base::StatusCode code);

}  // namespace wf::oip
