#include "tests/unit/support/plans.h"

#include <stddef.h>
#include <string.h>

#define TEXT(literal) {(const uint8_t*)(literal), sizeof(literal) - 1}
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- hello ---- */

static const wf_type hello_types[] = {{WF_T_STRING, 0, 0, 0, 0, 0, sizeof(wf_bytes), 8, 0, 0, 0, 0, NULL, NULL, TEXT("string")}};
static const wf_slot hello_slots[] = {{8, 16, 0, 0, 0, WF_DYNAMIC, {0}}, {24, 16, 0, 0, 0, WF_DYNAMIC, {0}}};

static wf_code hello_require(wf_ctx* ctx, void* const* frame) {
  const wf_bytes* name = (const wf_bytes*)((const char*)frame[0] + 8);
  static const wf_bytes text = TEXT("name is empty");
  return name->len > 0 ? 0 : wf_fail(ctx, 5000, 2, text);
}

static wf_code hello_greet(wf_ctx* ctx, void* const* frame) {
  const wf_bytes* name = (const wf_bytes*)((const char*)frame[0] + 8);
  wf_bytes* text = (wf_bytes*)((char*)frame[0] + 24);
  uint8_t* out = wf_alloc(ctx, name->len + 7, 1);
  if (out == NULL) return WF_FAILED;
  memcpy(out, "hello, ", 7);
  memcpy(out + 7, name->ptr, name->len);
  text->ptr = out;
  text->len = name->len + 7;
  return 0;
}

static const uint16_t hello_in0[] = {0}, hello_in1[] = {1}, hello_next0[] = {1, 2}, hello_next1[] = {2};
static const wf_task hello_tasks[] = {
    {WF_RUN,
     WF_INLINE,
     0,
     WF_NONE,
     WF_NONE,
     WF_NONE,
     WF_NONE,
     1,
     2,
     hello_in0,
     hello_next0,
     {hello_require},
     NULL,
     50,
     0,
     0,
     0,
     0,
     WF_CONTROL},
    {WF_RUN, WF_INLINE, 0, 0, WF_NONE, 1, WF_NONE, 1, 1, hello_in0, hello_next1, {hello_greet}, NULL, 100, 0, 0, 0, 0, 0},
    {WF_RETURN, WF_INLINE, 0, WF_NONE, WF_NONE, WF_NONE, WF_NONE, 1, 0, hello_in1, NULL, {NULL}, NULL, 0, 0, 0, 0, 0, 0},
};
static const uint16_t hello_waits[] = {0, 1, 2};
static const wf_region hello_regions[] = {{hello_waits, 40, 0, WF_NONE, 0, 3, 0, 2, WF_NONE, WF_NONE, WF_NONE}};
static const wf_node hello_nodes[] = {{TEXT("Hello/text"), 3, 0}};
static const wf_stage hello_stages[] = {{TEXT("Hello"), TEXT("s1")}};
static const wf_port hello_in[] = {{TEXT("name"), NULL, NULL, 0, 0, 0, 0, 1, 0}};
static const wf_port hello_out[] = {{TEXT("text"), NULL, NULL, 1, 0, 0, 0, 1, 0}};
static const wf_workflow hello_workflows[] = {
    {TEXT("Hello"), TEXT("Greeter"), hello_in, hello_out, 1, 1, 0, 0, 1, 0, 0, 0, 0, 1 << 20, 256, 1024, NULL, NULL, NULL, NULL, 0, 0}};
const wf_plan hello_plan = {sizeof(wf_plan),
                            1,
                            1,
                            3,
                            2,
                            1,
                            1,
                            0,
                            0,
                            1,
                            0,
                            {0},
                            hello_workflows,
                            hello_regions,
                            hello_tasks,
                            hello_slots,
                            hello_nodes,
                            hello_stages,
                            NULL,
                            NULL,
                            hello_types,
                            NULL};

/* ---- classify ---- */

static const int64_t four[] = {4}, two[] = {2};
static const wf_type classify_types[] = {
    {WF_T_TENSOR, WF_F32, 1, 0, 0, 0, sizeof(wf_tensor), 8, 0, 0, 0, 0, NULL, four, TEXT("f32[4]")},
    {WF_T_TENSOR, WF_F32, 1, 0, 0, 0, sizeof(wf_tensor), 8, 0, 0, 0, 0, NULL, two, TEXT("f32[2]")},
};
enum { PIXELS = 64, SCALED = 208, LOGITS = 352, SCORES = 496 };
static const wf_slot classify_slots[] = {
    {PIXELS, sizeof(wf_tensor), 0, 0, 0, WF_DYNAMIC, {0}},
    {SCALED, sizeof(wf_tensor), 0, 0, 0, WF_STAGED, {0}},
    {LOGITS, sizeof(wf_tensor), 0, 1, 0, WF_DYNAMIC, {0}},
    {SCORES, sizeof(wf_tensor), 640, 1, 0, WF_IN_FRAME, {0}},
};

