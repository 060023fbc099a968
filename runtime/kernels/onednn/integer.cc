// Products of 8-bit integers. What surrounds the sums (scales, bounds, zero points) is done by the primitive, before a sum is written.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "runtime/kernels/derive.h"
#include "runtime/kernels/integer_matmul/integer_matmul.h"
#include "runtime/kernels/onednn/library.h"
#include "runtime/kernels/onednn/nan_keeper.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/onednn/operands.h"
#include "runtime/kernels/onednn/shapes.h"

namespace wf::kernels::onednn {
namespace {

using In = IntegerInputs;

constexpr int32_t kZeroAtRun = DNNL_RUNTIME_S32_VAL;

// Whether all that are given of these inputs are constants.
bool AreConstant(const Operation& operation, std::initializer_list<size_t> inputs) {
  return std::all_of(inputs.begin(), inputs.end(),
                     [&](size_t i) { return !HasInput(operation, i) || operation.in[i].constant != nullptr; });
}

// The zero points of an input of u8 or s8; one 0 where there are none.   REQUIRES: it is constant.
base::Result<std::vector<int32_t>> Zeros(const Operation& operation, size_t i) {
  if (!HasInput(operation, i)) return std::vector<int32_t>{0};
  auto loaded = operation.in[i].constant->Load();
  if (!loaded.ok()) return loaded.status();
  std::vector<int32_t> zeros(static_cast<size_t>(operation.in[i].count()));
  for (size_t k = 0; k < zeros.size(); ++k) {
    const uint8_t byte = loaded->get()[k];
    zeros[k] = operation.in[i].dtype == WF_I8 ? int32_t{static_cast<int8_t>(byte)} : int32_t{byte};
  }
  return zeros;
}

base::Result<std::vector<float>> Scales(const Operation& operation, size_t i) {
  auto loaded = operation.in[i].constant->Load();
  if (!loaded.ok()) return loaded.status();
  std::vector<float> scales(static_cast<size_t>(operation.in[i].count()));
  std::memcpy(scales.data(), loaded->get(), scales.size() * sizeof(float));
  return scales;
}

// The weights as signed integers of zero point 0, as the instructions want one side. Nothing: they are others.
base::Result<std::optional<TensorInfo>> SignedWeights(const Operation& operation) {
  TensorInfo w = operation.in[In::kB];
  if (w.constant == nullptr || !AreConstant(operation, {In::kBZero})) return std::optional<TensorInfo>();
  const auto zeros = Zeros(operation, In::kBZero);
  if (!zeros.ok()) return zeros.status();
  const int32_t zero = w.dtype == WF_U8 ? 128 : 0;
  if (std::any_of(zeros->begin(), zeros->end(), [&](int32_t each) { return each != zero; })) return std::optional<TensorInfo>();
  if (w.dtype == WF_U8) {
    const int64_t bytes = w.size_bytes();
    w.constant = Derived(w, "less 128", bytes, [bytes](const uint8_t* from, uint8_t* to) {
      for (int64_t i = 0; i < bytes; ++i) to[i] = from[i] ^ 0x80;
    });
    w.dtype = WF_I8;
  }
  return std::optional(std::move(w));
}

bool IsOne(const Operation& operation, size_t i) { return !HasInput(operation, i) || operation.in[i].count() == 1; }

// Bounds of what is y_scale times smaller, less those that the type of y has anyway.
void FuseBounds(const Within& within, float y_scale, uint8_t dtype, Fused& fused) {
  const int32_t least = dtype == WF_U8 ? 0 : -128, most = dtype == WF_U8 ? 255 : 127;
  constexpr float kFar = std::numeric_limits<float>::infinity();
  const auto zero = static_cast<float>(fused.zero_out);
  float low = within.low / y_scale, high = within.high / y_scale;
  if (low + zero <= static_cast<float>(least)) low = -kFar;
  if (high + zero >= static_cast<float>(most)) high = kFar;
  if (low == -kFar && high == kFar) return;
  const bool relu = low == 0 && high == kFar;
  fused.alg = relu ? dnnl_eltwise_relu : dnnl_eltwise_clip_v2;
  fused.alpha = relu ? 0 : std::max(low, -1e9F);
  fused.beta = relu ? 0 : std::min(high, 1e9F);
}

// What is done to the sums. Nothing: it is not known before the run, or of another kind.
base::Result<std::optional<Fused>> FusedOf(const Operation& operation, const Within& within) {
  Fused fused;
  const bool whole = operation.out[0].dtype == WF_I32, wide = operation.out[0].dtype == WF_F32;
  if (!IsOne(operation, In::kAZero) || (!whole && !wide && !AreConstant(operation, {In::kAZero}))) return std::optional<Fused>();
  if (AreConstant(operation, {In::kAZero})) {
    const auto zeros = Zeros(operation, In::kAZero);
    if (!zeros.ok()) return zeros.status();
    fused.zero_in = zeros->front();
  } else {
    fused.zero_in = kZeroAtRun;
  }
  if (whole) return std::optional(std::move(fused));
  if (wide) {
    if (!IsOne(operation, In::kAScale) || !AreConstant(operation, {In::kBScale})) return std::optional<Fused>();
    fused.scales_at_run = operation.in[In::kBScale].count();
    const int64_t bias_dim[] = {1, operation.out[0].dim.back()};
    if (HasInput(operation, In::kBias)) fused.addend = PlainDesc(bias_dim);
    return std::optional(std::move(fused));
  }
  if (!AreConstant(operation, {In::kAScale, In::kBScale, In::kYScale, In::kYZero})) return std::optional<Fused>();
  for (const size_t i : {In::kAScale, In::kBScale, In::kYScale}) {
    if (operation.in[i].dtype != WF_F32) return std::optional<Fused>();
  }
  if (!IsOne(operation, In::kAScale)) return std::optional<Fused>();
  const auto a = Scales(operation, In::kAScale), b = Scales(operation, In::kBScale), y = Scales(operation, In::kYScale);
  const auto y_zero = Zeros(operation, In::kYZero);
  for (const auto* each : {&a, &b, &y}) {
    if (!each->ok()) return each->status();
  }
  if (!y_zero.ok()) return y_zero.status();
  for (const float scale : *b) {
    fused.channel_scales.push_back(a->front() * scale / y->front());
    if (!std::isfinite(fused.channel_scales.back())) return std::optional<Fused>();
  }
  fused.zero_out = y_zero->front();
  if (!(y->front() > 0)) return std::optional<Fused>();
  FuseBounds(within, y->front(), operation.out[0].dtype, fused);
  return std::optional(std::move(fused));
}

// What is known of the left side when the kernel runs, as oneDNN reads it.
struct AtRun {
  bool zero = false, is_signed = false;
  std::vector<float> b_scale;  // empty: scales are known before
};

class AtRunCall final : public Call {
 public:
  // `zero`, `scale`: of the left side. `wide`, `scales`: what is made of them, in scratch memory.
  struct Places {
    const void* zero;
    const float* scale;
    int32_t* wide;
    float* scales;
  };
  AtRunCall(std::unique_ptr<Call> inner, const AtRun& at_run, const Places& places)
      : inner_(std::move(inner)), at_run_(at_run), places_(places) {}

