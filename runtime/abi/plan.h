// The plan: what wfc emits as constant data and the runtime interprets. Exact match only: plan.o refers to the symbol wf_abi_<hash of this folder's
// headers and table>, which only the matching archive defines, so a mismatch does not link. Nobody writes to a plan.
//
// A workflow is a tree of regions. A region is straight data flow: tasks with countdowns over slots. Branch arms, fan-out elements and attempts of a node
// with timeout, retry or fallback are regions of their own, entered by a task of the parent. Only WF_RUN bodies and pick functions are machine code.
// A failed value is a state that the runtime keeps beside the countdowns (readers are skipped with the same failure); generated code never sees it.
#pragma once

#include "runtime/abi/values.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wf_sink wf_sink;                                        /* the response: a chain of buffers */

// Calls of generated code into the runtime: any thread, none waits, none throws.
// Sets the slot's data, stride and space; its dims, rank and dtype are set by the caller. Memory: arena, or a batch row.
wf_code wf_out(wf_ctx *, void *const *frame, uint16_t slot) WF_NOEXCEPT;

typedef wf_code (*wf_run_fn)(wf_ctx *, void *const *frame);            /* frame[0] own, frame[k] k-th enclosing; writes only its out slot; runs to its end */
typedef int64_t (*wf_pick_fn)(wf_ctx *, void *const *frame);           /* SELECT: arm; EACH: element count; negative: WF_FAILED */
typedef uint64_t (*wf_work_fn)(void *const *frame);                    /* units of work of this call; NULL: 1 */

// ---- types ----
enum { WF_T_SCALAR = 1, WF_T_STRING, WF_T_BYTES, WF_T_TENSOR, WF_T_RECORD, WF_T_LIST, WF_T_MAP, WF_T_OPTIONAL };
typedef struct wf_field {
  wf_bytes name, text;                       /* text: what stands before its value in JSON, `,"name":` */
  uint32_t offset;
  uint16_t type, reserved;
} wf_field;
typedef struct wf_type {
  uint8_t kind, dtype, rank, reserved;       /* dtype: of SCALAR and TENSOR */
  uint16_t element, n_fields;                /* element: of LIST, MAP, OPTIONAL */
  uint32_t size, align;                      /* of the value's fixed part: a tensor's is wf_tensor, a string's wf_bytes, a list's wf_list */
  uint32_t has_offset, map_value_offset;     /* OPTIONAL: of `has`; MAP: of the value within an entry of map_entry_size bytes */
  uint32_t map_entry_size, reserved2;
  const wf_field *fields;                    /* RECORD: declared order */
  const int64_t *dim;                        /* TENSOR: -1 free */
  wf_bytes name;                             /* as written, for messages: "f32[1, h, w]", "Line" */
} wf_type;

// ---- slots, tasks, regions ----
enum { WF_IN_FRAME /* elements at frame+data */, WF_DYNAMIC /* by wf_out */, WF_STAGED /* by wf_out; sole reader is a model */, WF_CONSTANT };
typedef struct wf_slot {
  uint32_t offset, size, data;               /* offset: of the value's fixed part in its region's frame; size: bytes of the fixed part; data: WF_IN_FRAME only */
  uint16_t type, region;
  uint8_t store, reserved[3];
} wf_slot;

enum { WF_RUN, WF_MODEL, WF_REMOTE, WF_ENTER, WF_SELECT, WF_EACH, WF_RETURN };
enum { WF_INLINE, WF_COMPUTE };              /* cost classes: the prior that measurement corrects */
enum {
  WF_CONTROL = 1,                            /* a control point: a failure here fails the region at once; what it gates lists it among its waits */
  WF_BLOCKING = 2,                           /* extern node: always to the pool */
};
typedef struct wf_task {                     /* 64 bytes */
  uint8_t kind, cost_class;
  uint16_t region, node, policy;             /* policy: index or WF_NONE */
  uint16_t out, chain;                       /* slot written, or WF_NONE; next task of this strand or WF_NONE */
  uint16_t n_in, n_next;
  const uint16_t *in, *next;                 /* slots read (MODEL, REMOTE: in port order); tasks whose countdown drops when this one ends: of its region, or of those inside that SELECTs alone enter */
  union { wf_run_fn run; wf_pick_fn pick; } fn;
  wf_work_fn work;
  float cost_ns, cost_ns_per_unit;
  uint16_t target, n_targets, window, flags; /* model or first region; number of arms (regions target..target+n-1); most EACH elements in flight, or the place of what a RUN annotates, in textual order; WF_CONTROL... */
} wf_task;

