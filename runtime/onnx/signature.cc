#include "runtime/onnx/signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "runtime/base/text.h"
#include "runtime/onnx/infer.h"
#include "runtime/onnx/lengths.h"
#include "runtime/onnx/mixing.h"

namespace wf::onnx {
namespace {

using base::Result;
using base::Status;

std::vector<const Port*> Ports(const Signature& signature) {
  std::vector<const Port*> ports;
  for (const Port& port : signature.inputs) ports.push_back(&port);
  for (const Port& port : signature.outputs) ports.push_back(&port);
  return ports;
}

bool IsBatch(const Dim& dim) { return dim.symbol() == std::string(kBatchSymbol); }

const char* WordFor(bool is_input) { return is_input ? "input" : "output"; }

bool FitsButForName(const Port& is, const Port& want) {
  if (is.dtype != want.dtype || is.dim.size() != want.dim.size()) return false;
  for (size_t axis = 0; axis < is.dim.size(); ++axis) {
    const auto fixed = is.dim[axis].constant(), wants = want.dim[axis].constant();
    if (IsBatch(want.dim[axis]) && fixed == 1) continue;  // an axis of one sample
    // The length of a list of strings is no part of its type: where it was written without the file at hand, nothing tells it.
    if (want.dtype == kStringType && fixed && !wants && !IsBatch(want.dim[axis])) continue;
    if (fixed != wants && fixed) return false;  // a dynamic axis of the file may be fixed by the signature
  }
  return true;
}

std::string Differs(const char* what, size_t i, const Port& is, const Port& want) {
  return fmt::format("{} {} is `{}` in the file, `{}` in the signature", what, i, is.ToString(), want.ToString());
}

void ComparePorts(const Signature& file, const Signature& wanted, bool is_input, std::vector<Mismatch>& found) {
  const std::vector<Port>&is = is_input ? file.inputs : file.outputs, &want = is_input ? wanted.inputs : wanted.outputs;
  const char* const what = WordFor(is_input);
  if (is.size() != want.size()) {
    found.push_back({fmt::format("the file has {}, the signature {}", base::Counted(is.size(), what), want.size()), is_input});
    return;
  }
  for (size_t i = 0; i < is.size(); ++i) {
    const bool fits = FitsButForName(is[i], want[i]);
    if (!fits || is[i].name != want[i].name) found.push_back({Differs(what, i, is[i], want[i]), is_input, i, fits});
  }
}

// The extents of a file's outputs beside those that are wanted, both in the symbols of `wanted`.
class OutputExtents {
 public:
  OutputExtents(const Signature& file, const Signature& wanted) : file_(file), wanted_(wanted) {
    for (size_t i = 0; i < file.inputs.size(); ++i) {
      for (size_t axis = 0; axis < file.inputs[i].dim.size(); ++axis) BindInput(file.inputs[i].dim[axis], wanted.inputs[i].dim[axis]);
    }
  }

  struct Pair {
    Dim is, want;
    bool follows;
  };
  // REQUIRES: in the order of outputs and axes, each once.
  Pair At(size_t output, size_t axis) {
    const Dim& stated = file_.computed.empty() ? file_.outputs[output].dim[axis] : file_.computed[output][axis];
    Dim is = stated.Substitute([&](const std::string& symbol) { return std::optional(OfFile(symbol)); });
    const Dim& want = wanted_.outputs[output].dim[axis];
    const auto linear = want.AsLinear();
    if (linear && linear->mul > 0 && !of_wanted_.contains(linear->symbol))
      of_wanted_.emplace(linear->symbol, Dim::FloorDiv(is - Dim(linear->add), Dim(linear->mul)));
    Dim known = want.Substitute([&](const std::string& symbol) -> std::optional<Dim> {
      const auto at = of_wanted_.find(symbol);
      return at == of_wanted_.end() ? std::nullopt : std::optional(at->second);
    });
    const bool follows = is == known;
    return {std::move(is), std::move(known), follows};
  }

 private:
  // An axis that is one symbol in the file has the extent that calls are to give it; where they may give several, it has none.
  void BindInput(const Dim& is, const Dim& want) {
    for (const std::string& symbol : want.Symbols()) of_wanted_.emplace(symbol, Dim::Symbol(symbol));
    const auto symbol = is.symbol();
    if (!symbol) return;
    const auto [at, is_new] = of_file_.try_emplace(*symbol, want);
    if (!is_new && at->second != want) at->second = unknown_.Next();
  }
  Dim OfFile(const std::string& symbol) {
    const auto [at, is_new] = of_file_.try_emplace(symbol);
    if (is_new) at->second = unknown_.Next();
    return at->second;
  }