  const char* Run() override {
    if (at_run_.zero) {
      *places_.wide =
          at_run_.is_signed ? int32_t{*static_cast<const int8_t*>(places_.zero)} : int32_t{*static_cast<const uint8_t*>(places_.zero)};
    }
    for (size_t i = 0; i < at_run_.b_scale.size(); ++i) places_.scales[i] = *places_.scale * at_run_.b_scale[i];
    return inner_->Run();
  }
  void SetIn(size_t i, const void* data) override {
    if (at_run_.zero && i == In::kAZero)
      places_.zero = data;
    else if (!at_run_.b_scale.empty() && i == In::kAScale)
      places_.scale = static_cast<const float*>(data);
    else
      inner_->SetIn(i, data);
  }

 private:
  const std::unique_ptr<Call> inner_;
  const AtRun& at_run_;  // of the kernel, which outlives its calls
  Places places_;
};

class AtRunKernel final : public Kernel {
 public:
  AtRunKernel(std::unique_ptr<Kernel> inner, AtRun at_run) : inner_(std::move(inner)), at_run_(std::move(at_run)) {
    packed_in = inner_->packed_in;
    in_format = inner_->in_format;
    out_format = inner_->out_format;
    scratch_bytes = Aligned(inner_->scratch_bytes) + kAlign + static_cast<int64_t>(at_run_.b_scale.size() * sizeof(float));
  }

