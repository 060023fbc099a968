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

namespace {

Status Fail(const std::string& name, base::StatusCode code, const std::string& text) { return {code, fmt::format("`{}`: {}", name, text)}; }

template <typename Proto>
bool Parse(std::span<const uint8_t> bytes, Proto& proto) {
  return static_cast<int64_t>(bytes.size()) <= INT32_MAX && proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

Result<Weight> WeightOf(const pb::TensorProto& proto, const std::string& name) {
  Model none;
  std::vector<std::string> names;
  Texts texts(names);
  auto weight = ReadTensor(proto, {}, none, texts, {.max_weight_bytes = static_cast<uint64_t>(kMostTensorBytes), .external_data = false});
  if (!weight.ok()) return Fail(name, weight.status().code(), weight.status().message());
  if (weight->dtype == kStringType) return Fail(name, base::kUnimplemented, "elements of type STRING are not supported");
  return weight;
}

Result<std::vector<uint8_t>> BytesIn(const std::string& path) {
  const auto source = OpenFile(path);
  if (!source.ok()) return source.status();
  if ((*source)->size() > INT32_MAX) {
    return Status(base::kOutOfRange, fmt::format("`{}`: a tensor of {} bytes, {} are the most", path, (*source)->size(), INT32_MAX));
  }
  std::vector<uint8_t> bytes((*source)->size());
  WF_RETURN_IF_ERROR((*source)->Read(0, bytes));
  return bytes;
}

}  // namespace

Result<Weight> ReadTensorBytes(std::span<const uint8_t> bytes, const std::string& name) {
  pb::TensorProto proto;
  if (!Parse(bytes, proto)) return Fail(name, base::kInvalidArgument, "it holds no tensor of ONNX");
  return WeightOf(proto, name);
}

Result<Weight> ReadTensorFile(const std::string& path) {
  const auto bytes = BytesIn(path);
  return bytes.ok() ? ReadTensorBytes(*bytes, path) : bytes.status();
}

Result<Weight> ReadOptionalFile(const std::string& path) {
  const auto bytes = BytesIn(path);
  if (!bytes.ok()) return bytes.status();
  pb::OptionalProto proto;
  if (!Parse(*bytes, proto)) return Fail(path, base::kInvalidArgument, "it holds no optional value of ONNX");
  if (!proto.has_tensor_value())
    return Fail(path, base::kUnimplemented, "an optional value that is not there, or is no tensor, is not supported");
  auto weight = WeightOf(proto.tensor_value(), path);
  if (weight.ok() && weight->name.empty()) weight->name = proto.name();
  return weight;
}

}  // namespace wf::onnx
