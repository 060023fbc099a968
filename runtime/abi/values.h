// Values as generated code, the runtime and extern nodes see them. C11 and C++20, LP64 little-endian, natural alignment.
// Stable: extern nodes of users compile against this file alone. docs/plan_abi.md draws the layouts.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
#define WF_NOEXCEPT noexcept
extern "C" {
#else
#define WF_NOEXCEPT
#endif

enum { WF_MAX_RANK = 8, WF_ALIGN = 64, WF_NONE = 0xffff, WF_FAILED = -1 /* recorded already: return it */ };

// Element types of tensors and scalars. WF_BF16 and WF_F16 are storage only: no arithmetic is done in them.
enum {
  WF_BOOL = 1, WF_I8, WF_I16, WF_I32, WF_I64, WF_U8, WF_U16, WF_U32, WF_U64, WF_F16, WF_BF16, WF_F32, WF_F64,
  WF_DTYPE_COUNT
};

// 0 is ok, else a code of docs/errors (5000 InputParams, 6000 Timeout, ...) or WF_FAILED; text and path are kept by wf_fail.
typedef int32_t wf_code;

// string, bytes: a view of the request's body, of the arena or of a constant; no NUL. string is valid UTF-8.
typedef struct wf_bytes { const uint8_t *ptr; uint64_t len; } wf_bytes;

// list<T>: T[len]; map<T>: {wf_bytes key; T value}[len], sorted by key. Records are C structs in declared order; T? is {T value; uint8_t has}.
// Every value lives until its bus is freed, but what a turn of a fold has made and does not hand on.
typedef struct wf_list { void *ptr; uint64_t len; } wf_list;

// data: 64-aligned, readable up to the next multiple of 64 bytes. stride: in elements; the last is 1, outer ones differ from the dense ones only in
// a padded row. space: 0 host memory.
typedef struct wf_tensor {
  void *data;
  uint8_t dtype, rank, space, flags;
  uint32_t device;
  int64_t dim[WF_MAX_RANK], stride[WF_MAX_RANK];
} wf_tensor;

// The head of the job that runs generated or native code. A loop of more than 100 us loads *stop (relaxed) and returns WF_FAILED when it is set.
typedef struct wf_ctx { const uint32_t *stop; } wf_ctx;

// Memory from this job's own chunks, freed with the bus. align: a power of two, at most 64. NULL when the request's budget is spent (the failure is
// recorded): return WF_FAILED.
void *wf_alloc(wf_ctx *, uint64_t bytes, uint64_t align) WF_NOEXCEPT;

// Records a failure of this job and returns WF_FAILED; the first one stands. Copies text. site: source line, 0 unknown.
wf_code wf_fail(wf_ctx *, wf_code, uint32_t site, wf_bytes text) WF_NOEXCEPT;

// Request metadata by key: 1 found, 0 absent. The view lives as long as the bus.
int32_t wf_meta(const wf_ctx *, wf_bytes key, wf_bytes *value) WF_NOEXCEPT;

// Response metadata; kept in the job, merged by the loop unless the reply has left. Copies both.
wf_code wf_annotate(wf_ctx *, wf_bytes key, wf_bytes value) WF_NOEXCEPT;

#ifdef __cplusplus
}
static_assert(sizeof(wf_bytes) == 16 && sizeof(wf_list) == 16 && sizeof(wf_tensor) == 16 + 16 * WF_MAX_RANK);
#endif
