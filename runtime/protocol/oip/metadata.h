#pragma once

#include <string_view>

#include "runtime/abi/plan.h"
#include "runtime/base/sink.h"

namespace wf::oip {

void WriteServerMetadata(wf_sink* out);
// Shapes begin with -1: the axis of samples.
void WriteModelMetadata(const wf_plan& plan, const wf_workflow& workflow, std::string_view name, wf_sink* out);
void WriteModelReady(std::string_view name, bool ready, wf_sink* out);
void WriteError(int32_t code, std::string_view message, wf_sink* out);  // {"error", "code"}

}  // namespace wf::oip
