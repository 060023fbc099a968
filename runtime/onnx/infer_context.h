#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/onnx/infer.h"
#include "runtime/onnx/op.h"

// One node and what is known about its values, as the rules of shape inference in infer_*.cc and the lowering in runtime/model see them.
namespace wf::onnx {

inline constexpr int64_t kMaxContent = 64;  // elements of a tensor that is followed by value: each costs every node, and shapes are shorter

// Thread: confined.   Borrows: all that it is made of.
class NodeContext {
 public:
  NodeContext(const Graph& graph, const Node& node_, std::vector<Known>& known, bool exact_ = false)
      : node(node_), exact(exact_), unknown((exact_ ? "x" : "n") + std::to_string(node_.index) + '.'), graph_(graph), known_(known) {}

  const Node& node;
  const bool exact;           // see InferShapes
  base::UnknownDims unknown;  // extents that no rule tells
  bool follows_all = true;    // see Followed

  bool has_in(size_t i) const { return node.has_in(i); }
  bool has_out(size_t i) const { return i < node.out.size() && node.out[i] >= 0; }
  const Known& in(size_t i) const { return known_[static_cast<size_t>(node.in[i])]; }  // REQUIRES: has_in(i)
  Known& out(size_t i) { return known_[static_cast<size_t>(node.out[i])]; }            // REQUIRES: has_out(i)
  size_t rank(size_t i) const { return in(i).dim.size(); }
  std::string InType(size_t i) const { return ToString(in(i).dtype, in(i).dim); }
  const Weight& tensor(const Attribute& attribute) const {  // REQUIRES: its kind is kTensor
    return graph_.weight(attribute.tensor);
  }
  // The constant that input i is, or null.
  const Weight* weight(size_t i) const;
  const Weight* TensorOf(std::string_view attribute) const;  // null: it is not given

  // A body, null when the node has none of that name, and what is known of the values that it reads from outside, its last inputs.
  const Graph* Body(std::string_view attribute) const;
  std::vector<Known> Captured(std::string_view attribute) const;
  size_t FormalInputs() const;  // without those

  // The integers of input i, when all are numbers.
  std::optional<std::vector<int64_t>> Numbers(size_t i) const;
  // The elements of input i where they are followed by value, some of them in symbols.
  const std::optional<std::vector<Dim>>& Content(size_t i) const;
  // The numbers of input i of any type, when they are constants that are held or follow from shapes.
  std::optional<std::vector<double>> Reals(size_t i) const;
  // Extent of input i, which has one axis. Nothing: it has not, or the extent is not known.
  std::optional<size_t> Length(size_t i) const;
  // Integers that old operator sets have as attribute and newer ones as input. A rule takes those computed from data for an unknown extent
  // of each axis that they decide, and fails only where they decide how many axes there are.
  struct Ints {
    bool given = false;
    std::optional<std::vector<int64_t>> numbers;
    bool from_data() const { return given && !numbers; }
  };
  Ints FindInts(const char* attribute, size_t input) const;
  // The same for what cannot do without: kUnimplemented when they are computed from data; nothing when neither is given.
  base::Status IntsOf(const char* attribute, size_t input, std::optional<std::vector<int64_t>>& out) const;
  Shape Unknowns(size_t count);  // as many extents that no rule tells

  base::Status Fail(std::string text) const { return {base::kInvalidArgument, std::move(text)}; }
  base::Status NotBuilt(std::string text) const { return {base::kUnimplemented, std::move(text)}; }
  // Ok with an axis in [0, rank) for one counted from either end.
  base::Status Axis(int64_t axis, size_t rank, size_t& out) const;
  base::Status SameType(size_t a, size_t b) const;
  base::Status Rank(size_t i, size_t rank) const;

 private:
  const Graph& graph_;
  std::vector<Known>& known_;
};

// All that its result has follows from what is known of its inputs without their elements.
constexpr bool IsOfShapes(Op op) { return op == Op::kShape || op == Op::kSize || op == Op::kOptionalHasElement; }

using base::IsFloat;

// The element of a held weight of i32 or i64 that begins at byte `at`.
int64_t IntegerAt(const Weight& weight, size_t at);

// One extent of two that must broadcast. Nothing: they cannot.
std::optional<Dim> BroadcastDim(const Dim& a, const Dim& b, base::UnknownDims& unknown);
std::optional<Shape> BroadcastShape(const Shape& a, const Shape& b, base::UnknownDims& unknown);
Dim Product(std::span<const Dim> dims);

// Which axes of input 0 a reduction takes together. Errors: kUnimplemented when they are computed from data.
base::Status ReducedAxes(const NodeContext& node, std::vector<bool>& reduced);
// The shape that it leaves, by `keepdims`; unknown extents where the axes are computed from data.
base::Status ReducedShape(NodeContext& node, Shape& shape);

// What integers that shapes are computed from become elementwise, for the operators that shapes go through (Add, Where, Equal, ...).
// Elements that are not known are unknowns. Nothing: it is no such operator, or nothing is known of an input.
std::optional<std::vector<Dim>> ElementwiseContent(NodeContext& node);

// Of what counts as Followed.
int64_t UnusualWeight(std::span<const Dim> dims);

// Of a conversion from or to strings. Errors: kUnimplemented for 16-bit floats.
base::Status CheckTextCast(const NodeContext& node, uint8_t to);
// Its results are strings that files may not hold, or are made of such: no constant.
bool IsOfRunTexts(const Node& node, std::span<const Known> known);

// How Resize and Upsample change each axis of input 0. Nothing: a factor is computed from data, or the extents are not numbers.
struct Resizing {
  std::vector<std::optional<double>> scale;
  Shape dim;
};
base::Result<Resizing> ReadResizing(const NodeContext& node, base::UnknownDims& unknown);

// Sets output 0 to what a product of matrices in the last two axes has, of the type of input 0.
base::Status MultipliedShape(NodeContext& node, Shape a, Shape b);

// The shape of a convolution of input 0 by the inputs of these indices; their types are the caller's matter.
base::Status ConvShape(NodeContext& node, size_t weights, size_t bias);

// How the scale, input 1, and the zero point, input 2, go along input 0: one for all (axis -1), one for each index of an axis, or one for
// each `block` of them.
struct Scaling {
  int64_t axis = -1, block = 0;
};
base::Status ReadScaling(const NodeContext& node, Scaling& scaling);

}  // namespace wf::onnx
