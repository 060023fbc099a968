#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/onnx/graph.h"

namespace wf::onnx {

// What is known about a value without running the model.
struct Known {
  uint8_t dtype = 0;
  Shape dim;
  std::optional<std::vector<Dim>> content;  // elements of a small integer tensor, when they follow from shapes
  mutable bool wanted = false;              // a rule or a lowering asked for elements that are not known
};

// How much one pass over a graph has made of polynomials as no usual shape has, many or long ones: their sums take time. What would be
// more is as unknown as what only a run tells.
struct Followed {
  static constexpr size_t kShort = 8;        // as many free ones
  static constexpr size_t kPlain = 16;       // of such a Dim::weight each
  static constexpr int64_t kMost = 1 << 19;  // of the weights of all others
  int64_t weight = 0;
  bool is_spent() const { return weight > kMost; }
};

// Of one tensor, and of what nodes compute from constants alone beside what its weights allow.
inline constexpr int64_t kMostTensorBytes = int64_t{4} << 30, kMostConstantBytes = int64_t{64} << 20;
inline constexpr int64_t kMostConstantWork = 200'000'000;  // nanoseconds that it takes, beside those for the weights

// Bytes of its elements, where each extent that is not known counts as 1. Errors: kOutOfRange, more than max_bytes; text without file and
// node.
base::Result<int64_t> LeastBytes(const Known& known, int64_t max_bytes);

// Element types and shapes of every value of the graph, for the given shapes of its inputs (symbolic when a program is compiled, numbers
// when a plan is made for one batch size). `model` names the file in messages. Errors: kInvalidArgument when a node cannot accept its
// inputs, kUnimplemented for a use of an operator that is not built, kOutOfRange for a tensor above kMostTensorBytes; each names the node.
// `exact`: an extent in symbols is the one that a
// run has for all values of these with which it succeeds, else an unknown; otherwise axes are taken to be as long as their slices and
// windows.
base::Result<std::vector<Known>> InferShapes(const Graph& graph, std::span<const Port> inputs, const std::string& model,
                                             bool exact = false);

// The two steps of InferShapes, for who learns more between nodes: what weights are, and what follows for the results of one node.
// Errors: text without file and node.
std::vector<Known> KnownWeights(const Graph& graph);
Known KnownOfWeight(const Weight& weight);
base::Result<std::vector<Known>> InferGraph(const Graph& graph, std::span<const Known> inputs,
                                            bool exact = false);  // the text names the node
// `followed`: of the pass that this is a part of, which it adds to; null: this is not one of many.
base::Status InferNode(const Graph& graph, const Node& node, std::vector<Known>& known, bool exact = false, Followed* followed = nullptr);

// What is computed when the model is loaded, since it reads constants alone. A node whose results have no room in max_bytes beside those
// before it, or that would take longer than is left of max_work, stays a step of each run.
struct Constants {
  std::vector<bool> nodes;  // by node
  int64_t spare_ns = 0;     // of max_work
};
Constants ConstantNodes(const Graph& graph, std::span<const Known> known, int64_t max_bytes, int64_t max_work);
int64_t MostConstantBytes(const Graph& graph);  // kMostConstantBytes, and what its weights make, as they are rearranged and converted
int64_t MostConstantWork(const Graph& graph);   // kMostConstantWork, and what that takes

// Window of a convolution or pooling over `spatial` axes.
// Errors: a wrong number of values, or values out of range; text without file and node.
struct Window {
  enum class AutoPad : uint8_t { kExplicit, kSameUpper, kSameLower };
  std::vector<int64_t> kernel, stride, dilation, pad_begin, pad_end;
  AutoPad auto_pad = AutoPad::kExplicit;
  bool ceil_mode = false;
};
// `kernel`: extents from the weights (Conv), empty when the attribute must give them (pooling).
base::Result<Window> ReadWindow(const Node& node, size_t spatial, std::span<const int64_t> kernel);
Dim WindowExtent(const Window& window, size_t axis, const Dim& in);  // of the output
bool IsExact(const Window& window, size_t axis, const Dim& in);      // of WindowExtent: whatever the symbols in it are
// Sets pad_begin and pad_end from the extents when the padding is automatic; REQUIRES: one extent for each spatial axis.
void ResolvePads(Window& window, std::span<const int64_t> in);

}  // namespace wf::onnx