  const Signature &file_, &wanted_;
  std::map<std::string, Dim> of_file_, of_wanted_;
  base::UnknownDims unknown_{"o"};
};

// Extents that are free in the file, and yet never those that are wanted.
void CompareExtents(const Signature& file, const Signature& wanted, std::vector<Mismatch>& found) {
  OutputExtents extents(file, wanted);
  for (size_t i = 0; i < file.outputs.size(); ++i) {
    for (size_t axis = 0; axis < file.outputs[i].dim.size(); ++axis) {
      const OutputExtents::Pair pair = extents.At(i, axis);
      // What nodes compute may be empty, where extents that callers choose are taken not to be.
      const bool never =
          Dim::ProvedDifferent(pair.is, pair.want) || (pair.want != Dim(0) && Dim::ProvedDifferentAbove0(pair.is, pair.want));
      if (!never || IsBatch(wanted.outputs[i].dim[axis])) continue;
      found.push_back(
          {fmt::format("{}: the nodes compute `{}` on axis {}, which is never `{}`",
                       Differs(WordFor(false), i, file.outputs[i], wanted.outputs[i]), pair.is.ToString(), axis, pair.want.ToString()),
           false, i});
    }
  }
}

// Symbols that stand for the number of samples, when every input's axis 0 is one.
std::vector<std::string> LeadingSymbols(const Signature& signature) {
  std::vector<std::string> symbols;
  for (const Port& port : signature.inputs) {
    if (port.dim.empty() || !port.dim[0].symbol()) return {};
    symbols.push_back(*port.dim[0].symbol());
  }
  return symbols;
}

bool IsOfInput(const Signature& file, const std::string& symbol) {
  return std::any_of(file.inputs.begin(), file.inputs.end(), [&](const Port& port) {
    return std::any_of(port.dim.begin(), port.dim.end(), [&](const Dim& dim) { return dim.symbol() == symbol; });
  });
}

Result<BatchAxes> ChooseWritten(const Signature& file, const Signature& written) {
  BatchAxes result;
  const auto ports = Ports(written), real = Ports(file);
  bool any = false, any_fixed = false;
  for (size_t i = 0; i < ports.size(); ++i) {
    int8_t at = -1;
    for (size_t axis = 0; axis < ports[i]->dim.size(); ++axis) {
      const auto symbols = ports[i]->dim[axis].Symbols();
      if (std::find(symbols.begin(), symbols.end(), kBatchSymbol) == symbols.end()) continue;
      if (at >= 0 || !IsBatch(ports[i]->dim[axis])) {
        return Status(base::kInvalidArgument, fmt::format("`{}`: `batch` marks one whole axis of a port", ports[i]->ToString()));
      }
      at = static_cast<int8_t>(axis);
      any = true;
      any_fixed = any_fixed || real[i]->dim[axis].is_constant();
    }
    result.axis.push_back(at);
  }
  for (size_t i = file.inputs.size(); any && i < ports.size(); ++i) {
    if (result.axis[i] < 0)
      return Status(base::kInvalidArgument, fmt::format("output `{}` has no axis `batch`, but others have", ports[i]->ToString()));
  }
  const bool of_input = std::any_of(result.axis.begin(), result.axis.begin() + static_cast<ptrdiff_t>(file.inputs.size()),
                                    [](int8_t axis) { return axis >= 0; });
  if (any && !of_input) return Status(base::kInvalidArgument, "no input has the axis `batch` that the outputs have");
  result.batched = any && !any_fixed;
  result.dropped = any && any_fixed;
  result.reason = !any        ? "the signature marks no axis `batch`"
                  : any_fixed ? "the signature marks `batch`, but the file fixes it at 1"
                              : "the signature marks it";
  return result;
}

// Why axis 0, though it is dynamic in every input and output, is none of samples by what the file says of its extents; empty: it may be.
std::string OtherThanSamples(const Signature& file, const std::vector<std::string>& leading) {
  const auto is_leading = [&](const std::string& name) { return std::find(leading.begin(), leading.end(), name) != leading.end(); };
  for (const Port* port : Ports(file)) {
    for (size_t axis = 0; axis < port->dim.size(); ++axis) {
      const auto used = port->dim[axis].Symbols();
      const bool depends = std::any_of(used.begin(), used.end(), is_leading);
      if (axis == 0 && depends && !port->dim[0].symbol()) return fmt::format("axis 0 of `{}` is not one row a sample", port->ToString());
      if (axis > 0 && depends) return fmt::format("`{}` has a second axis that counts samples", port->ToString());
    }
  }
  for (size_t i = 0; i < file.outputs.size(); ++i) {
    const Port& port = file.outputs[i];
    if (const auto first = port.dim[0].symbol(); first && !is_leading(*first) && IsOfInput(file, *first))
      return fmt::format("axis 0 of `{}` counts what another axis of an input does", port.ToString());
    if (i < file.found_by.size() && !file.found_by[i].empty())
      return fmt::format("axis 0 of `{}` counts what {} finds in the data", port.ToString(), file.found_by[i]);
  }
  return "";
}

Result<BatchAxes> ChooseUnwritten(const Signature& file, const Graph* graph) {
  BatchAxes result;
  const auto ports = Ports(file);
  const auto none = [&](std::string reason) {
    result.axis.assign(ports.size(), -1);
    result.reason = std::move(reason);
    return result;
  };
  if (file.inputs.empty()) return none("the model has no input");
  bool all_dynamic = true, all_one = true;
  for (const Port* port : ports) {
    all_dynamic = all_dynamic && !port->dim.empty() && !port->dim[0].is_constant();
    all_one = all_one && !port->dim.empty() && port->dim[0] == Dim(1);
  }
  if (all_one) {
    result.axis.assign(ports.size(), 0);
    result.dropped = true;
    result.reason = "axis 0 is 1 in every input and output, so it is dropped and one sample runs at a time";
    return result;
  }
  if (!all_dynamic) return none("axis 0 is not dynamic in every input and output");
  const auto leading = LeadingSymbols(file);
  if (leading.empty()) return none("axis 0 of an input is computed, not free");
  if (std::string other = OtherThanSamples(file, leading); !other.empty()) return none(std::move(other));
  if (const Unlike unlike = FindUnlikeFirst(file, graph); unlike.port != nullptr)
    return none(
        fmt::format("nothing says that axis 0 of `{}` is as long as that of `{}`", unlike.port->ToString(), unlike.input->ToString()));
  result.axis.assign(ports.size(), 0);
  if (graph != nullptr) {
    if (const Node* mixing = FindMixing(file, *graph, result.axis); mixing != nullptr)
      return none(fmt::format("axis 0 counts no samples: {}", MixingText(*mixing)));
  }
  result.batched = true;
  result.reason = "axis 0 is dynamic in every input and output";
  return result;
}

}  // namespace

std::vector<Mismatch> FindMismatches(const Signature& file, const Signature& wanted) {
  std::vector<Mismatch> found;
  ComparePorts(file, wanted, true, found);
  ComparePorts(file, wanted, false, found);
  if (found.empty()) CompareExtents(file, wanted, found);
  return found;
}

Status CheckSignature(const Signature& file, const Signature& wanted) {
  std::vector<Mismatch> found = FindMismatches(file, wanted);
  return found.empty() ? Status::Ok() : Status(base::kInvalidArgument, std::move(found[0].text));
}

int64_t RowBytes(const Port& port) {
  const auto bytes = LeastBytes({port.dtype, port.dim, std::nullopt}, INT64_MAX);
  return bytes.ok() ? *bytes : INT64_MAX;
}

Status CheckRows(const Signature& file, const std::string& path, int64_t most_in, int64_t most_out) {
  const auto check = [&path](const std::vector<Port>& ports, const char* what, int64_t most) {
    for (const Port& port : ports) {
      if (RowBytes(port) <= most) continue;
      return Status(base::kOutOfRange, fmt::format("`{}`: a row of {} `{}` has at least {} bytes, above the limit of {}", path, what,
                                                   port.ToString(), RowBytes(port), most));
    }
    return Status::Ok();
  };
  WF_RETURN_IF_ERROR(check(file.inputs, "input", most_in));
  return check(file.outputs, "output", most_out);
}

std::vector<std::vector<bool>> UnprovedExtents(const Signature& file, const Signature& wanted) {
  OutputExtents extents(file, wanted);
  std::vector<std::vector<bool>> unproved;
  for (size_t i = 0; i < file.outputs.size(); ++i) {
    std::vector<bool>& axes = unproved.emplace_back();
    for (size_t axis = 0; axis < file.outputs[i].dim.size(); ++axis) {
      const bool follows = extents.At(i, axis).follows;
      axes.push_back(!follows && !wanted.outputs[i].dim[axis].is_constant());
    }
  }
  return unproved;
}

Result<BatchAxes> ChooseBatchAxis(const Signature& file, const Graph* graph, const Signature* written) {
  if (written == nullptr) return ChooseUnwritten(file, graph);
  WF_RETURN_IF_ERROR(CheckSignature(file, *written));
  auto chosen = ChooseWritten(file, *written);
  if (!chosen.ok() || !chosen->batched || graph == nullptr) return chosen;
  if (const Node* mixing = FindMixing(file, *graph, chosen->axis); mixing != nullptr) chosen->mixing = MixingText(*mixing);
  return chosen;
}

Signature WithoutBatchAxis(const Signature& signature, const BatchAxes& axes) {
  Signature result = signature;
  size_t i = 0;
  for (std::vector<Port>* ports : {&result.inputs, &result.outputs}) {
    for (Port& port : *ports) {
      const int8_t axis = axes.axis[i++];
      if (axis >= 0) port.dim.erase(port.dim.begin() + axis);
    }
  }
  return result;
}

}  // namespace wf::onnx
