#include "runtime/model/loaded.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "runtime/base/dtype.h"

namespace wf::model {

using base::Status;

namespace {

constexpr char kOfSamples[] = ", the number of samples; a written signature may say that this input has none";

}  // namespace

Status Loaded::CheckInputs(int64_t rows, std::span<const wf_tensor> inputs, std::vector<onnx::Port>& shapes) const {
  const std::vector<onnx::Port>& ports = file->signature.inputs;
  const auto fail = [&](std::string text) { return Status(base::kInvalidArgument, fmt::format("model `{}`: {}", options.name, text)); };
  if (rows > max_rows()) return fail(fmt::format("{} samples in a run, {} are the most", rows, max_rows()));
  if (inputs.size() != ports.size()) return fail(fmt::format("{} inputs, wanted {}", inputs.size(), ports.size()));
  std::map<std::string, int64_t> bound;  // symbols of the signature
  for (size_t i = 0; i < inputs.size(); ++i) {
    const wf_tensor& tensor = inputs[i];
    onnx::Port shape = ports[i];
    if (tensor.dtype != shape.dtype || tensor.rank != shape.dim.size()) {
      return fail(fmt::format("input `{}` is {} with {} {}, wanted {}", shape.name, base::DTypeName(tensor.dtype), tensor.rank,
                              tensor.rank == 1 ? "axis" : "axes", shape.ToString()));
    }
    const bool is_empty = std::count(tensor.dim, tensor.dim + tensor.rank, 0) != 0;  // any stride will do
    int64_t stride = 1;
    for (size_t axis = shape.dim.size(); axis-- > 0;) {
      const int64_t is = tensor.dim[axis];
      int64_t wanted = shape.dim[axis].constant().value_or(is);
      const bool counts_samples = axes.batched && static_cast<int>(axis) == axes.axis[i];
      if (counts_samples) wanted = rows;
      if (const auto symbol = shape.dim[axis].symbol()) wanted = wanted != is ? wanted : bound.try_emplace(*symbol, is).first->second;
      if (is != wanted || is < 0)
        return fail(fmt::format("input `{}`: axis {} is {}, wanted {}{}", shape.name, axis, is, wanted, counts_samples ? kOfSamples : ""));
      if (is > 1 && !is_empty && tensor.stride[axis] != stride) return fail(fmt::format("input `{}` is not dense", shape.name));
      if (__builtin_mul_overflow(stride, std::max<int64_t>(is, 1), &stride))
        return fail(fmt::format("input `{}` is too large", shape.name));
      shape.dim[axis] = onnx::Dim(is);
    }
    shapes.push_back(std::move(shape));
  }
  return Status::Ok();
}

Status Loaded::CheckResultRows(size_t output, const std::vector<int64_t>& dim, int64_t rows) const {
  const int64_t given = dim[static_cast<size_t>(axes.axis[file->signature.inputs.size() + output])];
  if (given == rows) return Status::Ok();
  return Status(base::kInternal, fmt::format("`{}`: output `{}` has {} rows for {} samples", program.subject,
                                             file->signature.outputs[output].name, given, rows));
}

}  // namespace wf::model
