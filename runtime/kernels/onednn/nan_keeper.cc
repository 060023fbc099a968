#include "runtime/kernels/onednn/nan_keeper.h"

#include <xmmintrin.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "runtime/kernels/half.h"
#include "runtime/kernels/memory.h"

namespace wf::kernels::onednn {
namespace {

using Lost = NanKeeper::Lost;

constexpr const char* kCannot = "a NaN or an infinity was met, and there is no memory to see where";

bool IsNan(float x) { return std::isnan(x); }
bool IsNan(Brain x) { return std::isnan(ToFloat(x)); }
bool IsLowest(float x) { return x == std::numeric_limits<float>::lowest(); }
bool IsLowest(Brain x) { return x.bits == 0xFF7F; }
bool IsMarked(float x) { return x > 0; }
bool IsMarked(Brain x) { return ToFloat(x) > 0; }

template <typename T>
T Stored(float x) {
  if constexpr (std::is_same_v<T, Brain>) {
    return ToBrain(x);
  } else {
    return x;
  }
}

int64_t BytesOf(const dnnl_memory_desc_t& desc) { return static_cast<int64_t>(Load()->dnnl_memory_desc_get_size(&desc)); }

void* ElementsOf(std::span<const dnnl_exec_arg_t> args, int arg) {
  const auto at = std::find_if(args.begin(), args.end(), [arg](const dnnl_exec_arg_t& each) { return each.arg == arg; });
  void* data = nullptr;
  if (at != args.end()) (void)Load()->dnnl_memory_get_data_handle(at->memory, &data);
  return data;
}

// Where `is_lost` says so of an element found, the one of the result at its place is NaN.
template <typename T, typename F>
void PutNan(const void* found, void* out, int64_t count, F is_lost) {
  const auto* marks = static_cast<const T*>(found);
  for (int64_t i = 0; i < count; ++i) {
    if (is_lost(marks[i])) static_cast<T*>(out)[i] = Stored<T>(std::numeric_limits<float>::quiet_NaN());
  }
}

template <typename T>
void Mark(Lost lost, const void* in, void* marks, int64_t count) {
  const auto* x = static_cast<const T*>(in);
  std::transform(x, x + count, static_cast<T*>(marks),
                 [lost](T each) { return Stored<T>((lost == Lost::kNan ? IsNan(each) : IsLowest(each)) ? 1.0f : 0.0f); });
}

// found: whether a window has a mark.
template <typename T>
void PutBack(Lost lost, const void* found, void* out, int64_t count) {
  if (lost == Lost::kNan) return PutNan<T>(found, out, count, [](T x) { return IsMarked(x); });
  const auto* marks = static_cast<const T*>(found);
  auto* y = static_cast<T*>(out);
  for (int64_t i = 0; i < count; ++i) {
    if (IsLowest(y[i]) && !IsMarked(marks[i])) y[i] = Stored<T>(-std::numeric_limits<float>::infinity());
  }
}

template <typename T>
bool HasLowest(const void* elements, int64_t count) {
  const auto* x = static_cast<const T*>(elements);
  int found = 0;
  for (int64_t i = 0; i < count; ++i) found |= IsLowest(x[i]) ? 1 : 0;  // no jump: a vector loop
  return found != 0;
}

// Arguments with others in the place of some.
class OwnArgs {
 public:
  explicit OwnArgs(std::span<const dnnl_exec_arg_t> args) : args_(args.begin(), args.end()) {}

  // Zeroed elements; null: no memory.
  void* Put(int arg, const dnnl_memory_desc_t& desc) {
    const auto elements = Allocate(BytesOf(desc));
    Memory memory;
    if (elements == nullptr || !memory.Create(desc, elements.get())) return nullptr;
    std::erase_if(args_, [arg](const dnnl_exec_arg_t& each) { return each.arg == arg; });
    args_.push_back({arg, memory.get()});
    memory_.push_back(std::move(memory));
    elements_.push_back(elements);
    return elements.get();
  }
  std::span<const dnnl_exec_arg_t> get() const { return args_; }

