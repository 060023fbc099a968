#include "runtime/onnx/text_ports.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace wf::onnx {
namespace {

using base::Result;
using base::Status;

constexpr size_t kMostAxes = 1;  // of strings that calls have

bool IsText(const Port& port) { return port.dtype == kStringType; }

// Of a list that has one element for each output, or is not known.
template <typename T>
void KeepOnly(const std::vector<bool>& kept, std::vector<T>& list) {
  if (list.size() != kept.size()) return;
  size_t at = 0;
  std::erase_if(list, [&](const T&) { return !kept[at++]; });
}

Status CheckInputs(const Signature& file, TextPorts wanted, const BatchAxes& axes) {
  for (size_t i = 0; i < file.inputs.size(); ++i) {
    const Port& port = file.inputs[i];
    if (!IsText(port) || wanted == TextPorts::kAll) continue;
    if (wanted == TextPorts::kNone) return Status(base::kUnimplemented, fmt::format("input `{}` takes strings", port.name));
    if (port.dim.size() - (axes.axis[i] < 0 ? 0 : 1) > kMostAxes)
      return Status(
          base::kUnimplemented,
          fmt::format(
              "input `{}` takes strings with {} axes a call, which can give one or a list; the file needs an input of one axis, which "
              "a `Reshape` in it makes what its nodes take",
              port.ToString(), port.dim.size() - (axes.axis[i] < 0 ? 0 : 1)));
  }
  return Status::Ok();
}

Status NothingLeft(const Model& model) {
  return Status(base::kUnimplemented, fmt::format("its outputs are strings, of which a call can have one or a list: `{}`",
                                                  model.signature.outputs[0].ToString()));
}

// Outputs that a call cannot have, by the axes that were chosen with them.
std::vector<bool> FindDeep(const Signature& file, const BatchAxes& axes) {
  std::vector<bool> is_deep;
  for (size_t i = 0; i < file.outputs.size(); ++i) {
    const Port& port = file.outputs[i];
    is_deep.push_back(IsText(port) && port.dim.size() - (axes.axis[file.inputs.size() + i] < 0 ? 0 : 1) > kMostAxes);
  }
  return is_deep;
}

bool HasLeading(const std::vector<Port>& ports, const Dim& dim) {
  return std::any_of(ports.begin(), ports.end(), [&](const Port& port) { return !port.dim.empty() && port.dim[0] == dim; });
}

// Those, or first of them such as have no input's axis 0 and so may be why the others have no axis of samples.
std::vector<bool> FindFirstDeep(const Signature& file, const BatchAxes& axes) {
  const std::vector<bool> is_deep = FindDeep(file, axes);
  std::vector<bool> is_first = is_deep;
  for (size_t i = 0; i < is_first.size(); ++i) is_first[i] = is_deep[i] && !HasLeading(file.inputs, file.outputs[i].dim[0]);
  return std::find(is_first.begin(), is_first.end(), true) == is_first.end() ? is_deep : is_first;
}

void EraseAxes(BatchAxes& axes, size_t inputs, const std::vector<bool>& left_out) {
  size_t at = 0;
  std::erase_if(axes.axis, [&](int8_t) {
    const size_t port = at++;
    return port >= inputs && left_out[port - inputs];
  });
}

}  // namespace

bool LeaveOutTexts(Model& model, const std::function<bool(size_t)>& leaves) {
  Signature& signature = model.signature;
  std::vector<bool> kept;
  for (size_t i = 0; i < signature.outputs.size(); ++i) kept.push_back(!IsText(signature.outputs[i]) || !leaves(i));
  if (std::find(kept.begin(), kept.end(), true) == kept.end()) return false;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) model.left_out.push_back(signature.outputs[i].name);
  }
  KeepOnly(kept, model.graph.outputs);
  KeepOnly(kept, signature.computed);
  KeepOnly(kept, signature.found_by);
  KeepOnly(kept, signature.outputs);
  return true;
}

Result<BatchAxes> ChoosePorts(Model& model, TextPorts wanted, const Signature* written) {
  const Signature& file = model.signature;
  if (written != nullptr && written->outputs.size() < file.outputs.size()) {
    const auto is_written = [written](const Port& port) {
      return std::any_of(written->outputs.begin(), written->outputs.end(), [&](const Port& other) { return other.name == port.name; });
    };
    LeaveOutTexts(model, [&](size_t output) { return !is_written(file.outputs[output]); });
  }
  const auto is_never = [&](size_t output) { return wanted == TextPorts::kNone || file.outputs[output].dim.size() > kMostAxes + 1; };
  if (wanted != TextPorts::kAll && !LeaveOutTexts(model, is_never)) return NothingLeft(model);
  auto axes = ChooseBatchAxis(file, &model.graph, written);
  while (axes.ok() && wanted == TextPorts::kOfCalls) {
    const std::vector<bool> leaves = written != nullptr ? FindDeep(file, *axes) : FindFirstDeep(file, *axes);
    if (std::find(leaves.begin(), leaves.end(), true) == leaves.end()) break;
    if (!LeaveOutTexts(model, [&](size_t output) { return leaves[output]; })) return NothingLeft(model);
    if (written != nullptr)
      EraseAxes(*axes, file.inputs.size(), leaves);
    else
      axes = ChooseBatchAxis(file, &model.graph);
  }
  if (!axes.ok()) return axes;
  if (Status taken = CheckInputs(file, wanted, *axes); !taken.ok()) return taken;
  return axes;
}

}  // namespace wf::onnx
