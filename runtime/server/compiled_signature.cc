#include "runtime/server/compiled_signature.h"

#include <algorithm>
#include <string>
#include <utility>

#include "runtime/abi/view.h"
#include "runtime/base/dim.h"

namespace wf::server {
using abi::View;
namespace {

class CompiledReader {
 public:
  explicit CompiledReader(const wf_model& row) : row_(row), extents_(row.extents) {}

  CompiledSignature Read() {
    CompiledSignature compiled;
    for (uint32_t i = 0; i < row_.n_in; ++i) {
      std::vector<bool> never;
      compiled.signature.inputs.push_back(ReadPort(row_.in[i], row_.batch_axis[i], never));
    }
    for (uint32_t i = 0; i < row_.n_out; ++i)
      compiled.signature.outputs.push_back(ReadPort(row_.out[i], row_.batch_axis[row_.n_in + i], compiled.checked.emplace_back()));
    return compiled;
  }

 private:
  onnx::Port ReadPort(const wf_port& port, int axis, std::vector<bool>& checked) {
    onnx::Port compiled{std::string(View(port.name)), port.dtype, {}};
    for (uint32_t i = 0; i < port.rank; ++i) {
      checked.push_back(extents_ == nullptr || *extents_++ != 0);
      onnx::Dim extent = extents_ == nullptr ? unknown_.Next() : ReadExtent();
      compiled.dim.push_back(port.dim[i] < 0 ? std::move(extent) : onnx::Dim(port.dim[i]));
    }
    if (axis < 0) return compiled;
    compiled.dim.insert(compiled.dim.begin() + axis, row_.batched != 0 ? onnx::Dim::Symbol(std::string(onnx::kBatchSymbol)) : onnx::Dim(1));
    checked.insert(checked.begin() + axis, true);  // by the batch
    return compiled;
  }
  onnx::Dim ReadExtent() {
    return onnx::Dim::Read(extents_,
                           [this](int64_t number) { return std::string(View(row_.symbols[number])) + '#' + std::to_string(number); });
  }

  const wf_model& row_;
  const int64_t* extents_;
  base::UnknownDims unknown_{"c"};
};

}  // namespace

CompiledSignature ReadCompiled(const wf_model& row) { return CompiledReader(row).Read(); }

base::Status CheckAxes(const onnx::BatchAxes& axes, const wf_model& row) {
  const bool same = axes.batched == (row.batched != 0) && std::equal(axes.axis.begin(), axes.axis.end(), row.batch_axis);
  if (same) return {};
  return {base::kInvalidArgument, axes.reason + ", and the program was compiled for " +
                                      (row.batched != 0 ? "samples along axis 0" : "no samples along an axis of open extent")};
}

base::Status CheckCompiled(const onnx::Signature& file, const CompiledSignature& compiled) {
  const onnx::Signature& wanted = compiled.signature;
  onnx::Signature renamed = file;
  if (file.inputs.size() == wanted.inputs.size() && file.outputs.size() == wanted.outputs.size()) {
    for (size_t i = 0; i < file.inputs.size(); ++i) renamed.inputs[i].name = wanted.inputs[i].name;
    for (size_t i = 0; i < file.outputs.size(); ++i) renamed.outputs[i].name = wanted.outputs[i].name;
  }
  WF_RETURN_IF_ERROR(onnx::CheckSignature(renamed, wanted));
  const auto unproved = onnx::UnprovedExtents(renamed, wanted);
  for (size_t i = 0; i < unproved.size(); ++i) {
    for (size_t axis = 0; axis < unproved[i].size(); ++axis) {
      if (!unproved[i][axis] || compiled.checked[i][axis]) continue;
      return {base::kInvalidArgument, "output " + std::to_string(i) + " is `" + renamed.outputs[i].ToString() + "` in the file, `" +
                                          wanted.outputs[i].ToString() + "` in the program, which takes axis " + std::to_string(axis) +
                                          " to be `" + wanted.outputs[i].dim[axis].ToString() + "`, and the nodes do not prove it"};
    }
  }
  return {};
}

}  // namespace wf::server