 private:
  std::vector<dnnl_exec_arg_t> args_;
  std::vector<Memory> memory_;
  std::vector<std::shared_ptr<uint8_t>> elements_;
};

// Of a Softmax: with NaN, or where the largest is infinite, which less itself is NaN.
bool IsLost(std::span<const float> row) {
  float largest = -std::numeric_limits<float>::infinity();
  for (const float x : row) {
    if (IsNan(x)) return true;
    largest = std::max(largest, x);
  }
  return std::isinf(largest);
}

}  // namespace

struct NanKeeper::Plain {
  explicit Plain(const PrimitiveDesc& desc)
      : primitive(desc == nullptr ? nullptr : CreatePrimitive(desc.get())),
        scratch(desc == nullptr ? dnnl_memory_desc_t{} : Query(desc, dnnl_query_scratchpad_md)) {}
  const Primitive primitive;
  const dnnl_memory_desc_t scratch;
};

bool LosesNan(const Fused& fused) {
  const bool is_relu = fused.alg == dnnl_eltwise_relu && fused.alpha == 0;
  constexpr dnnl_alg_kind_t kOthers[] = {dnnl_eltwise_clip_v2,  dnnl_eltwise_elu,       dnnl_eltwise_exp,
                                         dnnl_eltwise_gelu_erf, dnnl_eltwise_gelu_tanh, dnnl_eltwise_hardswish};
  return is_relu || std::find(std::begin(kOthers), std::end(kOthers), fused.alg) != std::end(kOthers);
}

std::shared_ptr<const NanKeeper::Plain> NanKeeper::PlainPrimitive() const {
  const base::MutexLock lock(mutex_);
  if (plain_ == nullptr) plain_ = std::make_shared<const Plain>(make_plain_());
  return plain_;
}

const char* NanKeeper::Run(dnnl_primitive_t primitive, dnnl_stream_t stream, std::span<const dnnl_exec_arg_t> args) const {
  _mm_setcsr(_mm_getcsr() & ~unsigned{_MM_EXCEPT_INVALID});
  if (const char* failure = Execute(primitive, stream, args)) return failure;
  const bool is_lost = (_mm_getcsr() & _MM_EXCEPT_INVALID) != 0;
  if (kind_ == Kind::kMaximum) {
    const char* const failure = HasLost(args) ? RestoreMaximum(primitive, stream, args, Lost::kInfinity) : nullptr;
    if (failure != nullptr) return failure;
  }
  if (!is_lost) return nullptr;
  switch (kind_) {
    case Kind::kBehind:
      return RestoreBehind(stream, args);
    case Kind::kMaximum:
      return RestoreMaximum(primitive, stream, args, Lost::kNan);
    case Kind::kElements:
      RestoreElements(args);
      break;
    case Kind::kRows:
      RestoreRows(args);
      break;
  }
  return nullptr;
}

bool NanKeeper::HasLost(std::span<const dnnl_exec_arg_t> args) const {
  const void* const out = ElementsOf(args, DNNL_ARG_DST);
  return dst_.data_type == dnnl_bf16 ? HasLowest<Brain>(out, ElementsIn(dst_)) : HasLowest<float>(out, ElementsIn(dst_));
}

void NanKeeper::RestoreElements(std::span<const dnnl_exec_arg_t> args) const {
  PutNan<float>(ElementsOf(args, DNNL_ARG_SRC), ElementsOf(args, DNNL_ARG_DST), ElementsIn(src_), [](float x) { return IsNan(x); });
}

void NanKeeper::RestoreRows(std::span<const dnnl_exec_arg_t> args) const {
  const auto* in = static_cast<const float*>(ElementsOf(args, DNNL_ARG_SRC));
  auto* out = static_cast<float*>(ElementsOf(args, DNNL_ARG_DST));
  for (const float* const end = in + ElementsIn(src_); in != end; in += row_, out += row_) {
    if (IsLost(std::span(in, static_cast<size_t>(row_)))) std::fill_n(out, row_, std::numeric_limits<float>::quiet_NaN());
  }
}

const char* NanKeeper::RestoreBehind(dnnl_stream_t stream, std::span<const dnnl_exec_arg_t> args) const {
  const std::shared_ptr<const Plain> plain = PlainPrimitive();
  OwnArgs own(args);
  const void* const found = own.Put(DNNL_ARG_DST, dst_);
  const bool has_scratch = BytesOf(plain->scratch) > 0;
  if (plain->primitive.get == nullptr || found == nullptr || (has_scratch && own.Put(DNNL_ARG_SCRATCHPAD, plain->scratch) == nullptr))
    return kCannot;
  if (const char* failure = Execute(plain->primitive.get, stream, own.get())) return failure;
  void* const out = ElementsOf(args, DNNL_ARG_DST);
  const auto is_nan = [](auto x) { return IsNan(x); };
  dst_.data_type == dnnl_bf16 ? PutNan<Brain>(found, out, ElementsIn(dst_), is_nan) : PutNan<float>(found, out, ElementsIn(dst_), is_nan);
  return nullptr;
}

const char* NanKeeper::RestoreMaximum(dnnl_primitive_t primitive, dnnl_stream_t stream, std::span<const dnnl_exec_arg_t> args,
                                      Lost lost) const {
  OwnArgs own(args);
  const void* const in = ElementsOf(args, DNNL_ARG_SRC);
  void* const out = ElementsOf(args, DNNL_ARG_DST);
  const void* const found = own.Put(DNNL_ARG_DST, dst_);
  void* const marks = own.Put(DNNL_ARG_SRC, src_);
  if (found == nullptr || marks == nullptr) return kCannot;
  const bool is_bf16 = src_.data_type == dnnl_bf16;
  is_bf16 ? Mark<Brain>(lost, in, marks, ElementsIn(src_)) : Mark<float>(lost, in, marks, ElementsIn(src_));
  if (const char* failure = Execute(primitive, stream, own.get())) return failure;
  is_bf16 ? PutBack<Brain>(lost, found, out, ElementsIn(dst_)) : PutBack<float>(lost, found, out, ElementsIn(dst_));
  return nullptr;
}

}  // namespace wf::kernels::onednn
