#include "runtime/onnx/tensor_file.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "runtime/onnx/infer.h"
#include "runtime/onnx/source.h"
#include "runtime/onnx/tensor.h"

namespace wf::onnx {

using base::Result;
using base::Status;

Result<Weight> ReadTensorBytes(std::span<const uint8_t> bytes, const std::string& name) {
  const auto fail = [&name](base::StatusCode code, const std::string& text) { return Status(code, fmt::format("`{}`: {}", name, text)); };
  pb::TensorProto proto;
  if (static_cast<int64_t>(bytes.size()) > INT32_MAX || !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return fail(base::kInvalidArgument, "it holds no tensor of ONNX");
  Model none;
  std::vector<std::string> names;
  Texts texts(names);
  auto weight = ReadTensor(proto, {}, none, texts, {.max_weight_bytes = static_cast<uint64_t>(kMostTensorBytes), .external_data = false});
  if (!weight.ok()) return fail(weight.status().code(), weight.status().message());
  if (weight->dtype == kStringType) return fail(base::kUnimplemented, "elements of type STRING are not supported");
  return weight;
}

Result<Weight> ReadTensorFile(const std::string& path) {
  const auto source = OpenFile(path);
  if (!source.ok()) return source.status();
  if ((*source)->size() > INT32_MAX) {
    return Status(base::kOutOfRange, fmt::format("`{}`: a tensor of {} bytes, {} are the most", path, (*source)->size(), INT32_MAX));
  }
  std::vector<uint8_t> bytes((*source)->size());
  WF_RETURN_IF_ERROR((*source)->Read(0, bytes));
  return ReadTensorBytes(bytes, path);
}

}  // namespace wf::onnx
