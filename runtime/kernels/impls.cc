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
    KERNEL_IMPL(Binarize, kAnyType, "row-major", "ref", ref::MakeBinarize),
    KERNEL_IMPL(Impute, kAnyType, "row-major", "ref", ref::MakeImpute),
    KERNEL_IMPL(JoinFeatures, kAnyType, "row-major", "ref", ref::MakeJoinFeatures),
    KERNEL_IMPL(LinearModel, kAnyType, "row-major", "ref", ref::MakeLinearModel),
    KERNEL_IMPL(Lookup, kAnyType, "row-major", "ref", ref::MakeLookup),
    KERNEL_IMPL(Normalize, kAnyType, "row-major", "ref", ref::MakeNormalize),
    KERNEL_IMPL(OneOfCategories, kAnyType, "row-major", "ref", ref::MakeOneOfCategories),
    KERNEL_IMPL(Scale, kAnyType, "row-major", "ref", ref::MakeScale),
    KERNEL_IMPL(Svm, kAnyType, "row-major", "ref", ref::MakeSvm),
    KERNEL_IMPL(TreeEnsemble, kAnyType, "row-major", "ref", ref::MakeTreeEnsemble),
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
    (*kernel)->impl = impl.name;
    return kernel;
  }
  return base::Status(base::kUnimplemented,
                      fmt::format("no kernel {} for elements of type {}", contract, base::DTypeName(operation.in[0].dtype)));
}

base::Result<std::unique_ptr<Kernel>> MakeReorder(const TensorInfo& from, const FormatRef& to) { return onednn::MakeReorder(from, to); }

void UseOneThread() { onednn::UseOneThread(); }
bool StayOnOneThread() { return onednn::StaysOnOneThread(); }
void LoadLibraries() { onednn::LoadAhead(); }
void LetGoOfCode() { onednn::LetGoOfCode(); }

}  // namespace wf::kernels