// One frame per entry, attempt and element: countdowns (memcpy of waits), then slots.
typedef struct wf_region {
  const uint16_t *waits;                     /* initial countdown of each task: number of tasks that list it in `next` */
  uint32_t frame_bytes, element_offset;      /* where EACH stores the uint64_t index in a body's frame */
  uint16_t parent, first_task, n_tasks, first_slot, n_slots, result;   /* parent: WF_NONE for a root; result: own slot that is copied to the entering task's out slot */
  uint16_t on_error, node;                   /* failure edge of a region entered by WF_ENTER: the fallback region (its slot 0 is {code, message, node} = err), or WF_NONE */
} wf_region;

// slot 0 of a fallback region
typedef struct wf_error { int32_t code; wf_bytes message, node; } wf_error;

// ---- policies, models, workflows ----
typedef struct wf_pad { uint16_t port, axis; int32_t mul, div, add; } wf_pad;   /* extent on this axis = floor((symbol * mul + add) / div); inputs are padded, outputs cropped */
enum { WF_HIGH, WF_NORMAL, WF_LOW };
typedef struct wf_policy {
  int64_t timeout_ns, delay_ns;              /* 0: none; delay: most that a row waits for company */
  const int64_t *bucket;
  const wf_pad *pad, *crop;
  uint32_t batch_max, queue_max;             /* batch_max 0: `batch auto`; queue_max 0: follows the batch (defaults.h) */
  uint16_t n_buckets, n_pads, n_crops, retry, instances, threads;
  uint8_t priority, space, device, precision;   /* precision: a dtype (WF_F32, WF_BF16), 0 auto */
} wf_policy;

typedef struct wf_node { wf_bytes path; uint32_t line, stage; } wf_node;   /* "Read/texts/Recognise": errors, metrics, traces; stage: index into stages */
typedef struct wf_stage { wf_bytes workflow, name; } wf_stage;

// dtype of a model's port of strings, and of tensors of them between a call and its model: elements are wf_bytes. A call has a string for
// rank 0, a list for rank 1; no model has others.
enum { WF_TEXTS = 64 };

// A parameter, a result, or an input or output of a model. The slot of a workflow's port is in its root region.
typedef struct wf_port {
  wf_bytes name;
  const int64_t *dim;                        /* -1 free; NULL when not a tensor and no model's list of strings */
  const void *if_missing;                    /* default value, laid out as the type; NULL: none */
  uint16_t slot, type;
  uint8_t dtype, rank, required, reserved;
} wf_port;

enum { WF_LATEST, WF_ALL, WF_SPECIFIC };
// Ports are those that calls see, without the batch axis. batch_axis: per port (inputs, then outputs) the axis in the file that holds samples, -1 none;
// drop: that axis is a literal 1 (docs/semantics.md 13).
typedef struct wf_model {
  wf_bytes name, path;                       /* path: as written, relative to the source file or the model root */
  const wf_port *in, *out;
  const int8_t *batch_axis;
  const int64_t *versions;
  uint16_t n_in, n_out, n_versions, version_policy;
  uint8_t batched, published, signature_written, mixing_allowed, reserved[4];   /* mixing_allowed: rows share runs even where they depend on one another */
  const int64_t *extents;                    /* per port (inputs, then outputs) and axis: 1 where calls check it, else 0; then the extent as base::Dim writes it. NULL: nothing is said of those that are free */
  const wf_bytes *symbols;                   /* by their numbers in `extents`, for messages; several may be called the same */
} wf_model;

