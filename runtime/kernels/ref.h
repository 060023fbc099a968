#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/kernels/operation.h"

// The reference implementations: plain C++, row-major, one per contract, the last row of each. They are what the others are tested against,
// and what runs where no other row fits. Each gives null for element types that it does not take.
// Errors: kResourceExhausted for memory, and those of loading constants.
namespace wf::kernels::ref {

base::Result<std::unique_ptr<Kernel>> MakeAttention(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeBatchNorm(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeBiasGelu(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeBinary(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeCast(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeClassLoss(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeConcat(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeConv(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeConvTranspose(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeCopy(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeDequantise(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeDynamicQuantise(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeIntegerBinary(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeIntegerConv(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeIntegerMatMul(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeQuantise(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeRandomNumbers(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeVariadic(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeAffineGrid(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeArgExtreme(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeArgPool(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeCompress(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeCumSum(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeEye(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeFill(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeFold(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeGatherBlocks(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeGatherElements(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeGatherND(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeGridSample(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeHardmax(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeNonMaxSuppression(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeNonZero(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeOneHot(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeRange(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeResize(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeReverseSequence(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeRoiAlign(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeScatterElements(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeScatterND(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeSplit(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeTopK(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeTriangle(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeUnique(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeUnpool(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeView(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeDeformConv(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeDet(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeDft(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeEinsum(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeEmbedNorm(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeGather(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeGroupNorm(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeInverse(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeLayerNorm(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeLocalNorm(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeLpNorm(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeMatMul(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeMatMulBnb4(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeMatMulNBits(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeMeanVariance(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeMelWeights(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakePad(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakePool(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeRecurrent(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeReduce(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeRotary(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeShortDft(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeSignalWindow(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeSlice(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeSoftmax(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeTranspose(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeUnary(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeWhere(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeBinarize(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeImpute(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeJoinFeatures(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeLinearModel(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeLookup(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeNormalize(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeOneOfCategories(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeScale(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeSvm(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeText(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeTreeEnsemble(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeCountGrams(const Operation&);
base::Result<std::unique_ptr<Kernel>> MakeTrainStep(const Operation&);

// Calls f.operator()<T>() with the C++ type of a dtype in the list and gives its result; a null kernel when the dtype is not in the list.
template <typename... Ts, typename F>
std::unique_ptr<Kernel> ForType(uint8_t dtype, F f);

template <typename T>
constexpr uint8_t kDTypeOf = 0;
template <>
inline constexpr uint8_t kDTypeOf<bool> = WF_BOOL;
template <>
inline constexpr uint8_t kDTypeOf<int8_t> = WF_I8;
template <>
inline constexpr uint8_t kDTypeOf<int16_t> = WF_I16;
template <>
inline constexpr uint8_t kDTypeOf<int32_t> = WF_I32;
template <>
inline constexpr uint8_t kDTypeOf<int64_t> = WF_I64;
template <>
inline constexpr uint8_t kDTypeOf<uint8_t> = WF_U8;
template <>
inline constexpr uint8_t kDTypeOf<uint16_t> = WF_U16;
template <>
inline constexpr uint8_t kDTypeOf<uint32_t> = WF_U32;
template <>
inline constexpr uint8_t kDTypeOf<uint64_t> = WF_U64;
template <>
inline constexpr uint8_t kDTypeOf<float> = WF_F32;
template <>
inline constexpr uint8_t kDTypeOf<double> = WF_F64;

template <typename... Ts, typename F>
std::unique_ptr<Kernel> ForType(uint8_t dtype, F f) {
  std::unique_ptr<Kernel> result;
  ((kDTypeOf<Ts> == dtype ? void(result = f.template operator()<Ts>()) : void()), ...);
  return result;
}

// Cut to a whole number, the nearest there is of those too large, 0 for NaN.
template <typename T>
T Saturated(double x) {
  if (std::isnan(x)) return 0;
  constexpr double kLow = static_cast<double>(std::numeric_limits<T>::lowest()), kHigh = static_cast<double>(std::numeric_limits<T>::max());
  if (x <= kLow) return std::numeric_limits<T>::lowest();
  return x >= kHigh ? std::numeric_limits<T>::max() : static_cast<T>(x);
}

template <typename T>
bool IsNan(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(x);
  } else {
    return false;
  }
}

// What no number is below: the maximum of nothing.
template <typename T>
constexpr T Least() {
  using Limits = std::numeric_limits<T>;
  return Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
}

// Applies `op` to `count` elements in place; float and double only.
template <typename T>
void Apply(const Unary& unary, T* data, int64_t count);
extern template void Apply<float>(const Unary&, float*, int64_t);
extern template void Apply<double>(const Unary&, double*, int64_t);

}  // namespace wf::kernels::ref
