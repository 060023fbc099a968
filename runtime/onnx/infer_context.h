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

  bool has_in(size_t i) const { return node.has_in(i); }
  bool has_out(size_t i) const { return i < node.out.size() && node.out[i] >= 0; }
  const Known& in(size_t i) const { return known_[static_cast<size_t>(node.in[i])]; }  // REQUIRES: has_in(i)
  Known& out(size_t i) { return known_[static_cast<size_t>(node.out[i])]; }            // REQUIRES: has_out(i)
  size_t rank(size_t i) const { return in(i).dim.size(); }
  std::string InType(size_t i) const { return ToString(in(i).dtype, in(i).dim); }
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

constexpr bool IsFloat(uint8_t dtype) { return dtype == WF_F16 || dtype == WF_BF16 || dtype == WF_F32 || dtype == WF_F64; }

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

// The rules, one or more rows of operators.def each. They set dtype and dim of the outputs, and content where shapes are computed with.
base::Status InferAffineGrid(NodeContext& node);
base::Status InferArgExtreme(NodeContext& node);
base::Status InferAttention(NodeContext& node);
base::Status InferBatchNormalization(NodeContext& node);
base::Status InferBernoulli(NodeContext& node);
base::Status InferBitShift(NodeContext& node);
base::Status InferBroadcast(NodeContext& node);
base::Status InferCast(NodeContext& node);
base::Status InferCastLike(NodeContext& node);
base::Status InferClip(NodeContext& node);
base::Status InferCompare(NodeContext& node);
base::Status InferBiasGelu(NodeContext& node);
base::Status InferBroadcast(NodeContext& node);
base::Status InferCast(NodeContext& node);
base::Status InferCenterCropPad(NodeContext& node);
base::Status InferClassLoss(NodeContext& node);
base::Status InferClip(NodeContext& node);
base::Status InferCol2Im(NodeContext& node);
base::Status InferCompress(NodeContext& node);
base::Status InferConcat(NodeContext& node);
base::Status InferConstant(NodeContext& node);
base::Status InferConstantOfShape(NodeContext& node);
base::Status InferConv(NodeContext& node);
base::Status InferConvInteger(NodeContext& node);
base::Status InferDequantizeLinear(NodeContext& node);
base::Status InferDropout(NodeContext& node);
base::Status InferDynamicQuantizeLinear(NodeContext& node);
base::Status InferCumSum(NodeContext& node);
base::Status InferDepthToSpace(NodeContext& node);
base::Status InferDropout(NodeContext& node);
base::Status InferExpand(NodeContext& node);
base::Status InferEyeLike(NodeContext& node);
base::Status InferConvTranspose(NodeContext& node);
base::Status InferDeformConv(NodeContext& node);
base::Status InferDet(NodeContext& node);
base::Status InferDft(NodeContext& node);
base::Status InferDropout(NodeContext& node);
base::Status InferEinsum(NodeContext& node);
base::Status InferEmbedLayerNormalization(NodeContext& node);
base::Status InferFlatten(NodeContext& node);
base::Status InferFusedMatMul(NodeContext& node);
base::Status InferGather(NodeContext& node);
base::Status InferGatherElements(NodeContext& node);
base::Status InferGatherND(NodeContext& node);
base::Status InferGemm(NodeContext& node);
base::Status InferGlobalPool(NodeContext& node);
base::Status InferIf(NodeContext& node);
base::Status InferLoop(NodeContext& node);
base::Status InferGridSample(NodeContext& node);
base::Status InferHardmax(NodeContext& node);
base::Status InferMatMul(NodeContext& node);
base::Status InferMatMulInteger(NodeContext& node);
base::Status InferMultinomial(NodeContext& node);
base::Status InferPRelu(NodeContext& node);
base::Status InferPad(NodeContext& node);
base::Status InferPool(NodeContext& node);
base::Status InferQLinearConv(NodeContext& node);
base::Status InferQLinearMatMul(NodeContext& node);
base::Status InferQuantizeLinear(NodeContext& node);
base::Status InferRandom(NodeContext& node);
base::Status InferRandomLike(NodeContext& node);
base::Status InferMaxUnpool(NodeContext& node);
base::Status InferNonMaxSuppression(NodeContext& node);
base::Status InferNonZero(NodeContext& node);
base::Status InferOneHot(NodeContext& node);
base::Status InferPad(NodeContext& node);
base::Status InferPool(NodeContext& node);
base::Status InferRange(NodeContext& node);
base::Status InferReduce(NodeContext& node);
base::Status InferReshape(NodeContext& node);
base::Status InferResize(NodeContext& node);
base::Status InferReverseSequence(NodeContext& node);
base::Status InferRoiAlign(NodeContext& node);
base::Status InferGroupNormalization(NodeContext& node);
base::Status InferGroupQueryAttention(NodeContext& node);
base::Status InferInstanceNormalization(NodeContext& node);
base::Status InferLayerNormalization(NodeContext& node);
base::Status InferLpNormalization(NodeContext& node);
base::Status InferLrn(NodeContext& node);
base::Status InferMatMul(NodeContext& node);
base::Status InferMatMulNBits(NodeContext& node);
base::Status InferMeanVarianceNormalization(NodeContext& node);
base::Status InferMelWeightMatrix(NodeContext& node);
base::Status InferMultiHeadAttention(NodeContext& node);
base::Status InferPad(NodeContext& node);
base::Status InferPool(NodeContext& node);
base::Status InferRecurrent(NodeContext& node);
base::Status InferReduce(NodeContext& node);
base::Status InferReshape(NodeContext& node);
base::Status InferRotaryEmbedding(NodeContext& node);
base::Status InferSame(NodeContext& node);
base::Status InferScan(NodeContext& node);
base::Status InferScatter(NodeContext& node);
base::Status InferScatterND(NodeContext& node);
base::Status InferShapeOf(NodeContext& node);
base::Status InferSize(NodeContext& node);
base::Status InferSignalWindow(NodeContext& node);
base::Status InferSkipLayerNormalization(NodeContext& node);
base::Status InferSlice(NodeContext& node);
base::Status InferSoftmax(NodeContext& node);
base::Status InferSpaceToDepth(NodeContext& node);
base::Status InferSplit(NodeContext& node);
base::Status InferSqueeze(NodeContext& node);
base::Status InferTest(NodeContext& node);
base::Status InferTile(NodeContext& node);
base::Status InferTopK(NodeContext& node);
base::Status InferStft(NodeContext& node);
base::Status InferTranspose(NodeContext& node);
base::Status InferTrilu(NodeContext& node);
base::Status InferUnique(NodeContext& node);
base::Status InferUnsqueeze(NodeContext& node);
base::Status InferVariadic(NodeContext& node);
base::Status InferWhere(NodeContext& node);

}  // namespace wf::onnx
