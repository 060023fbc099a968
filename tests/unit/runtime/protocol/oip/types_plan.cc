#include "tests/unit/runtime/protocol/oip/types_plan.h"

#include <cstddef>
#include <cstring>
#include <deque>
#include <iterator>
#include <string_view>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/base/text.h"

namespace wf::test {
namespace {

wf_bytes Text(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

struct Point {
  int64_t x;
  wf_bytes label;
};
template <typename T>
struct Maybe {
  T value;
  uint8_t has;
};
struct Entry {
  wf_bytes key;
  int64_t value;
};

// Types 1..13 are the scalars, by dtype.
enum TypeIndex : uint16_t {
  kString = WF_DTYPE_COUNT,
  kBytes,
  kWords,
  kBlobs,
  kNumbers,
  kMatrix,
  kLine,
  kFlags,
  kPoint,
  kMaybe,
  kPoints,
  kInts,
  kPair,
  kTally,
  kMaybePoint,
  kMaybeTally,
  kTypes
};

constexpr uint32_t kFirst = 64, kStep = 192;  // of the slots in every frame: a tensor fits
struct Slot {
  uint16_t type;
  std::string_view name;
};
constexpr Slot kAll[] = {{WF_BOOL, "yes"},      {WF_I8, "i8"},       {WF_I16, "i16"},          {WF_I32, "i32"},       {WF_I64, "i64"},
                         {WF_U8, "u8"},         {WF_U16, "u16"},     {WF_U32, "u32"},          {WF_U64, "u64"},       {WF_F32, "f32"},
                         {WF_F64, "f64"},       {kString, "text"},   {kBytes, "raw"},          {kWords, "words"},     {kBlobs, "blobs"},
                         {kNumbers, "numbers"}, {kMatrix, "matrix"}, {kLine, "line"},          {kFlags, "flags"},     {kPoint, "point"},
                         {kMaybe, "maybe"},     {kPoints, "points"}, {kMaybePoint, "perhaps"}, {kMaybeTally, "tally"}};
constexpr Slot kPairSlots[] = {{kPair, "a"}, {WF_I64, "b"}};
constexpr Slot kHalfSlots[] = {{WF_F16, "half"}, {WF_F16, "whole"}};
constexpr Slot kLineSlots[] = {{kLine, "line"}};
constexpr Slot kTextSlots[] = {{kString, "text"}};
constexpr Slot kGrowSlots[] = {{WF_I64, "count"}, {WF_F64, "over"}, {kInts, "grown"}, {WF_F64, "ratio"}};

constexpr uint32_t OffsetOf(size_t slot) { return kFirst + kStep * static_cast<uint32_t>(slot); }
template <typename T>
T* At(void* const* frame, size_t slot) {
  return reinterpret_cast<T*>(static_cast<std::byte*>(frame[0]) + OffsetOf(slot));
}

wf_code Grow(wf_ctx* ctx, void* const* frame) {
  const int64_t count = *At<int64_t>(frame, 0);
  if (count == 13) return wf_fail(ctx, 100001, 7, Text("thirteen is too many"));
  if (count < 0 || count > 1000) return wf_fail(ctx, 5000, 8, Text("a count of 0..1000"));
  base::TextBuilder text;
  text << count;
  wf_bytes said{};
  if (wf_meta(ctx, Text("say"), &said) == 0) said = Text(text.view());
  wf_annotate(ctx, Text("count"), said);
  auto* ints = static_cast<int64_t*>(wf_alloc(ctx, static_cast<uint64_t>(count) * 8 + 8, 8));
  if (ints == nullptr) return WF_FAILED;
  for (int64_t i = 0; i < count; ++i) ints[i] = i;
  *At<wf_list>(frame, 2) = {ints, static_cast<uint64_t>(count)};
  return 0;
}
wf_code Invert(wf_ctx*, void* const* frame) {
  const double over = *At<double>(frame, 1);
  *At<double>(frame, 3) = over == 0 ? __builtin_inf() : 1 / over;
  return 0;
}

class Maker {
 public:
  Maker() {
    FillTypes();
    FillDefaults();
    AddWorkflow("All", kAll, std::size(kAll), 0, std::size(kAll));
    AddWorkflow("Pair", kPairSlots, std::size(kPairSlots), 0, 2);
    AddWorkflow("Half", kHalfSlots, std::size(kHalfSlots), 0, 2);
    AddWorkflow("Grow", kGrowSlots, 2, 2, 2);
    AddWorkflow("Line", kLineSlots, 1, 0, 1);
    AddWorkflow("Text", kTextSlots, 1, 0, 1);
    for (wf_port& port : ports_[2]) port.required = 1;
    for (wf_port& port : ports_[4]) port.required = 1;
    ports_[4][1].required = 0;
    ports_[4][1].if_missing = &half_;
    ports_[6][0].required = 1;
    ports_[6][1].if_missing = &one_;
    FinishPlan();
  }
  const wf_plan& plan() const { return plan_; }

 private:
  void FillTypes() {
    for (uint16_t dtype = 1; dtype < WF_DTYPE_COUNT; ++dtype) {
      const auto bytes = static_cast<uint32_t>(base::DTypeSize(static_cast<uint8_t>(dtype)));
      types_[dtype] = {.kind = WF_T_SCALAR,
                       .dtype = static_cast<uint8_t>(dtype),
                       .size = bytes,
                       .align = bytes,
                       .name = Text(base::DTypeName(static_cast<uint8_t>(dtype)))};
    }
    types_[kString] = {.kind = WF_T_STRING, .size = 16, .align = 8, .name = Text("string")};
    types_[kBytes] = {.kind = WF_T_BYTES, .size = 16, .align = 8, .name = Text("bytes")};
    const auto list = [this](TypeIndex at, uint16_t element, std::string_view name) {
      types_[at] = {.kind = WF_T_LIST, .element = element, .size = 16, .align = 8, .name = Text(name)};
    };
    list(kWords, kString, "list<string>");
    list(kBlobs, kBytes, "list<bytes>");
    list(kNumbers, WF_F32, "list<f32>");
    list(kInts, WF_I64, "list<i64>");
    list(kPoints, kPoint, "list<Point>");
    const auto tensor = [this](TypeIndex at, uint8_t dtype, uint8_t rank, const int64_t* dim, std::string_view name) {
      types_[at] = {
          .kind = WF_T_TENSOR, .dtype = dtype, .rank = rank, .size = sizeof(wf_tensor), .align = 8, .dim = dim, .name = Text(name)};
    };
    static constexpr int64_t kTwoFree[] = {2, -1}, kFree[] = {-1}, kTwo[] = {2};
    tensor(kMatrix, WF_F32, 2, kTwoFree, "f32[2, w]");
    tensor(kLine, WF_I64, 1, kFree, "i64[n]");
    tensor(kFlags, WF_BOOL, 1, kTwo, "bool[2]");
    tensor(kPair, WF_F32, 1, kTwo, "f32[2]");
    static const wf_field kFields[] = {{Text("x"), Text(R"(,"x":)"), offsetof(Point, x), WF_I64, 0},
                                       {Text("label"), Text(R"(,"label":)"), offsetof(Point, label), kString, 0}};
    types_[kPoint] = {.kind = WF_T_RECORD, .n_fields = 2, .size = sizeof(Point), .align = 8, .fields = kFields, .name = Text("Point")};
    types_[kTally] = {.kind = WF_T_MAP,
                      .element = WF_I64,
                      .size = sizeof(wf_list),
                      .align = 8,
                      .map_value_offset = offsetof(Entry, value),
                      .map_entry_size = sizeof(Entry),
                      .name = Text("map<i64>")};
    const auto optional = [this]<typename T>(TypeIndex at, uint16_t element, std::string_view name, const Maybe<T>&) {
      types_[at] = {.kind = WF_T_OPTIONAL,
                    .element = element,
                    .size = sizeof(Maybe<T>),
                    .align = 8,
                    .has_offset = offsetof(Maybe<T>, has),
                    .name = Text(name)};
    };
    optional(kMaybe, WF_I64, "i64?", Maybe<int64_t>());
    optional(kMaybePoint, kPoint, "Point?", Maybe<Point>());
    optional(kMaybeTally, kTally, "map<i64>?", Maybe<wf_list>());
  }

  // Values that tensors have when they are not given; all else is zero.
  void FillDefaults() {
    const auto fill = [this](wf_tensor* tensor, const wf_type& type, int64_t free) {
      tensor->dtype = type.dtype;
      tensor->rank = type.rank;
      tensor->data = zeros_;
      int64_t stride = 1;
      for (uint32_t axis = type.rank; axis-- > 0;) {
        tensor->dim[axis] = type.dim[axis] < 0 ? free : type.dim[axis];
        tensor->stride[axis] = stride;
        stride *= tensor->dim[axis];
      }
    };
    fill(&matrix_, types_[kMatrix], 1);
    fill(&line_, types_[kLine], 0);
    fill(&flags_, types_[kFlags], 0);
  }

  const void* DefaultOf(uint16_t type) const {
    if (type == kMatrix) return &matrix_;
    if (type == kLine) return &line_;
    return type == kFlags ? &flags_ : nullptr;
  }

  std::vector<wf_port>& AddPorts(const Slot* slots, size_t count, size_t first_slot) {
    std::vector<wf_port>& ports = ports_.emplace_back();
    for (size_t i = 0; i < count; ++i) {
      const wf_type& type = types_[slots[i].type];
      ports.push_back({Text(slots[i].name), type.dim, DefaultOf(slots[i].type), static_cast<uint16_t>(first_slot + i), slots[i].type,
                       type.dtype, type.rank, 0, 0});
    }
    return ports;
  }

  uint16_t* List(std::vector<uint16_t> list) { return lists_.emplace_back(std::move(list)).data(); }

  void AddTask(wf_run_fn run, uint16_t in, uint16_t out, uint16_t done) {
    tasks_.push_back({.kind = WF_RUN,
                      .cost_class = WF_INLINE,
                      .region = static_cast<uint16_t>(regions_.size()),
                      .node = 0,
                      .policy = WF_NONE,
                      .out = out,
                      .chain = WF_NONE,
                      .n_in = 1,
                      .n_next = 1,
                      .in = List({in}),
                      .next = List({done}),
                      .fn = {.run = run},
                      .cost_ns = 200});
  }

  // Parameters are the first `n_in` slots, results the `n_out` from `first_out`; Grow alone has tasks besides its return.
  void AddWorkflow(std::string_view name, const Slot* slots, size_t n_in, size_t first_out, size_t n_out) {
    const auto region = static_cast<uint16_t>(regions_.size()), first_slot = static_cast<uint16_t>(slots_.size()),
               first_task = static_cast<uint16_t>(tasks_.size());
    const auto n_slots = static_cast<uint16_t>(first_out + n_out);
    for (size_t i = 0; i < n_slots; ++i)
      slots_.push_back({OffsetOf(i), types_[slots[i].type].size, 0, slots[i].type, region, WF_DYNAMIC, {}});
    const wf_port* in = AddPorts(slots, n_in, first_slot).data();
    const wf_port* out = AddPorts(slots + first_out, n_out, first_slot + first_out).data();
    const bool works = first_out != 0;
    const auto done = static_cast<uint16_t>(first_task + (works ? 2 : 0));
    if (works) {
      AddTask(Grow, first_slot, static_cast<uint16_t>(first_slot + 2), done);
      AddTask(Invert, static_cast<uint16_t>(first_slot + 1), static_cast<uint16_t>(first_slot + 3), done);
    }
    std::vector<uint16_t> returned;
    for (size_t i = 0; i < n_out; ++i) returned.push_back(static_cast<uint16_t>(first_slot + first_out + i));
    tasks_.push_back({.kind = WF_RETURN,
                      .cost_class = WF_INLINE,
                      .region = region,
                      .node = WF_NONE,
                      .policy = WF_NONE,
                      .out = WF_NONE,
                      .chain = WF_NONE,
                      .n_in = static_cast<uint16_t>(n_out),
                      .in = List(returned)});
    regions_.push_back({.waits = works ? List({0, 0, 2}) : List({0}),
                        .frame_bytes = OffsetOf(n_slots),
                        .parent = WF_NONE,
                        .first_task = first_task,
                        .n_tasks = static_cast<uint16_t>(works ? 3 : 1),
                        .first_slot = first_slot,
                        .n_slots = n_slots,
                        .result = WF_NONE,
                        .on_error = WF_NONE,
                        .node = WF_NONE});
    workflows_.push_back({.name = Text(name),
                          .service = Text("Types"),
                          .in = in,
                          .out = out,
                          .n_in = static_cast<uint16_t>(n_in),
                          .n_out = static_cast<uint16_t>(n_out),
                          .root = region,
                          .is_default = static_cast<uint16_t>(region == 0 ? 1 : 0),
                          .rows_max = region == 0 ? 8U : 0U});
  }

  void FinishPlan() {
    static const wf_node kNode = {Text("Grow/grown"), 3, 0};
    static const wf_stage kStage = {Text("Grow"), Text("s1")};
    static const wf_declared_error kError = {100001, 3, Text("TooMany")};
    plan_.bytes = sizeof plan_;
    plan_.n_workflows = static_cast<uint32_t>(workflows_.size());
    plan_.n_regions = static_cast<uint32_t>(regions_.size());
    plan_.n_tasks = static_cast<uint32_t>(tasks_.size());
    plan_.n_slots = static_cast<uint32_t>(slots_.size());
    plan_.n_nodes = plan_.n_stages = plan_.n_errors = 1;
    plan_.n_types = kTypes;
    plan_.workflows = workflows_.data();
    plan_.regions = regions_.data();
    plan_.tasks = tasks_.data();
    plan_.slots = slots_.data();
    plan_.nodes = &kNode;
    plan_.stages = &kStage;
    plan_.types = types_;
    plan_.errors = &kError;
  }

  wf_type types_[kTypes] = {};
  alignas(64) uint8_t zeros_[128] = {};
  wf_tensor matrix_{}, line_{}, flags_{};
  const double one_ = 1;
  const uint16_t half_ = 0;
  std::deque<std::vector<wf_port>> ports_;  // parameters and results of each workflow
  std::deque<std::vector<uint16_t>> lists_;
  std::vector<wf_slot> slots_;
  std::vector<wf_task> tasks_;
  std::vector<wf_region> regions_;
  std::vector<wf_workflow> workflows_;
  wf_plan plan_{};
};

}  // namespace

const wf_plan& TypesPlan() {
  static const Maker maker;
  return maker.plan();
}

}  // namespace wf::test
