#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "runtime/base/check.h"
#include "runtime/onnx/tensor_file.h"
#include "runtime/workbench/json.h"
#include "runtime/workbench/npy.h"

namespace {

using wf::workbench::Tensor;

bool IsSame(const Tensor& a, const Tensor& b) {
  for (int64_t at = 0; a.dtype == wf::onnx::kStringType && at < a.count(); ++at) {
    if (wf::workbench::TextAt(a, at) != wf::workbench::TextAt(b, at)) return false;
  }
  if (a.dtype == wf::onnx::kStringType) return b.dtype == a.dtype && a.dim == b.dim;
  return a.dtype == b.dtype && a.dim == b.dim && std::memcmp(a.elements.get(), b.elements.get(), static_cast<size_t>(a.size_bytes())) == 0;
}

void ReadArray(std::span<const uint8_t> bytes) {
  const auto read = wf::workbench::ReadNpy(bytes, "fuzz.npy");
  if (!read.ok()) return;
  const auto written = wf::workbench::WriteNpy(*read);
  if (!written.ok()) return;
  const auto again = wf::workbench::ReadNpy(*written, "again.npy");
  WF_CHECK(again.ok(), again.status().message());
  WF_CHECK(read->dtype == WF_BF16 || IsSame(*read, *again), read->ToString());
}

void ReadProto(std::span<const uint8_t> bytes) {
  const auto read = wf::onnx::ReadTensorBytes(bytes, "fuzz.pb");
  if (!read.ok()) return;
  const auto tensor = wf::workbench::TensorOf(*read);
  // One of no elements may be refused for its other extents.
  WF_CHECK(tensor.ok() || std::ranges::find(read->dim, 0) != read->dim.end(), tensor.status().message());
}

void ReadJson(std::string_view text, uint8_t dtype) {
  const auto members = wf::workbench::MembersOf(text);
  if (!members.ok()) return;
  for (const auto& [name, value] : *members) {
    for (size_t rank = 0; rank < 4; ++rank) {
      wf::onnx::Port port{name, dtype, {}};
      for (size_t axis = 0; axis < rank; ++axis) port.dim.push_back(wf::onnx::Dim::Symbol("n" + std::to_string(axis)));
      const auto read = wf::workbench::TensorOfJson(value, port);
      if (!read.ok()) continue;
      const auto again = wf::workbench::TensorOfJson(wf::workbench::JsonOf(*read), port);
      WF_CHECK(again.ok(), again.status().message());
      WF_CHECK(again->dim == read->dim, read->ToString());
    }
  }
}

}  // namespace

int OneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::span<const uint8_t> rest(data + 1, size - 1);
  if (data[0] == 0) {
    ReadArray(rest);
  } else if (data[0] == 1) {
    ReadProto(rest);
  } else {
    ReadJson({reinterpret_cast<const char*>(rest.data()), rest.size()}, static_cast<uint8_t>(1 + data[0] % (WF_DTYPE_COUNT - 1)));
  }
  return 0;
}
