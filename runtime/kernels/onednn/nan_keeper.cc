#include "runtime/kernels/onednn/nan_keeper.h"

#include <xmmintrin.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/kernels/memory.h"

namespace wf::kernels::onednn {
namespace {

constexpr const char* kCannot = "a NaN was met, and there is no memory to see where";

bool IsNan(float x) { return std::isnan(x); }

int64_t FloatsOf(const dnnl_memory_desc_t& desc) {
  return static_cast<int64_t>(Load()->dnnl_memory_desc_get_size(&desc)) / int64_t{sizeof(float)};
}

float* ElementsOf(std::span<const dnnl_exec_arg_t> args, int arg) {
  const auto at = std::find_if(args.begin(), args.end(), [arg](const dnnl_exec_arg_t& each) { return each.arg == arg; });
  void* data = nullptr;
  if (at != args.end()) (void)Load()->dnnl_memory_get_data_handle(at->memory, &data);
  return static_cast<float*>(data);
}

// Arguments with others in the place of some.
class OwnArgs {
 public:
  explicit OwnArgs(std::span<const dnnl_exec_arg_t> args) : args_(args.begin(), args.end()) {}

  // Zeroed elements; null: no memory.
  float* Put(int arg, const dnnl_memory_desc_t& desc) {
    const auto elements = Allocate(static_cast<int64_t>(Load()->dnnl_memory_desc_get_size(&desc)));
    Memory memory;
    if (elements == nullptr || !memory.Create(desc, elements.get())) return nullptr;
    std::erase_if(args_, [arg](const dnnl_exec_arg_t& each) { return each.arg == arg; });
    args_.push_back({arg, memory.get()});
    memory_.push_back(std::move(memory));
    elements_.push_back(elements);
    return reinterpret_cast<float*>(elements.get());
  }
  std::span<const dnnl_exec_arg_t> get() const { return args_; }

 private:
  std::vector<dnnl_exec_arg_t> args_;
  std::vector<Memory> memory_;
  std::vector<std::shared_ptr<uint8_t>> elements_;
};

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
  constexpr dnnl_alg_kind_t kOthers[] = {dnnl_eltwise_clip_v2,   dnnl_eltwise_elu,       dnnl_eltwise_exp,  dnnl_eltwise_gelu_erf,
                                         dnnl_eltwise_gelu_tanh, dnnl_eltwise_hardswish, dnnl_eltwise_mish, dnnl_eltwise_soft_relu};
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
  if ((_mm_getcsr() & _MM_EXCEPT_INVALID) == 0) return nullptr;
  if (kind_ == Kind::kRows) return RestoreRows(args);
  return kind_ == Kind::kBehind ? RestoreBehind(stream, args) : RestoreMaximum(primitive, stream, args);
}

const char* NanKeeper::RestoreRows(std::span<const dnnl_exec_arg_t> args) const {
  const float* in = ElementsOf(args, DNNL_ARG_SRC);
  float* out = ElementsOf(args, DNNL_ARG_DST);
  for (const float* const end = in + FloatsOf(src_); in != end; in += row_, out += row_) {
    if (std::any_of(in, in + row_, IsNan)) std::fill_n(out, row_, std::numeric_limits<float>::quiet_NaN());
  }
  return nullptr;
}

const char* NanKeeper::RestoreBehind(dnnl_stream_t stream, std::span<const dnnl_exec_arg_t> args) const {
  const std::shared_ptr<const Plain> plain = PlainPrimitive();
  OwnArgs own(args);
  const float* const found = own.Put(DNNL_ARG_DST, dst_);
  const bool has_scratch = FloatsOf(plain->scratch) > 0;
  if (plain->primitive.get == nullptr || found == nullptr || (has_scratch && own.Put(DNNL_ARG_SCRATCHPAD, plain->scratch) == nullptr))
    return kCannot;
  if (const char* failure = Execute(plain->primitive.get, stream, own.get())) return failure;
  PutNan(found, IsNan, args);
  return nullptr;
}

const char* NanKeeper::RestoreMaximum(dnnl_primitive_t primitive, dnnl_stream_t stream, std::span<const dnnl_exec_arg_t> args) const {
  OwnArgs own(args);
  const float* const in = ElementsOf(args, DNNL_ARG_SRC);
  const float* const found = own.Put(DNNL_ARG_DST, dst_);
  float* const marks = own.Put(DNNL_ARG_SRC, src_);
  if (found == nullptr || marks == nullptr) return kCannot;
  std::transform(in, in + FloatsOf(src_), marks, [](float x) { return IsNan(x) ? 1.0f : 0.0f; });
  if (const char* failure = Execute(primitive, stream, own.get())) return failure;
  PutNan(found, [](float mark) { return mark > 0; }, args);
  return nullptr;
}

void NanKeeper::PutNan(const float* found, bool (*is_nan)(float), std::span<const dnnl_exec_arg_t> args) const {
  float* const out = ElementsOf(args, DNNL_ARG_DST);
  for (int64_t i = 0; i < FloatsOf(dst_); ++i) {
    if (is_nan(found[i])) out[i] = std::numeric_limits<float>::quiet_NaN();
  }
}

}  // namespace wf::kernels::onednn