  base::Result<std::unique_ptr<Call>> Bind(const Buffers& buffers) const override {
    uint8_t* const own = static_cast<uint8_t*>(buffers.scratch) + Aligned(inner_->scratch_bytes);
    const AtRunCall::Places places{buffers.in[In::kAZero], static_cast<const float*>(buffers.in[In::kAScale]),
                                   reinterpret_cast<int32_t*>(own), reinterpret_cast<float*>(own + kAlign)};
    Buffers inside = buffers;
    if (at_run_.zero) inside.in[In::kAZero] = places.wide;
    if (!at_run_.b_scale.empty()) inside.in[In::kAScale] = places.scales;
    auto call = inner_->Bind(inside);
    if (!call.ok()) return call;
    return std::unique_ptr<Call>(new AtRunCall(*std::move(call), at_run_, places));
  }

 private:
  const std::unique_ptr<Kernel> inner_;
  const AtRun at_run_;
};

// A product of x and constant weights as oneDNN can do it.
struct Form {
  PrimitiveDesc desc;
  dnnl_memory_desc_t given, bias;  // given: the row-major weights
  bool row_major;                  // x and y are, seen in another shape
};

Made MakeProduct(const Operation& operation, const Form& form, const TensorInfo& w, const Fused& fused) {
  std::vector<Operand> operands = {{DNNL_ARG_SRC, In::kA, Query(form.desc, dnnl_query_src_md), nullptr}};
  const dnnl_memory_desc_t packed = Query(form.desc, dnnl_query_weights_md, 0);
  auto weights = Pack(*w.constant, form.given, packed);
  if (!weights.ok()) return weights.status();
  operands.push_back({DNNL_ARG_WEIGHTS, -1, packed, *std::move(weights)});
  if (HasInput(operation, In::kBias)) {
    const dnnl_memory_desc_t& desc = fused.addend ? *fused.addend : form.bias;
    auto prepared = Pack(*operation.in[In::kBias].constant, desc, desc);
    if (!prepared.ok()) return prepared.status();
    operands.push_back({fused.addend ? kAddendArg : DNNL_ARG_BIAS, -1, desc, *std::move(prepared)});
  }
  AtRun at_run{fused.zero_in == kZeroAtRun, HasInput(operation, In::kAZero) && operation.in[In::kAZero].dtype == WF_I8, {}};
  if (at_run.zero) {
    const int64_t one[] = {1};
    operands.push_back({DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, In::kAZero, PlainDesc(one, dnnl_s32), nullptr});
  }
  if (fused.scales_at_run != 0) {
    auto scales = Scales(operation, In::kBScale);
    if (!scales.ok()) return scales.status();
    at_run.b_scale = *std::move(scales);
    const int64_t count[] = {fused.scales_at_run};
    operands.push_back({DNNL_ARG_ATTR_OUTPUT_SCALES, In::kAScale, PlainDesc(count), nullptr});
  }
  Around around;
  around.row_major = form.row_major;
  auto kernel = MakePrimitive(form.desc, std::move(operands), operation.in.size(), operation.out[0], std::move(around));
  if (!kernel.ok() || *kernel == nullptr || (!at_run.zero && at_run.b_scale.empty())) return kernel;
  return std::unique_ptr<Kernel>(new AtRunKernel(*std::move(kernel), std::move(at_run)));
}

// results: of the weights. What is written as 32 bits goes through f32 on the way, which is to hold it.
bool IsHere(const Operation& operation, int64_t results) {
  constexpr int64_t kLargestProduct = 255 * 128, kExact = int64_t{1} << 24;
  const uint8_t x = operation.in[In::kA].dtype, w = operation.in[In::kB].dtype;
  const bool bytes = (x == WF_U8 || x == WF_I8) && (w == WF_U8 || w == WF_I8);
  if (!bytes || !MultipliesBytes() || AnyEmpty(operation) || !AreConstant(operation, {In::kBias})) return false;
  return operation.out[0].dtype != WF_I32 || operation.in[In::kB].count() / results * kLargestProduct <= kExact;
}

// Its plain code is no quicker than ours.
bool IsSlow(const PrimitiveDesc& desc) { return desc == nullptr || ImplName(desc).starts_with("ref"); }

}  // namespace

Made MakeIntegerConv(const Operation& operation) {
  const IntegerConv& conv = std::get<IntegerConv>(operation.params);
  if (!IsHere(operation, operation.out[0].dim[1])) return NotHere();
  const auto w = SignedWeights(operation);
  if (!w.ok()) return w.status();
  const auto fused = FusedOf(operation, conv.within);
  if (!fused.ok()) return fused.status();
  if (!*w || !*fused) return NotHere();
  const TensorInfo &x = operation.in[In::kA], &y = operation.out[0];
  const std::vector<int64_t> w_dim = GroupedDim((*w)->dim, conv.group);
  const int64_t filters[] = {y.dim[1]};
  const Sliding s = SlidingOf(operation, conv, std::span((*w)->dim).subspan(2));
  const dnnl_memory_desc_t src = AnyDesc(x.dim, TypeOf(x.dtype)), weights = AnyDesc(w_dim, dnnl_s8), dst = AnyDesc(y.dim, TypeOf(y.dtype)),
                           bias = PlainDesc(filters, dnnl_s32);
  dnnl_convolution_desc_t op{};
  const auto* const used = HasInput(operation, In::kBias) ? &bias : nullptr;
  if (Load()->dnnl_dilated_convolution_forward_desc_init(&op, dnnl_forward_inference, dnnl_convolution_direct, &src, &weights, used, &dst,
                                                         s.stride, s.dilation, s.begin, s.end) != dnnl_success) {
    return NotHere();
  }
  const Form form{MakeDesc(&op, MakeAttr(**fused)), PlainDesc(w_dim, dnnl_s8), bias, false};
  return IsSlow(form.desc) ? NotHere() : MakeProduct(operation, form, **w, **fused);
}

// Of any number of rows and constant weights [k, n].
Made MakeIntegerMatMul(const Operation& operation) {
  const TensorInfo &a = operation.in[In::kA], &y = operation.out[0];
  if (a.dim.size() < 2 || operation.in[In::kB].dim.size() != 2 || !IsHere(operation, y.dim.back())) return NotHere();
  const auto w = SignedWeights(operation);
  if (!w.ok()) return w.status();
  const auto fused = FusedOf(operation, std::get<IntegerMatMul>(operation.params).within);
  if (!fused.ok()) return fused.status();
  if (!*w || !*fused) return NotHere();
  const int64_t k = a.dim.back(), m = a.count() / k, n = y.dim.back();
  const int64_t src_dim[] = {m, k}, weights_dim[] = {k, n}, dst_dim[] = {m, n}, bias_dim[] = {1, n};
  const dnnl_memory_desc_t src = PlainDesc(src_dim, TypeOf(a.dtype)), weights = AnyDesc(weights_dim, dnnl_s8),
                           dst = PlainDesc(dst_dim, TypeOf(y.dtype)), bias = PlainDesc(bias_dim, dnnl_s32);
  const bool has_bias = HasInput(operation, In::kBias) && !(*fused)->addend;  // which the scales would be for, too
  dnnl_matmul_desc_t op{};
  if (Load()->dnnl_matmul_desc_init(&op, &src, &weights, has_bias ? &bias : nullptr, &dst) != dnnl_success) return NotHere();
  const Form form{MakeDesc(&op, MakeAttr(**fused)), PlainDesc(weights_dim, dnnl_s8), bias, true};
  return IsSlow(form.desc) ? NotHere() : MakeProduct(operation, form, **w, **fused);
}

}  // namespace wf::kernels::onednn
