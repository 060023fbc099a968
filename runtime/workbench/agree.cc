#include "runtime/workbench/agree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "runtime/base/float_text.h"
#include "runtime/base/load.h"
#include "runtime/model/numbers.h"

namespace wf::workbench {
namespace {

constexpr double kUnitOfBf16 = 1.0 / 128;

bool IsFloat(uint8_t dtype) { return dtype == WF_F16 || dtype == WF_BF16 || dtype == WF_F32 || dtype == WF_F64; }

struct Distance {
  double absolute = 0, relative = 0;
};

Distance DistanceOf(double is, double wanted) {
  if (is == wanted || (std::isnan(is) && std::isnan(wanted))) return {};
  if (!std::isfinite(is) || !std::isfinite(wanted))
    return {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  const double absolute = std::fabs(is - wanted);
  return {absolute, wanted == 0 ? std::numeric_limits<double>::infinity() : absolute / std::fabs(wanted)};
}

template <typename T>
T ElementAs(const Tensor& tensor, int64_t at) {
  return base::Load<T>(tensor.elements.get() + at * static_cast<int64_t>(sizeof(T)));
}

}  // namespace

std::string ElementText(const Tensor& tensor, int64_t at) {
  if (onnx::IsNarrow(tensor.dtype)) return ElementText(InHolder(tensor), at);
  if (tensor.dtype == onnx::kStringType) return fmt::format("\"{}\"", TextAt(tensor, at).substr(0, 64));
  if (tensor.dtype == WF_I64) return fmt::format("{}", ElementAs<int64_t>(tensor, at));
  if (tensor.dtype == WF_U64) return fmt::format("{}", ElementAs<uint64_t>(tensor, at));
  const double number = model::NumberAt(tensor.dtype, tensor.elements.get(), at);
  if (tensor.dtype == WF_BOOL) return number != 0 ? "true" : "false";
  char text[base::kMostFloatText];
  if (tensor.dtype == WF_F16) return {text, base::PutHalf(text, ElementAs<uint16_t>(tensor, at))};
  if (tensor.dtype == WF_BF16) return {text, base::PutBfloat(text, ElementAs<uint16_t>(tensor, at))};
  char* const end = tensor.dtype == WF_F64 ? base::PutFloat(text, number) : base::PutFloat(text, static_cast<float>(number));
  return IsFloat(tensor.dtype) ? std::string(text, end) : fmt::format("{:.0f}", number);
}

std::string FindMisfit(const Tensor& is, const Tensor& wanted) {
  if (is.dtype == wanted.dtype && is.dim == wanted.dim) return "";
  return fmt::format("it is {}, expected {}", is.ToString(), wanted.ToString());
}

Difference Compare(const Tensor& is, const Tensor& wanted, const Tolerance& tolerance) {
  if (onnx::IsNarrow(is.dtype)) return Compare(InHolder(is), InHolder(wanted), tolerance);
  Difference found;
  if (is.dtype == onnx::kStringType) {
    for (int64_t at = 0, count = is.count(); at < count; ++at) {
      if (TextAt(is, at) != TextAt(wanted, at) && found.differ++ == 0) found.first = at;
    }
    return found;
  }
  const int64_t size = base::DTypeSize(is.dtype);
  const double relative = is.dtype == WF_BF16 ? std::max(tolerance.relative, kUnitOfBf16) : tolerance.relative;
  for (int64_t at = 0, count = is.count(); at < count; ++at) {
    if (std::memcmp(is.elements.get() + at * size, wanted.elements.get() + at * size, static_cast<size_t>(size)) == 0) continue;
    const double a = model::NumberAt(is.dtype, is.elements.get(), at), b = model::NumberAt(wanted.dtype, wanted.elements.get(), at);
    const Distance distance = DistanceOf(a, b);
    found.max_absolute = std::max(found.max_absolute, distance.absolute);
    found.max_relative = std::max(found.max_relative, distance.relative);
    // Integers that are not the same differ, also where they are the same as doubles.
    const bool near = std::isfinite(distance.absolute) && distance.absolute <= tolerance.absolute + relative * std::fabs(b);
    const bool agree = IsFloat(is.dtype) && (distance.absolute == 0 || near);
    if (!agree && found.differ++ == 0) found.first = at;
  }
  return found;
}

std::string WhyDifferent(const Tensor& is, const Tensor& wanted, const Tolerance& tolerance) {
  if (std::string misfit = FindMisfit(is, wanted); !misfit.empty()) return misfit;
  const Difference found = Compare(is, wanted, tolerance);
  if (found.differ == 0) return "";
  const std::string index = IndexText(is.dim, found.first);
  return fmt::format("{} is {}, expected {}{}", index.empty() ? "it" : "element " + index, ElementText(is, found.first),
                     ElementText(wanted, found.first), is.count() == 1 ? "" : fmt::format("; {} of {} differ", found.differ, is.count()));
}

}  // namespace wf::workbench
