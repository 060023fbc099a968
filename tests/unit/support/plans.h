// Plans written by hand in C, as wfc would emit them.
#pragma once

#include "runtime/abi/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

// workflow Hello(name: string) -> (text: string) { require len(name) > 0 else fail InputParams; node text = greet(name); return text; }
extern const wf_plan hello_plan;

// workflow Classify(pixels: f32[4]) -> (scores: f32[2]) { node scaled = scale(pixels); node logits = Model(scaled); node scores =
// half(logits); return; } scaled and logits form a strand.
extern const wf_plan classify_plan;

#ifdef __cplusplus
}
#endif