// An axis of a parameter, or of a tensor in a tuple that is one, whose extent is symbol * mul + add: what JSON's `[]` leaves open follows from the others.
enum { WF_WHOLE = 65535 };                   /* axis: the parameter is an integer, and the symbol itself */
typedef struct wf_axis { uint16_t port, axis; uint32_t offset, symbol, open_by_default; int64_t mul, add; } wf_axis;   /* offset: of the wf_tensor in the slot */

typedef struct wf_workflow {
  wf_bytes name, service;                    /* name: as published (`as "name"`); service: as declared */
  const wf_port *in, *out;
  uint16_t n_in, n_out, root, service_index;
  uint16_t is_default, is_model, model, reserved;   /* the service's first; it only calls the published `model`, whose versions may be asked for */
  int64_t timeout_ns;
  uint64_t body_max;
  uint32_t inflight_max, rows_max;           /* of the service; 0, as the two above: not written (defaults.h) */
  int32_t (*find_in)(wf_bytes name);         /* perfect hash, compared; -1 unknown */
  wf_code (*read_json)(wf_ctx *, wf_bytes body, void *frame);          /* whole body with 64 readable bytes after it; fills the in slots, open axes with 0 */
  wf_code (*write_json)(wf_ctx *, const void *frame, wf_sink *);       /* other protocols are hand-written code over the port tables */
  const wf_axis *axes;                       /* of symbols that stand where JSON can leave an axis open */
  uint32_t n_axes, reserved2;
} wf_workflow;

// error NAME = code as status: for codes that no runtime knows. status: the canonical number of gRPC.
typedef struct wf_declared_error { int32_t code; uint32_t status; wf_bytes name; } wf_declared_error;

typedef struct wf_plan {
  uint32_t bytes;                            /* sizeof(wf_plan) */
  uint32_t n_workflows, n_regions, n_tasks, n_slots, n_nodes, n_stages, n_policies, n_models, n_types, n_errors;
  uint8_t source_hash[32];
  const wf_workflow *workflows; const wf_region *regions; const wf_task *tasks; const wf_slot *slots; const wf_node *nodes; const wf_stage *stages;
  const wf_policy *policies; const wf_model *models; const wf_type *types; const wf_declared_error *errors;   /* errors: by code */
} wf_plan;
extern const wf_plan wf_plan_main;

// ---- memory of folds, called by generated code ----
// What the turns of a fold allocate is given back but for the accumulator, whose blocks move; what was there before the first turn stays where it is. Folds
// within folds nest. A body that fails leaves its folds open.
typedef struct wf_fold { uint64_t word[6]; } wf_fold;                  /* of the runtime */
wf_code wf_fold_begin(wf_ctx *, wf_fold *) WF_NOEXCEPT;                /* never fails */
int32_t wf_fold_is_full(wf_ctx *, const wf_fold *, uint32_t ended) WF_NOEXCEPT;   /* after a turn, or after all: 1 where wf_fold_keep is worth its time */
int32_t wf_fold_keep(wf_ctx *, wf_fold *, const wf_type *types, uint32_t type, void *accumulator) WF_NOEXCEPT;   /* 1: done, pointers in *accumulator are others;
                                                                                                                    0: no memory to move to, *accumulator is spoilt and nothing else changed */

// ---- memory elsewhere, called by natives ----
// What a library is to take by itself for a while, of what the request may have: 1 it may; 0 there is not so much left (the failure is recorded), and nothing
// to give back. The same job gives back what it was given, once it has been freed.
int32_t wf_claim(wf_ctx *, uint64_t bytes) WF_NOEXCEPT;
void wf_unclaim(wf_ctx *, uint64_t bytes) WF_NOEXCEPT;

