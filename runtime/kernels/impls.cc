#include <fmt/format.h>

#include "runtime/kernels/onednn/onednn.h"
#include "runtime/kernels/operation.h"
#include "runtime/kernels/ref.h"

namespace wf::kernels {
namespace {

template <typename T, size_t kAt = 0>
constexpr size_t IndexOf() {
  if constexpr (std::is_same_v<std::variant_alternative_t<kAt, Params>, T>) {
    return kAt;
  } else {
    return IndexOf<T, kAt + 1>();
  }
}

#define KERNEL_IMPL(contract, dtype, layout, name, make) {IndexOf<contract>(), #contract, dtype, layout, name, make}
constexpr uint8_t kAnyType = 0;
constexpr int64_t kMostScratchBytes = int64_t{4} << 30;  // as much as one tensor may have

// Every implementation, fastest first, `ref` last. A row whose maker gives null passes the case on to the next.
constexpr Impl kImpls[] = {
    KERNEL_IMPL(Conv, WF_F32, "any", "onednn", onednn::MakeConv),
    KERNEL_IMPL(Conv, kAnyType, "row-major", "ref", ref::MakeConv),
    KERNEL_IMPL(MatMul, WF_F32, "row-major", "onednn", onednn::MakeMatMul),
    KERNEL_IMPL(MatMul, kAnyType, "row-major", "ref", ref::MakeMatMul),
    KERNEL_IMPL(Pool, WF_F32, "any", "onednn", onednn::MakePool),
    KERNEL_IMPL(Pool, kAnyType, "row-major", "ref", ref::MakePool),
    KERNEL_IMPL(Unary, WF_F32, "any", "onednn", onednn::MakeUnary),
    KERNEL_IMPL(Unary, kAnyType, "row-major", "ref", ref::MakeUnary),
    KERNEL_IMPL(Binary, WF_F32, "any", "onednn", onednn::MakeBinary),
    KERNEL_IMPL(Binary, kAnyType, "row-major", "ref", ref::MakeBinary),
    KERNEL_IMPL(Softmax, WF_F32, "row-major", "onednn", onednn::MakeSoftmax),
    KERNEL_IMPL(Softmax, kAnyType, "row-major", "ref", ref::MakeSoftmax),
    KERNEL_IMPL(Reduce, kAnyType, "row-major", "ref", ref::MakeReduce),
    KERNEL_IMPL(BatchNorm, kAnyType, "row-major", "ref", ref::MakeBatchNorm),
    KERNEL_IMPL(Cast, kAnyType, "row-major", "ref", ref::MakeCast),
    KERNEL_IMPL(Transpose, kAnyType, "row-major", "ref", ref::MakeTranspose),
    KERNEL_IMPL(Concat, kAnyType, "row-major", "ref", ref::MakeConcat),
    KERNEL_IMPL(Slice, kAnyType, "row-major", "ref", ref::MakeSlice),
    KERNEL_IMPL(Pad, kAnyType, "row-major", "ref", ref::MakePad),
    KERNEL_IMPL(Gather, kAnyType, "row-major", "ref", ref::MakeGather),
    KERNEL_IMPL(Where, kAnyType, "row-major", "ref", ref::MakeWhere),
    KERNEL_IMPL(Copy, kAnyType, "row-major", "ref", ref::MakeCopy),
    KERNEL_IMPL(AffineGrid, kAnyType, "row-major", "ref", ref::MakeAffineGrid),
    KERNEL_IMPL(ArgExtreme, kAnyType, "row-major", "ref", ref::MakeArgExtreme),
    KERNEL_IMPL(ArgPool, kAnyType, "row-major", "ref", ref::MakeArgPool),
    KERNEL_IMPL(Compress, kAnyType, "row-major", "ref", ref::MakeCompress),
    KERNEL_IMPL(CumSum, kAnyType, "row-major", "ref", ref::MakeCumSum),
    KERNEL_IMPL(Eye, kAnyType, "row-major", "ref", ref::MakeEye),
    KERNEL_IMPL(Fill, kAnyType, "row-major", "ref", ref::MakeFill),
    KERNEL_IMPL(Fold, kAnyType, "row-major", "ref", ref::MakeFold),
    KERNEL_IMPL(GatherElements, kAnyType, "row-major", "ref", ref::MakeGatherElements),
    KERNEL_IMPL(GatherND, kAnyType, "row-major", "ref", ref::MakeGatherND),
    KERNEL_IMPL(GridSample, kAnyType, "row-major", "ref", ref::MakeGridSample),
    KERNEL_IMPL(Hardmax, kAnyType, "row-major", "ref", ref::MakeHardmax),
    KERNEL_IMPL(NonMaxSuppression, kAnyType, "row-major", "ref", ref::MakeNonMaxSuppression),
    KERNEL_IMPL(NonZero, kAnyType, "row-major", "ref", ref::MakeNonZero),
    KERNEL_IMPL(OneHot, kAnyType, "row-major", "ref", ref::MakeOneHot),
    KERNEL_IMPL(Range, kAnyType, "row-major", "ref", ref::MakeRange),
    KERNEL_IMPL(Resize, kAnyType, "row-major", "ref", ref::MakeResize),
    KERNEL_IMPL(ReverseSequence, kAnyType, "row-major", "ref", ref::MakeReverseSequence),
    KERNEL_IMPL(RoiAlign, kAnyType, "row-major", "ref", ref::MakeRoiAlign),
    KERNEL_IMPL(ScatterElements, kAnyType, "row-major", "ref", ref::MakeScatterElements),
    KERNEL_IMPL(ScatterND, kAnyType, "row-major", "ref", ref::MakeScatterND),
    KERNEL_IMPL(Split, kAnyType, "row-major", "ref", ref::MakeSplit),
    KERNEL_IMPL(TopK, kAnyType, "row-major", "ref", ref::MakeTopK),
    KERNEL_IMPL(Triangle, kAnyType, "row-major", "ref", ref::MakeTriangle),
    KERNEL_IMPL(Unique, kAnyType, "row-major", "ref", ref::MakeUnique),
    KERNEL_IMPL(Unpool, kAnyType, "row-major", "ref", ref::MakeUnpool),
    KERNEL_IMPL(View, kAnyType, "row-major", "ref", ref::MakeView),
};
#undef KERNEL_IMPL

}  // namespace

std::span<const Impl> Impls() { return kImpls; }

base::Result<std::unique_ptr<Kernel>> MakeKernel(const Operation& operation) {
  const char* contract = "";
  for (const Impl& impl : kImpls) {
    if (impl.params != operation.params.index()) continue;
    contract = impl.contract;
    if (impl.dtype != kAnyType && impl.dtype != operation.in[0].dtype) continue;
    auto kernel = impl.make(operation);
    if (!kernel.ok()) return kernel;
    if (*kernel == nullptr) continue;
    if ((*kernel)->scratch_bytes > kMostScratchBytes) {
      return base::Status(base::kOutOfRange, fmt::format("it takes more than {} bytes of memory beside its results", kMostScratchBytes));
    }
    (*kernel)->impl = impl.name;
    return kernel;
  }
  return base::Status(base::kUnimplemented,
                      fmt::format("no kernel {} for elements of type {}", contract,
                                  base::DTypeName(operation.in.empty() ? operation.out[0].dtype : operation.in[0].dtype)));
}

base::Result<std::unique_ptr<Kernel>> MakeReorder(const TensorInfo& from, const FormatRef& to) { return onednn::MakeReorder(from, to); }

void UseOneThread() { onednn::UseOneThread(); }
bool StayOnOneThread() { return onednn::StaysOnOneThread(); }
void LoadLibraries() { onednn::LoadAhead(); }
void LetGoOfCode() { onednn::LetGoOfCode(); }

}  // namespace wf::kernels
