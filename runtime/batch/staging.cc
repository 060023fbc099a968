#include "runtime/batch/staging.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "runtime/abi/dtype.h"
#include "runtime/abi/view.h"
#include "runtime/base/text.h"
#include "runtime/batch/shape.h"

namespace wf::batch {
namespace {

class AnyRowWanted final : public base::Wanted {
 public:
  explicit AnyRowWanted(const RowList& rows) : rows_(rows) {}
  bool IsWanted() const noexcept override {
    for (const Row* row = rows_.first; row != nullptr; row = row->next) {
      if (!row->abandoned.load(std::memory_order_relaxed)) return true;
    }
    return false;
  }

 private:
  const RowList& rows_;
};

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

bool IsDense(const wf_tensor& tensor) {
  int64_t stride = 1;
  for (int i = tensor.rank - 1; i >= 0; --i) {
    if (tensor.stride[i] != stride && tensor.dim[i] > 1) return false;
    stride *= tensor.dim[i];
  }
  return true;
}

// Row `index` of a tensor with a batch axis.
Strided RowOf(const wf_tensor& whole, int axis, int64_t index) {
  Strided row{static_cast<char*>(whole.data), {}};
  int to = 0;
  for (int i = 0; i < whole.rank; ++i)
    if (i != axis) row.stride[to++] = whole.stride[i];
  if (axis >= 0) row.data += index * whole.stride[axis] * abi::ElementBytes(whole.dtype);
  return row;
}

Strided AsStrided(const wf_tensor& tensor) {
  Strided strided{static_cast<char*>(tensor.data), {}};
  std::memcpy(strided.stride, tensor.stride, sizeof(strided.stride));
  return strided;
}

std::string PortText(const wf_model& model, const wf_port& port) {
  return "model `" + std::string(abi::View(model.name)) + "`, port `" + std::string(abi::View(port.name)) + "`: ";
}

base::Status CheckShape(const wf_model& model, const wf_port& port, const wf_tensor& row) {
  bool fits = row.dtype == port.dtype && row.rank == port.rank && row.space == 0;
  for (int i = 0; fits && i < port.rank && port.dim != nullptr; ++i) fits = port.dim[i] < 0 || port.dim[i] == row.dim[i];
  if (fits) return {};
  if (port.dtype == WF_TEXTS && port.rank == 1 && row.rank == 1)
    return base::Status(base::kFailedPrecondition, PortText(model, port) + "a list of " +
                                                       base::Counted(static_cast<uint64_t>(row.dim[0]), "string") + ", wanted " +
                                                       std::to_string(port.dim[0]));
  std::string dims;
  for (int i = 0; i < row.rank; ++i) dims += (i == 0 ? "" : ", ") + std::to_string(row.dim[i]);
  return base::Status(base::kInvalidArgument, PortText(model, port) + "a tensor of shape [" + dims + "] does not fit");
}

bool SameDims(const wf_tensor& a, const wf_tensor& b) { return a.rank == b.rank && std::equal(a.dim, a.dim + a.rank, b.dim); }

std::span<wf_bytes> TextsOf(const wf_tensor& tensor) {
  if (tensor.dtype != WF_TEXTS) return {};
  return {static_cast<wf_bytes*>(tensor.data), abi::DenseBytes(tensor.dtype, tensor.rank, tensor.dim) / sizeof(wf_bytes)};
}

// Strings that the model has and the row keeps: their bytes go one behind the other into memory of the row. False: there is none.
bool KeepTexts(std::span<wf_bytes> texts, Row& row) {
  if (texts.empty()) return true;
  uint64_t bytes = 0;
  for (const wf_bytes& text : texts) bytes += text.len;
  auto* to = static_cast<uint8_t*>(row.Allocate(std::max<uint64_t>(bytes, 1)));
  if (to == nullptr) return false;
  for (wf_bytes& text : texts) {
    if (text.len != 0) std::memcpy(to, text.ptr, text.len);
    text.ptr = to;
    to += text.len;
  }
  return true;
}

bool IsPadded(const RowList& rows, const Padding& padding) { return padding.pads() && rows.first->kind < padding.kinds(); }

}  // namespace

Staging::Staging(Runnable& model)
    : model_(model), blocks_(model.model().n_in), inputs_(model.model().n_in), outputs_(model.model().n_out) {}

Staging::~Staging() {
  for (Block& block : blocks_) Free(block);
}

void Staging::Free(Block& block) {
  std::free(block.data);
  block.data = nullptr;
  block.bytes = 0;
  block.claim.Drop();
}

void Staging::Trim(int instance) {
  model_.Trim(instance);
  const int64_t kept = model_.memory_share().kept_bytes;
  for (Block& block : blocks_)
    if (block.claim.bytes() > kept) Free(block);
}

base::Status Staging::Reserve(uint32_t port, uint64_t bytes) {
  const wf_model& model = model_.model();
  if (bytes == UINT64_MAX) return base::Status(base::kOutOfRange, PortText(model, model.in[port]) + "the batch is larger than memory");
  Block& block = blocks_[port];
  if (block.bytes >= bytes) return {};
  Free(block);
  const uint64_t whole = (bytes + 63) / 64 * 64;
  if (block.claim.Take(model_.memory_share().limit, static_cast<int64_t>(whole))) block.data = std::aligned_alloc(64, whole);
  if (block.data != nullptr) {
    block.bytes = whole;
    return {};
  }
  block.claim.Drop();
  return base::Status(base::kResourceExhausted, PortText(model, model.in[port]) + "no memory for the batch");
}

base::Status Staging::GatherPort(const RowList& rows, int64_t size, const Padding& padding, uint32_t port) {
  const wf_model& model = model_.model();
  const int axis = model.batch_axis[port];
  const wf_tensor& first = *rows.first->inputs[port];
  WF_RETURN_IF_ERROR(CheckShape(model, model.in[port], first));
  wf_tensor filled_up = first;
  if (IsPadded(rows, padding) && !padding.SetInput(port, padding.bucket(rows.first->kind), filled_up))
    return base::Status(base::kInternal, PortText(model, model.in[port]) + "a bucket of `pad` gives it no extent");
  bool pads = false;
  for (const Row* row = rows.first; row != nullptr && !pads; row = row->next) pads = !SameDims(*row->inputs[port], filled_up);
  wf_tensor& whole = inputs_[port] = WithAxis(filled_up, axis, size);
  if (!pads && (axis < 0 || size == 1) && IsDense(first)) return {};  // the row's own memory
  const uint64_t bytes = abi::DenseBytes(whole.dtype, whole.rank, whole.dim);
  WF_RETURN_IF_ERROR(Reserve(port, bytes));
  whole.data = blocks_[port].data;
  if (pads) std::memset(whole.data, 0, bytes);
  const auto copy = [&](int64_t index, const wf_tensor& own) {
    CopyStrided(RowOf(whole, axis, index), AsStrided(own), own.dim, own.rank, abi::ElementBytes(whole.dtype));
  };
  int64_t index = 0;
  for (const Row* row = rows.first; row != nullptr; row = row->next, ++index) {
    copy(index, *row->inputs[port]);
    if (axis < 0) return {};  // one copy stands for all rows: their bytes are equal
  }
  for (; index < size; ++index) copy(index, first);
  return {};
}

base::Status Staging::Gather(const RowList& rows, int64_t size, const Padding& padding) {
  for (uint32_t port = 0; port < inputs_.size(); ++port) WF_RETURN_IF_ERROR(GatherPort(rows, size, padding, port));
  return {};
}

// A run is shared out evenly: rows of one group have equal shapes.
base::Status Staging::CheckSize(const RowList& rows, int instance, int64_t size) {
  int64_t left = INT64_MAX / size;
  for (const Row* row = rows.first; row != nullptr; row = row->next) left = std::min(left, row->memory_left());
  return model_.CheckSize(instance, size, inputs_, left * size);
}

base::Status Staging::Run(const RowList& rows, int instance, int64_t size) {
  for (wf_tensor& output : outputs_) output = wf_tensor{};
  const AnyRowWanted wanted(rows);
  return model_.Run(instance, size, inputs_, outputs_, &wanted);
}

base::Status Staging::ScatterPort(const RowList& rows, int64_t size, const Padding& padding, uint32_t port) {
  const wf_model& model = model_.model();
  const wf_tensor& whole = outputs_[port];
  const int axis = model.batch_axis[model.n_in + port];
  const auto fail = [&](const char* text) { return base::Status(base::kInternal, PortText(model, model.out[port]) + text); };
  if (axis >= 0 && (axis >= whole.rank || whole.dim[axis] != size)) return fail("the output does not hold one sample per row");
  wf_tensor filled_up = whole;
  if (axis >= 0) {
    for (int i = axis; i + 1 < whole.rank; ++i) filled_up.dim[i] = whole.dim[i + 1];
    --filled_up.rank;
  }
  WF_RETURN_IF_ERROR(CheckShape(model, model.out[port], filled_up));
  const bool padded = IsPadded(rows, padding);
  if (padded) {
    wf_tensor expected = filled_up;
    if (!padding.SetOutput(port, padding.bucket(rows.first->kind), expected) || !SameDims(expected, filled_up))
      return fail("its extent is not the function of the padded dimension that the signature states");
  }
  int64_t index = 0;
  for (Row* row = rows.first; row != nullptr; row = row->next, ++index) {
    wf_tensor& out = *row->outputs[port];
    out = filled_up;
    if (padded && !padding.SetOutput(port, *padding.SymbolOf(row->inputs), out)) return fail("the row is too short for its extent");
    SetDense(out);
    const uint64_t bytes = abi::DenseBytes(out.dtype, out.rank, out.dim);
    if (bytes == UINT64_MAX) return fail("the output has no size");
    out.data = row->Allocate(bytes == 0 ? 64 : bytes);  // a row without memory has recorded its failure
    if (out.data == nullptr) continue;
    CopyStrided(AsStrided(out), RowOf(whole, axis, index), out.dim, out.rank, abi::ElementBytes(out.dtype));
    const std::span<wf_bytes> texts = TextsOf(out);
    if (!std::all_of(texts.begin(), texts.end(), [](wf_bytes text) { return base::IsUtf8(abi::View(text)); }))
      return fail("a string of it is not UTF-8");
    if (!KeepTexts(texts, *row)) out.data = nullptr;
  }
  return {};
}

base::Status Staging::Scatter(const RowList& rows, int64_t size, const Padding& padding) {
  for (uint32_t port = 0; port < outputs_.size(); ++port) WF_RETURN_IF_ERROR(ScatterPort(rows, size, padding, port));
  return {};
}

}  // namespace wf::batch
