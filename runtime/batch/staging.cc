#include "runtime/batch/staging.h"

#include <cstdlib>
#include <cstring>

#include "runtime/abi/dtype.h"

namespace wf::batch {
namespace {

struct Strided {
  char* data;
  int64_t stride[WF_MAX_RANK];
};

// Copies an array of rank `rank`, both sides strided in elements; runs that are dense on both sides go in one piece.
void CopyStrided(const Strided& to, const Strided& from, const int64_t* dim, int rank, int64_t element_bytes) {
  uint64_t run = 1;
  while (rank > 0 && to.stride[rank - 1] == static_cast<int64_t>(run) && from.stride[rank - 1] == static_cast<int64_t>(run))
    run *= static_cast<uint64_t>(dim[--rank]);
  for (int i = 0; i < rank; ++i)
    if (dim[i] == 0) return;
  if (run == 0) return;
  int64_t index[WF_MAX_RANK] = {};
  for (;;) {
    int64_t to_at = 0, from_at = 0;
    for (int i = 0; i < rank; ++i) {
      to_at += index[i] * to.stride[i];
      from_at += index[i] * from.stride[i];
    }
    std::memcpy(to.data + to_at * element_bytes, from.data + from_at * element_bytes, run * static_cast<uint64_t>(element_bytes));
    int axis = rank - 1;
    while (axis >= 0 && ++index[axis] == dim[axis]) index[axis--] = 0;
    if (axis < 0) return;
  }
}

void SetDense(wf_tensor& tensor) {
  int64_t stride = 1;
  for (int i = tensor.rank - 1; i >= 0; --i) {
    tensor.stride[i] = stride;
    stride *= tensor.dim[i];
  }
}

bool IsDense(const wf_tensor& tensor) {
  int64_t stride = 1;
  for (int i = tensor.rank - 1; i >= 0; --i) {
    if (tensor.stride[i] != stride && tensor.dim[i] > 1) return false;
    stride *= tensor.dim[i];
  }
  return true;
}

// The tensor's shape with the batch axis put in. axis < 0: as it is.
wf_tensor WithAxis(const wf_tensor& row, int axis, int64_t extent) {
  wf_tensor whole = row;
  if (axis >= 0) {
    whole.rank = static_cast<uint8_t>(row.rank + 1);
    for (int i = row.rank; i > axis; --i) whole.dim[i] = row.dim[i - 1];
    whole.dim[axis] = extent;
  }
  SetDense(whole);
  return whole;
}

// Row `index` of a tensor with a batch axis.
Strided RowOf(const wf_tensor& whole, int axis, int64_t index) {
  Strided row{static_cast<char*>(whole.data), {}};
  int to = 0;
  for (int i = 0; i < whole.rank; ++i)
    if (i != axis) row.stride[to++] = whole.stride[i];
  if (axis >= 0) row.data += index * whole.stride[axis] * base::DTypeSize(whole.dtype);
  return row;
}

Strided AsStrided(const wf_tensor& tensor) {
  Strided strided{static_cast<char*>(tensor.data), {}};
  std::memcpy(strided.stride, tensor.stride, sizeof(strided.stride));
  return strided;
}

std::string_view TextOf(wf_bytes bytes) { return {reinterpret_cast<const char*>(bytes.ptr), bytes.len}; }

std::string PortText(const wf_model& model, const wf_port& port) {
  return "model `" + std::string(TextOf(model.name)) + "`, port `" + std::string(TextOf(port.name)) + "`: ";
}

base::Status CheckShape(const wf_model& model, const wf_port& port, const wf_tensor& row) {
  bool fits = row.dtype == port.dtype && row.rank == port.rank && row.space == 0;
  for (int i = 0; fits && i < port.rank && port.dim != nullptr; ++i) fits = port.dim[i] < 0 || port.dim[i] == row.dim[i];
  if (fits) return {};
  std::string dims;
  for (int i = 0; i < row.rank; ++i) dims += (i == 0 ? "" : ", ") + std::to_string(row.dim[i]);
  return base::Status(base::kInvalidArgument, PortText(model, port) + "a tensor of shape [" + dims + "] does not fit");
}

}  // namespace

Staging::Staging(Runnable& model)
    : model_(model), blocks_(model.model().n_in), inputs_(model.model().n_in), outputs_(model.model().n_out) {}

Staging::~Staging() {
  for (const Block& block : blocks_) std::free(block.data);
}

base::Status Staging::GatherPort(const RowList& rows, int64_t size, uint32_t port) {
  const wf_model& model = model_.model();
  const int axis = model.batch_axis[port];
  const wf_tensor& first = *rows.first->inputs[port];
  WF_RETURN_IF_ERROR(CheckShape(model, model.in[port], first));
  wf_tensor& whole = inputs_[port] = WithAxis(first, axis, size);
  if ((axis < 0 || size == 1) && IsDense(first)) return {};  // the row's own memory
  const uint64_t bytes = abi::DenseBytes(whole.dtype, whole.rank, whole.dim);
  if (bytes == UINT64_MAX)
    return base::Status(base::kResourceExhausted, PortText(model, model.in[port]) + "the batch is larger than memory");
  Block& block = blocks_[port];
  if (block.bytes < bytes) {
    std::free(block.data);
    block.bytes = (bytes + 63) / 64 * 64;
    block.data = std::aligned_alloc(64, block.bytes);
    if (block.data == nullptr) block.bytes = 0;
    if (block.data == nullptr) return base::Status(base::kResourceExhausted, PortText(model, model.in[port]) + "no memory for the batch");
  }
  whole.data = block.data;
  const bool pads = axis >= 0 && rows.count < size;
  const uint64_t filled = axis == 0 ? bytes / static_cast<uint64_t>(size) * static_cast<uint64_t>(rows.count) : 0;
  if (pads) std::memset(static_cast<char*>(block.data) + filled, 0, bytes - filled);
  int64_t index = 0;
  for (const Row* row = rows.first; row != nullptr; row = row->next, ++index) {
    CopyStrided(RowOf(whole, axis, index), AsStrided(*row->inputs[port]), first.dim, first.rank, base::DTypeSize(whole.dtype));
    if (axis < 0) break;  // one copy stands for all rows: their bytes are equal
  }
  return {};
}

base::Status Staging::Gather(const RowList& rows, int64_t size) {
  for (uint32_t port = 0; port < inputs_.size(); ++port) WF_RETURN_IF_ERROR(GatherPort(rows, size, port));
  return {};
}

base::Status Staging::Run(int instance, int64_t size) {
  for (wf_tensor& output : outputs_) output = wf_tensor{};
  return model_.Run(instance, size, inputs_, outputs_);
}

base::Status Staging::Scatter(const RowList& rows, int64_t size) {
  const wf_model& model = model_.model();
  for (uint32_t port = 0; port < outputs_.size(); ++port) {
    const wf_tensor& whole = outputs_[port];
    const int axis = model.batch_axis[model.n_in + port];
    if (axis >= 0 && (axis >= whole.rank || whole.dim[axis] != size))
      return base::Status(base::kInternal, PortText(model, model.out[port]) + "the output does not hold one sample per row");
    wf_tensor shape = whole;
    if (axis >= 0) {
      for (int i = axis; i + 1 < whole.rank; ++i) shape.dim[i] = whole.dim[i + 1];
      --shape.rank;
    }
    SetDense(shape);
    const uint64_t bytes = abi::DenseBytes(shape.dtype, shape.rank, shape.dim);
    if (bytes == UINT64_MAX) return base::Status(base::kInternal, PortText(model, model.out[port]) + "the output has no size");
    int64_t index = 0;
    for (Row* row = rows.first; row != nullptr; row = row->next, ++index) {
      wf_tensor& out = *row->outputs[port];
      out = shape;
      out.data = row->Allocate(bytes == 0 ? 64 : bytes);  // a row without memory has recorded its failure
      if (out.data != nullptr) CopyStrided(AsStrided(out), RowOf(whole, axis, index), shape.dim, shape.rank, base::DTypeSize(shape.dtype));
    }
  }
  return {};
}

}  // namespace wf::batch
