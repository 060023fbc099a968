#include "runtime/onnx/tensor_file.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "runtime/onnx/infer.h"
#include "runtime/onnx/source.h"
#include "runtime/onnx/tensor.h"
#include "runtime/onnx/texts.h"

namespace wf::onnx {

using base::Result;
using base::Status;

namespace {

Status Fail(const std::string& name, base::StatusCode code, const std::string& text) { return {code, fmt::format("`{}`: {}", name, text)}; }

template <typename Proto>
bool Parse(std::span<const uint8_t> bytes, Proto& proto) {
  return static_cast<int64_t>(bytes.size()) <= INT32_MAX && proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

Result<Weight> WeightOf(const pb::TensorProto& proto, const std::string& name, Texts& texts) {
  Model none;
  auto weight = ReadTensor(proto, {}, none, texts, {.max_weight_bytes = static_cast<uint64_t>(kMostTensorBytes), .external_data = false});
  if (!weight.ok()) return Fail(name, weight.status().code(), weight.status().message());
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
  std::vector<std::string> none;
  Texts texts(none);
  auto weight = WeightOf(proto, name, texts);
  if (weight.ok() && weight->dtype == kStringType)
    return Fail(name, base::kUnimplemented, "elements of type STRING are not supported here");
  return weight;
}

Result<Weight> ReadTensorFile(const std::string& path) {
  const auto bytes = BytesIn(path);
  return bytes.ok() ? ReadTensorBytes(*bytes, path) : bytes.status();
}

Result<FileValue> ReadValueFile(const std::string& path, bool is_optional, bool is_sequence) {
  const auto bytes = BytesIn(path);
  if (!bytes.ok()) return bytes.status();
  pb::OptionalProto optional;
  if (is_optional   ? !Parse(*bytes, optional)
      : is_sequence ? !Parse(*bytes, *optional.mutable_sequence_value())
                    : !Parse(*bytes, *optional.mutable_tensor_value()))
    return Fail(path, base::kInvalidArgument,
                fmt::format("it holds no {} of ONNX", is_optional   ? "optional value"
                                                      : is_sequence ? "sequence"
                                                                    : "tensor"));
  FileValue value;
  Texts texts(value.texts);
  const auto add = [&](const pb::TensorProto& tensor) {
    auto weight = WeightOf(tensor, path, texts);
    if (!weight.ok()) return weight.status();
    if (weight->name.empty()) weight->name = optional.name();
    value.tensors.push_back(*std::move(weight));
    return Status::Ok();
  };
  if (optional.has_tensor_value()) {
    const pb::TensorProto& tensor = optional.tensor_value();
    if (tensor.data_type() == pb::UINT16 && tensor.string_data_size() > 0)  // so the fields of a sequence of maps read
      return Fail(path, base::kUnimplemented, "a sequence of maps is not supported; a tensor with a column for each key is");
    WF_RETURN_IF_ERROR(add(optional.tensor_value()));
  } else if (optional.has_sequence_value()) {
    if (optional.sequence_value().elem_type() > 1)
      return Fail(path, base::kUnimplemented, "a sequence of what is no tensor is not supported");
    for (const pb::TensorProto& tensor : optional.sequence_value().tensor_values()) WF_RETURN_IF_ERROR(add(tensor));
  } else {
    value.is_absent = true;
  }
  return value;
}

}  // namespace wf::onnx