// ---- text and JSON, called by generated code (runtime/protocol/json defines them) ----
// wf_alloc(bytes + 64) that begins with the `used` bytes of `block`, which stays as it is: in place where `block` was allocated last, so that texts grow in
// time that follows their length.
void *wf_grow(wf_ctx *, const void *block, uint64_t used, uint64_t bytes) WF_NOEXCEPT;
// Interpolation: `format` has one hole `{}` per argument, args[i] points at a value of type types[i].
wf_code wf_text(wf_ctx *, wf_bytes format, const wf_type *const *types, const void *const *args, wf_bytes *text) WF_NOEXCEPT;
wf_code wf_put(wf_sink *, wf_bytes) WF_NOEXCEPT;       /* copies */

// A cursor over one JSON text. Failures are recorded with code 5000, the byte position and the member's path; every function then returns WF_FAILED.
typedef struct wf_json { wf_ctx *ctx; const uint8_t *begin, *at, *end; uint32_t depth, member; wf_bytes path[4]; } wf_json;
wf_code wf_json_open(wf_json *, wf_ctx *, wf_bytes body) WF_NOEXCEPT;
wf_code wf_json_object(wf_json *) WF_NOEXCEPT;                         /* enters an object */
int32_t wf_json_member(wf_json *, wf_bytes *name) WF_NOEXCEPT;         /* 1 next member, 0 end of object, WF_FAILED */
wf_code wf_json_close(wf_json *) WF_NOEXCEPT;                          /* nothing but white space follows */
wf_code wf_json_unknown(wf_json *, wf_bytes name, const wf_port *ports, uint32_t n_ports) WF_NOEXCEPT;   /* "unknown member `x`; did you mean `y`" */
wf_code wf_json_duplicate(wf_json *, wf_bytes name) WF_NOEXCEPT;
wf_code wf_json_missing(wf_json *, wf_bytes name) WF_NOEXCEPT;
wf_code wf_json_scalar(wf_json *, uint32_t dtype, void *out) WF_NOEXCEPT;         /* range-checked; integers take no fraction */
wf_code wf_json_meta(wf_ctx *, wf_bytes key, wf_bytes text, uint32_t dtype, void *out) WF_NOEXCEPT;  /* a number or bool of metadata, all of `text` */
wf_code wf_json_string(wf_json *, wf_bytes *out) WF_NOEXCEPT;
wf_code wf_json_bytes(wf_json *, wf_bytes *out) WF_NOEXCEPT;                      /* {"b64": ".."} */
wf_code wf_json_tensor(wf_json *, const wf_type *, wf_tensor *out) WF_NOEXCEPT;   /* nested arrays; checks the fixed dims; allocates */
wf_code wf_json_value(wf_json *, const wf_type *types, uint32_t type, void *out) WF_NOEXCEPT;   /* any type, by its table row */
wf_code wf_json_put_scalar(wf_ctx *, wf_sink *, uint32_t dtype, const void *) WF_NOEXCEPT;      /* NaN and infinity fail with 9000 */
wf_code wf_json_put_string(wf_ctx *, wf_sink *, const wf_bytes *) WF_NOEXCEPT;
wf_code wf_json_put_bytes(wf_ctx *, wf_sink *, const wf_bytes *) WF_NOEXCEPT;
wf_code wf_json_put_tensor(wf_ctx *, wf_sink *, const wf_tensor *) WF_NOEXCEPT;
wf_code wf_json_put_value(wf_ctx *, wf_sink *, const wf_type *types, uint32_t type, const void *) WF_NOEXCEPT;

// std.json: all of a text, which need have nothing readable behind it, as a value of the type; and the text of a value, in the job's memory.
wf_code wf_n_json_parse(wf_ctx *, const wf_bytes *text, const wf_type *types, uint32_t type, void *value) WF_NOEXCEPT;
wf_code wf_n_json_build(wf_ctx *, const void *value, const wf_type *types, uint32_t type, wf_bytes *text) WF_NOEXCEPT;

#ifdef __cplusplus
}
static_assert(sizeof(wf_task) == 64 && sizeof(wf_slot) == 20 && sizeof(wf_port) == 40);
#endif
