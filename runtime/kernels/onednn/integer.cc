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
#include "runtime/kernels/onednn/shapes.h"

namespace wf::kernels::onednn {
namespace {

using Made = base::Result<std::unique_ptr<Kernel>>;
using In = IntegerInputs;
Made NotHere() { return std::unique_ptr<Kernel>(); }

constexpr int32_t kAtRun = DNNL_RUNTIME_S32_VAL;

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
  const bool whole = operation.out[0].dtype == WF_I32;
  if (!IsOne(operation, In::kAZero) || (!whole && !AreConstant(operation, {In::kAZero}))) return std::optional<Fused>();
  if (AreConstant(operation, {In::kAZero})) {
    const auto zeros = Zeros(operation, In::kAZero);
    if (!zeros.ok()) return zeros.status();
    fused.zero_in = zeros->front();
  } else {
    fused.zero_in = kAtRun;
  }
  if (whole) return std::optional(std::move(fused));
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

// A zero point that is known when the kernel runs, as the wider integer that oneDNN reads.
class WidenedZeroCall final : public Call {
 public:
  WidenedZeroCall(std::unique_ptr<Call> inner, const void* zero, bool is_signed, int32_t* wide)
      : inner_(std::move(inner)), zero_(zero), is_signed_(is_signed), wide_(wide) {}

  const char* Run() override {
    *wide_ = is_signed_ ? int32_t{*static_cast<const int8_t*>(zero_)} : int32_t{*static_cast<const uint8_t*>(zero_)};
    return inner_->Run();
  }
  void SetIn(size_t i, const void* data) override {
    if (i == In::kAZero)
      zero_ = data;
    else
      inner_->SetIn(i, data);
  }

 private:
  const std::unique_ptr<Call> inner_;
  const void* zero_;
  const bool is_signed_;
  int32_t* const wide_;
};

class WidenedZero final : public Kernel {
 public:
  WidenedZero(std::unique_ptr<Kernel> inner, bool is_signed) : inner_(std::move(inner)), is_signed_(is_signed) {
    packed_in = inner_->packed_in;
    in_format = inner_->in_format;
    in_format[In::kAZero] = nullptr;
    out_format = inner_->out_format;
    scratch_bytes = Aligned(inner_->scratch_bytes) + kAlign;
  }

  base::Result<std::unique_ptr<Call>> Bind(const Buffers& buffers) const override {
    auto* const wide = reinterpret_cast<int32_t*>(static_cast<uint8_t*>(buffers.scratch) + Aligned(inner_->scratch_bytes));
    Buffers inside = buffers;
    inside.in[In::kAZero] = wide;
    auto call = inner_->Bind(inside);
    if (!call.ok()) return call;
    return std::unique_ptr<Call>(new WidenedZeroCall(*std::move(call), buffers.in[In::kAZero], is_signed_, wide));
  }

 private:
  const std::unique_ptr<Kernel> inner_;
  const bool is_signed_;
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
    auto prepared = Pack(*operation.in[In::kBias].constant, form.bias, form.bias);
    if (!prepared.ok()) return prepared.status();
    operands.push_back({DNNL_ARG_BIAS, -1, form.bias, *std::move(prepared)});
  }
  if (fused.zero_in == kAtRun) {
    const int64_t one[] = {1};
    operands.push_back({DNNL_ARG_ATTR_ZERO_POINTS | DNNL_ARG_SRC, In::kAZero, PlainDesc(one, dnnl_s32), nullptr});
  }
  Around around;
  around.row_major = form.row_major;
  auto kernel = MakePrimitive(form.desc, std::move(operands), operation.in.size(), operation.out[0], std::move(around));
  if (!kernel.ok() || *kernel == nullptr || fused.zero_in != kAtRun) return kernel;
  return std::unique_ptr<Kernel>(new WidenedZero(*std::move(kernel), operation.in[In::kAZero].dtype == WF_I8));
}

bool IsHere(const Operation& operation) {
  const uint8_t x = operation.in[In::kA].dtype, w = operation.in[In::kB].dtype;
  const bool bytes = (x == WF_U8 || x == WF_I8) && (w == WF_U8 || w == WF_I8);
  return bytes && MultipliesBytes() && !AnyEmpty(operation) && AreConstant(operation, {In::kBias});
}

// Its plain code is no quicker than ours.
bool IsSlow(const PrimitiveDesc& desc) { return desc == nullptr || ImplName(desc).starts_with("ref"); }

}  // namespace

Made MakeIntegerConv(const Operation& operation) {
  const IntegerConv& conv = std::get<IntegerConv>(operation.params);
  if (!IsHere(operation)) return NotHere();
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
  if (!IsHere(operation)) return NotHere();
  const TensorInfo &a = operation.in[In::kA], &y = operation.out[0];
  if (a.dim.size() < 2 || operation.in[In::kB].dim.size() != 2) return NotHere();
  const auto w = SignedWeights(operation);
  if (!w.ok()) return w.status();
  const auto fused = FusedOf(operation, std::get<IntegerMatMul>(operation.params).within);
  if (!fused.ok()) return fused.status();
  if (!*w || !*fused) return NotHere();
  const int64_t k = a.dim.back(), m = a.count() / k, n = y.dim.back();
  const int64_t src_dim[] = {m, k}, weights_dim[] = {k, n}, dst_dim[] = {m, n}, bias_dim[] = {1, n};
  const dnnl_memory_desc_t src = PlainDesc(src_dim, TypeOf(a.dtype)), weights = AnyDesc(weights_dim, dnnl_s8),
                           dst = PlainDesc(dst_dim, TypeOf(y.dtype)), bias = PlainDesc(bias_dim, dnnl_s32);
  dnnl_matmul_desc_t op{};
  if (Load()->dnnl_matmul_desc_init(&op, &src, &weights, HasInput(operation, In::kBias) ? &bias : nullptr, &dst) != dnnl_success)
    return NotHere();
  const Form form{MakeDesc(&op, MakeAttr(**fused)), PlainDesc(weights_dim, dnnl_s8), bias, true};
  return IsSlow(form.desc) ? NotHere() : MakeProduct(operation, form, **w, **fused);
}

}  // namespace wf::kernels::onednn
