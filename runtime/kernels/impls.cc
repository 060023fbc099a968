#include <fmt/format.h>

#include <algorithm>

#include "runtime/kernels/attention/brain.h"
#include "runtime/kernels/attention/vector.h"
#include "runtime/kernels/avx2.h"
#include "runtime/kernels/conv/winograd.h"
#include "runtime/kernels/matmul/doubles.h"
#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/operation.h"
#include "runtime/kernels/quantise/vector.h"
#include "runtime/kernels/ref.h"
#include "runtime/kernels/unary/vector.h"
#include "runtime/kernels/wide.h"

namespace wf::kernels {
namespace {

template <typename T, size_t kAt = 0>
constexpr size_t IndexOf() {
  if constexpr (std::is_same_v<std::variant_alternative_t<kAt, AnyParams>, T>) {
    return kAt;
  } else {
    return IndexOf<T, kAt + 1>();
  }
}

#define KERNEL_IMPL(contract, dtype, layout, name, ...) {IndexOf<contract>(), #contract, dtype, layout, name, __VA_ARGS__}
constexpr uint8_t kAnyType = 0;
constexpr int64_t kMostScratchBytes = int64_t{4} << 30;  // as much as one tensor may have

// Every implementation, fastest first, `ref` last. A row whose maker gives null passes the case on to the next. Where a row has several
// ways, its maker takes the one that is the fastest mostly, and the last column names the others.
constexpr Impl kImpls[] = {
    KERNEL_IMPL(Conv, WF_F32, "any, bf16", "avx512", avx512::MakeConv, avx512::ConvWays),
    KERNEL_IMPL(Conv, WF_F32, "any", "avx512", avx512::MakeLineConv),
    KERNEL_IMPL(Conv, WF_F32, "any", "avx2", avx2::MakeConv),
    KERNEL_IMPL(Conv, WF_F32, "any, bf16", "onednn", onednn::MakeConv, onednn::ConvWays),
    KERNEL_IMPL(Conv, kAnyType, "row-major", "ref", ref::MakeConv),
    KERNEL_IMPL(MatMul, WF_F32, "row-major, bf16", "onednn", onednn::MakeMatMul, onednn::MatMulWays),
    KERNEL_IMPL(MatMul, WF_F64, "row-major", "avx512", avx512::MakeMatMul),
    KERNEL_IMPL(MatMul, WF_F64, "row-major", "avx2", avx2::MakeMatMul),
    KERNEL_IMPL(MatMul, kAnyType, "row-major", "ref", ref::MakeMatMul),
    KERNEL_IMPL(Pool, WF_F32, "row-major", "avx2", avx2::MakePool),
    KERNEL_IMPL(Pool, WF_F32, "any, bf16", "onednn", onednn::MakePool),
    KERNEL_IMPL(Pool, WF_U8, "any", "onednn", onednn::MakePool),
    KERNEL_IMPL(Pool, WF_I8, "any", "onednn", onednn::MakePool),
    KERNEL_IMPL(Pool, kAnyType, "row-major", "ref", ref::MakePool),
    KERNEL_IMPL(Unary, WF_F32, "any", "avx2", avx2::MakeUnary),
    KERNEL_IMPL(Unary, WF_F32, "any", "onednn", onednn::MakeUnary),
    KERNEL_IMPL(Unary, kAnyType, "row-major", "ref", ref::MakeUnary),
    KERNEL_IMPL(Binary, WF_F32, "any, bf16", "onednn", onednn::MakeBinary),
    KERNEL_IMPL(Binary, kAnyType, "row-major", "ref", ref::MakeBinary),
    KERNEL_IMPL(Softmax, WF_F32, "row-major", "onednn", onednn::MakeSoftmax),
    KERNEL_IMPL(Softmax, kAnyType, "row-major", "ref", ref::MakeSoftmax),
    KERNEL_IMPL(Reduce, kAnyType, "row-major", "ref", ref::MakeReduce),
    KERNEL_IMPL(BatchNorm, kAnyType, "row-major", "ref", ref::MakeBatchNorm),
    KERNEL_IMPL(Cast, kAnyType, "row-major", "ref", ref::MakeCast),
    KERNEL_IMPL(Transpose, kAnyType, "row-major", "avx2", avx2::MakeTranspose),
    KERNEL_IMPL(Transpose, kAnyType, "row-major", "ref", ref::MakeTranspose),
    KERNEL_IMPL(Concat, WF_F32, "any, bf16", "onednn", onednn::MakeConcat),
    KERNEL_IMPL(Concat, kAnyType, "row-major", "ref", ref::MakeConcat),
    KERNEL_IMPL(Slice, kAnyType, "row-major", "ref", ref::MakeSlice),
    KERNEL_IMPL(Pad, kAnyType, "row-major", "ref", ref::MakePad),
    KERNEL_IMPL(Gather, kAnyType, "row-major", "ref", ref::MakeGather),
    KERNEL_IMPL(Where, kAnyType, "row-major", "ref", ref::MakeWhere),
    KERNEL_IMPL(Copy, kAnyType, "row-major", "ref", ref::MakeCopy),
    KERNEL_IMPL(AffineGrid, kAnyType, "row-major", "ref", ref::MakeAffineGrid),
    KERNEL_IMPL(ArgExtreme, WF_F32, "row-major", "avx2", avx2::MakeArgExtreme),
    KERNEL_IMPL(ArgExtreme, kAnyType, "row-major", "ref", ref::MakeArgExtreme),
    KERNEL_IMPL(ArgPool, kAnyType, "row-major", "ref", ref::MakeArgPool),
    KERNEL_IMPL(Attention, WF_F32, "row-major, bf16", "avx512", avx512::MakeAttention),
    KERNEL_IMPL(Attention, WF_F32, "row-major", "avx2", avx2::MakeAttention),
    KERNEL_IMPL(Attention, kAnyType, "row-major", "ref", ref::MakeAttention),
    KERNEL_IMPL(BiasGelu, kAnyType, "row-major", "ref", ref::MakeBiasGelu),
    KERNEL_IMPL(Binarize, kAnyType, "row-major", "ref", ref::MakeBinarize),
    KERNEL_IMPL(ClassLoss, kAnyType, "row-major", "ref", ref::MakeClassLoss),
    KERNEL_IMPL(Compress, kAnyType, "row-major", "ref", ref::MakeCompress),
    KERNEL_IMPL(ConvTranspose, WF_F32, "any, bf16", "onednn", onednn::MakeConvTranspose),
    KERNEL_IMPL(ConvTranspose, kAnyType, "row-major", "ref", ref::MakeConvTranspose),
    KERNEL_IMPL(CountGrams, kAnyType, "row-major", "ref", ref::MakeCountGrams),
    KERNEL_IMPL(CumSum, kAnyType, "row-major", "ref", ref::MakeCumSum),
    KERNEL_IMPL(DeformConv, kAnyType, "row-major", "ref", ref::MakeDeformConv),
    KERNEL_IMPL(Dequantise, kAnyType, "any", "avx2", avx2::MakeDequantise),
    KERNEL_IMPL(Dequantise, kAnyType, "row-major", "ref", ref::MakeDequantise),
    KERNEL_IMPL(Det, kAnyType, "row-major", "ref", ref::MakeDet),
    KERNEL_IMPL(Dft, kAnyType, "row-major", "ref", ref::MakeDft),
    KERNEL_IMPL(DynamicQuantise, WF_F32, "row-major", "avx2", avx2::MakeDynamicQuantise),
    KERNEL_IMPL(DynamicQuantise, kAnyType, "row-major", "ref", ref::MakeDynamicQuantise),
    KERNEL_IMPL(Einsum, kAnyType, "row-major", "ref", ref::MakeEinsum),
    KERNEL_IMPL(EmbedNorm, kAnyType, "row-major", "ref", ref::MakeEmbedNorm),
    KERNEL_IMPL(Eye, kAnyType, "row-major", "ref", ref::MakeEye),
    KERNEL_IMPL(Fill, kAnyType, "row-major", "ref", ref::MakeFill),
    KERNEL_IMPL(Fold, kAnyType, "row-major", "ref", ref::MakeFold),
    KERNEL_IMPL(GatherBlocks, kAnyType, "row-major", "ref", ref::MakeGatherBlocks),
    KERNEL_IMPL(GatherElements, kAnyType, "row-major", "ref", ref::MakeGatherElements),
    KERNEL_IMPL(GatherND, kAnyType, "row-major", "ref", ref::MakeGatherND),
    KERNEL_IMPL(GridSample, kAnyType, "row-major", "ref", ref::MakeGridSample),
    KERNEL_IMPL(GroupNorm, WF_F32, "row-major", "avx2", avx2::MakeGroupNorm),
    KERNEL_IMPL(GroupNorm, kAnyType, "row-major", "ref", ref::MakeGroupNorm),
    KERNEL_IMPL(Hardmax, kAnyType, "row-major", "ref", ref::MakeHardmax),
    KERNEL_IMPL(Impute, kAnyType, "row-major", "ref", ref::MakeImpute),
    KERNEL_IMPL(IntegerBinary, kAnyType, "any", "avx2", avx2::MakeIntegerBinary),
    KERNEL_IMPL(IntegerBinary, kAnyType, "row-major", "ref", ref::MakeIntegerBinary),
    KERNEL_IMPL(IntegerConv, kAnyType, "any", "onednn", onednn::MakeIntegerConv),
    KERNEL_IMPL(IntegerConv, kAnyType, "row-major", "ref", ref::MakeIntegerConv),
    KERNEL_IMPL(IntegerMatMul, kAnyType, "row-major", "onednn", onednn::MakeIntegerMatMul),
    KERNEL_IMPL(IntegerMatMul, kAnyType, "row-major", "ref", ref::MakeIntegerMatMul),
    KERNEL_IMPL(Inverse, kAnyType, "row-major", "ref", ref::MakeInverse),
    KERNEL_IMPL(JoinFeatures, kAnyType, "row-major", "ref", ref::MakeJoinFeatures),
    KERNEL_IMPL(LayerNorm, WF_F32, "row-major", "avx2", avx2::MakeLayerNorm),
    KERNEL_IMPL(LayerNorm, kAnyType, "row-major", "ref", ref::MakeLayerNorm),
    KERNEL_IMPL(LinearModel, kAnyType, "row-major", "ref", ref::MakeLinearModel),
    KERNEL_IMPL(LocalNorm, kAnyType, "row-major", "ref", ref::MakeLocalNorm),
    KERNEL_IMPL(Lookup, kAnyType, "row-major", "ref", ref::MakeLookup),
    KERNEL_IMPL(LpNorm, kAnyType, "row-major", "ref", ref::MakeLpNorm),
    KERNEL_IMPL(MatMulBnb4, kAnyType, "row-major", "ref", ref::MakeMatMulBnb4),
    KERNEL_IMPL(MatMulNBits, WF_F32, "row-major", "avx2", avx2::MakeMatMulNBits),
    KERNEL_IMPL(MatMulNBits, kAnyType, "row-major", "ref", ref::MakeMatMulNBits),
    KERNEL_IMPL(MeanVariance, kAnyType, "row-major", "ref", ref::MakeMeanVariance),
    KERNEL_IMPL(MelWeights, kAnyType, "row-major", "ref", ref::MakeMelWeights),
    KERNEL_IMPL(NonMaxSuppression, kAnyType, "row-major", "ref", ref::MakeNonMaxSuppression),
    KERNEL_IMPL(NonZero, kAnyType, "row-major", "ref", ref::MakeNonZero),
    KERNEL_IMPL(Normalize, kAnyType, "row-major", "ref", ref::MakeNormalize),
    KERNEL_IMPL(OneHot, kAnyType, "row-major", "ref", ref::MakeOneHot),
    KERNEL_IMPL(OneOfCategories, kAnyType, "row-major", "ref", ref::MakeOneOfCategories),
    KERNEL_IMPL(Quantise, WF_F32, "any", "avx2", avx2::MakeQuantise),
    KERNEL_IMPL(Quantise, kAnyType, "row-major", "ref", ref::MakeQuantise),
    KERNEL_IMPL(RandomNumbers, kAnyType, "row-major", "ref", ref::MakeRandomNumbers),
    KERNEL_IMPL(Range, kAnyType, "row-major", "ref", ref::MakeRange),
    KERNEL_IMPL(Recurrent, WF_F32, "row-major, bf16", "avx2", avx2::MakeRecurrent),
    KERNEL_IMPL(Recurrent, kAnyType, "row-major", "ref", ref::MakeRecurrent),
    KERNEL_IMPL(Resize, WF_F32, "any", "onednn", onednn::MakeResize),
    KERNEL_IMPL(Resize, kAnyType, "row-major", "ref", ref::MakeResize),
    KERNEL_IMPL(ReverseSequence, kAnyType, "row-major", "ref", ref::MakeReverseSequence),
    KERNEL_IMPL(RoiAlign, kAnyType, "row-major", "ref", ref::MakeRoiAlign),
    KERNEL_IMPL(Rotary, kAnyType, "row-major", "ref", ref::MakeRotary),
    KERNEL_IMPL(Scale, kAnyType, "row-major", "ref", ref::MakeScale),
    KERNEL_IMPL(ScatterElements, kAnyType, "row-major", "ref", ref::MakeScatterElements),
    KERNEL_IMPL(ScatterND, kAnyType, "row-major", "ref", ref::MakeScatterND),
    KERNEL_IMPL(ShortDft, kAnyType, "row-major", "ref", ref::MakeShortDft),
    KERNEL_IMPL(SignalWindow, kAnyType, "row-major", "ref", ref::MakeSignalWindow),
    KERNEL_IMPL(Split, kAnyType, "row-major", "ref", ref::MakeSplit),
    KERNEL_IMPL(Svm, kAnyType, "row-major", "ref", ref::MakeSvm),
    KERNEL_IMPL(TextOp, kAnyType, "row-major", "ref", ref::MakeText),
    KERNEL_IMPL(TopK, kAnyType, "row-major", "ref", ref::MakeTopK),
    KERNEL_IMPL(TrainStep, kAnyType, "row-major", "ref", ref::MakeTrainStep),
    KERNEL_IMPL(TreeEnsemble, kAnyType, "row-major", "ref", ref::MakeTreeEnsemble),
    KERNEL_IMPL(Triangle, kAnyType, "row-major", "ref", ref::MakeTriangle),
    KERNEL_IMPL(Unique, kAnyType, "row-major", "ref", ref::MakeUnique),
    KERNEL_IMPL(Unpool, kAnyType, "row-major", "ref", ref::MakeUnpool),
    KERNEL_IMPL(Variadic, kAnyType, "row-major", "ref", ref::MakeVariadic),
    KERNEL_IMPL(View, kAnyType, "row-major", "ref", ref::MakeView),
};
#undef KERNEL_IMPL

}  // namespace

std::span<const Impl> Impls() { return kImpls; }

namespace {

bool TakesBf16(const Impl& impl) { return std::string_view(impl.layout).ends_with(", bf16"); }

bool IsBf16(const TensorInfo& tensor) { return tensor.format != nullptr && tensor.format->is_bf16(); }

// What is stored as bf16 is widened by who calls, in the format that it has.
Operation InItsTypes(const Operation& operation) {
  Operation wide = operation;
  for (TensorInfo& in : wide.in) {
    if (IsBf16(in)) in.format = onednn::FormatFor(in, WF_F32);
  }
  return wide;
}

bool Takes(const Impl& impl, const Operation& operation) {
  return impl.params == operation.params.index() && (impl.dtype == kAnyType || impl.dtype == operation.in[0].dtype);
}

// Null: none.
base::Result<std::unique_ptr<Kernel>> MakeFirst(const Operation& operation) {
  for (const Impl& impl : kImpls) {
    if (!Takes(impl, operation) || (!operation.way.empty() && impl.ways == nullptr)) continue;
    const bool has_bf16 = std::any_of(operation.in.begin(), operation.in.end(), IsBf16);
    base::Result<std::unique_ptr<Kernel>> kernel = std::unique_ptr<Kernel>();
    if (!has_bf16 || TakesBf16(impl)) kernel = impl.make(operation);
    if (has_bf16 && kernel.ok() && *kernel == nullptr) kernel = impl.make(InItsTypes(operation));
    if (!kernel.ok()) return kernel;
    if (*kernel == nullptr) continue;
    if ((*kernel)->scratch_bytes > kMostScratchBytes) {
      return base::Status(base::kOutOfRange, fmt::format("it takes more than {} bytes of memory beside its results", kMostScratchBytes));
    }
    (*kernel)->impl = operation.way.empty() ? impl.name : fmt::format("{} {}", impl.name, operation.way);
    const std::vector<FormatRef>& wanted = (*kernel)->in_format;
    if (!wanted.empty() && wanted[0] != nullptr && wanted[0]->is_bf16()) (*kernel)->impl += " bf16";
    return kernel;
  }
  return std::unique_ptr<Kernel>();
}

std::string TypesOf(const Operation& operation) {
  std::string types;
  for (const TensorInfo& in : operation.in) {
    if (in.dtype != 0) types += fmt::format("{}{}", types.empty() ? "" : ", ", base::DTypeName(in.dtype));
  }
  return types.empty() ? std::string(base::DTypeName(operation.out[0].dtype)) : types;
}

}  // namespace

base::Result<std::unique_ptr<Kernel>> MakeKernel(const Operation& operation) {
  auto kernel = MakeFirst(operation);
  if (!kernel.ok() || *kernel != nullptr) return kernel;
  if (!operation.way.empty()) {
    Operation own = operation;
    own.way.clear();
    return MakeKernel(own);
  }
  if (HasNarrow(operation)) {
    kernel = MakeFirst(Widened(operation));
    if (!kernel.ok()) return kernel;
    if (*kernel != nullptr) return MakeNarrow(operation, *std::move(kernel));
  }
  return base::Status(base::kUnimplemented, fmt::format("no kernel {} for elements of type {}", ContractOf(operation), TypesOf(operation)));
}

std::string_view ContractOf(const Operation& operation) {
  const auto same = [&](const Impl& impl) { return impl.params == operation.params.index(); };
  const Impl* const row = std::find_if(std::begin(kImpls), std::end(kImpls), same);
  return row == std::end(kImpls) ? "" : row->contract;
}

std::vector<std::string> Ways(const Operation& operation) {
  std::vector<std::string> ways;
  for (const Impl& impl : kImpls) {
    if (impl.ways == nullptr || !Takes(impl, operation)) continue;
    for (std::string& way : impl.ways(operation)) ways.push_back(std::move(way));
  }
  return ways;
}

base::Result<std::unique_ptr<Kernel>> MakeReorder(const TensorInfo& from, const FormatRef& to) { return onednn::MakeReorder(from, to); }

void UseOneThread() { onednn::UseOneThread(); }
bool MultipliesBf16() { return onednn::MultipliesBf16(); }
bool MultipliesBytes() { return onednn::MultipliesBytes(); }
bool StayOnOneThread() { return onednn::StaysOnOneThread(); }
void LoadLibraries() { onednn::LoadAhead(); }
void FreeUnheld() { onednn::FreeUnheld(); }

}  // namespace wf::kernels