static wf_code map(wf_ctx* ctx, void* const* frame, int from, int to, uint16_t slot, float factor) {
  const wf_tensor* in = (const wf_tensor*)((const char*)frame[0] + from);
  wf_tensor* out = (wf_tensor*)((char*)frame[0] + to);
  out->dtype = WF_F32;
  out->rank = 1;
  out->dim[0] = in->dim[0];
  if (wf_out(ctx, frame, slot) != 0) return WF_FAILED;
  for (int64_t i = 0; i < in->dim[0]; ++i) ((float*)out->data)[i] = ((const float*)in->data)[i] * factor;
  return 0;
}
static wf_code classify_scale(wf_ctx* ctx, void* const* frame) { return map(ctx, frame, PIXELS, SCALED, 1, 2); }
static wf_code classify_half(wf_ctx* ctx, void* const* frame) { return map(ctx, frame, LOGITS, SCORES, 3, 0.5f); }

static const uint16_t slot0[] = {0}, slot1[] = {1}, slot2[] = {2}, slot3[] = {3}, task1[] = {1}, task2[] = {2}, task3[] = {3};
static const wf_task classify_tasks[] = {
    {WF_RUN, WF_COMPUTE, 0, 0, WF_NONE, 1, 1, 1, 1, slot0, task1, {classify_scale}, NULL, 300, 0, 0, 0, 0, 0},
    {WF_MODEL, WF_COMPUTE, 0, 1, 0, 2, WF_NONE, 1, 1, slot1, task2, {NULL}, NULL, 0, 0, 0, 0, 0, 0},
    {WF_RUN, WF_INLINE, 0, 2, WF_NONE, 3, WF_NONE, 1, 1, slot2, task3, {classify_half}, NULL, 100, 0, 0, 0, 0, 0},
    {WF_RETURN, WF_INLINE, 0, WF_NONE, WF_NONE, WF_NONE, WF_NONE, 1, 0, slot3, NULL, {NULL}, NULL, 0, 0, 0, 0, 0, 0},
};
static const uint16_t classify_waits[] = {0, 1, 1, 1};
static const wf_region classify_regions[] = {{classify_waits, 704, 0, WF_NONE, 0, 4, 0, 4, WF_NONE, WF_NONE, WF_NONE}};
static const wf_node classify_nodes[] = {{TEXT("Classify/scaled"), 3, 0}, {TEXT("Classify/logits"), 4, 1}, {TEXT("Classify/scores"), 5, 2}};
static const wf_stage classify_stages[] = {{TEXT("Classify"), TEXT("s1")}, {TEXT("Classify"), TEXT("s2")}, {TEXT("Classify"), TEXT("s3")}};
static const wf_policy classify_policies[] = {{0, 0, NULL, NULL, NULL, 8, 64, 0, 0, 0, 0, 1, 1, WF_NORMAL, 0, 0, WF_F32}};
static const wf_port model_in[] = {{TEXT("x"), four, NULL, WF_NONE, 0, WF_F32, 1, 1, 0}};
static const wf_port model_out[] = {{TEXT("y"), two, NULL, WF_NONE, 1, WF_F32, 1, 1, 0}};
static const int8_t model_axis[] = {0, 0};
static const wf_model classify_models[] = {
    {TEXT("Model"), TEXT("model.onnx"), model_in, model_out, model_axis, NULL, 1, 1, 0, WF_LATEST, 1, 0, 0, 0, {0}, NULL, NULL}};
static const wf_port classify_in[] = {{TEXT("pixels"), four, NULL, 0, 0, WF_F32, 1, 1, 0}};
static const wf_port classify_out[] = {{TEXT("scores"), two, NULL, 3, 1, WF_F32, 1, 1, 0}};
static const wf_workflow classify_workflows[] = {{TEXT("Classify"),
                                                  TEXT("Digits"),
                                                  classify_in,
                                                  classify_out,
                                                  1,
                                                  1,
                                                  0,
                                                  0,
                                                  1,
                                                  0,
                                                  0,
                                                  0,
                                                  0,
                                                  1 << 20,
                                                  256,
                                                  1024,
                                                  NULL,
                                                  NULL,
                                                  NULL,
                                                  NULL,
                                                  0,
                                                  0}};
const wf_plan classify_plan = {sizeof(wf_plan),
                               1,
                               1,
                               COUNT(classify_tasks),
                               COUNT(classify_slots),
                               3,
                               3,
                               1,
                               1,
                               2,
                               0,
                               {0},
                               classify_workflows,
                               classify_regions,
                               classify_tasks,
                               classify_slots,
                               classify_nodes,
                               classify_stages,
                               classify_policies,
                               classify_models,
                               classify_types,
                               NULL};
