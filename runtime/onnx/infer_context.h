#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/onnx/infer.h"
#include "runtime/onnx/op.h"

// One node and what is known about its values, as the rules of shape inference in infer_*.cc and the lowering in runtime/model see them.
namespace wf::onnx {

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
  const Weight& tensor(const Attribute& attribute) const {  // REQUIRES: its kind is kTensor
    return graph_.weights[static_cast<size_t>(attribute.tensor)];
  }
  // The constant that input i is, or null.
  const Weight* weight(size_t i) const;

  // A body, null when the node has none of that name, and what is known of the values that it reads from outside, its last inputs.
  const Graph* Body(std::string_view attribute) const;
  std::vector<Known> Captured(std::string_view attribute) const;
  size_t FormalInputs() const;  // without those

  // The integers of input i, when all are numbers.
  std::optional<std::vector<int64_t>> Numbers(size_t i) const;
  // Integers that old operator sets have as attribute and newer ones as input: nothing when neither is given.
  base::Status IntsOf(const char* attribute, size_t input, std::optional<std::vector<int64_t>>& out) const;

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

// The element of a held weight of i32 or i64 that begins at byte `at`.
int64_t IntegerAt(const Weight& weight, size_t at);

// One extent of two that must broadcast. Nothing: they cannot.
std::optional<Dim> BroadcastDim(const Dim& a, const Dim& b, base::UnknownDims& unknown);
std::optional<Shape> BroadcastShape(const Shape& a, const Shape& b, base::UnknownDims& unknown);
Dim Product(std::span<const Dim> dims);

// Which axes of input 0 a reduction takes together.
base::Status ReducedAxes(const NodeContext& node, std::vector<bool>& reduced);

// The rules, one or more rows of operators.def each. They set dtype and dim of the outputs, and content where shapes are computed with.
base::Status InferArrayFeatureExtractor(NodeContext& node);
base::Status InferBatchNormalization(NodeContext& node);
base::Status InferBroadcast(NodeContext& node);
base::Status InferCast(NodeContext& node);
base::Status InferCategoryMapper(NodeContext& node);
base::Status InferClip(NodeContext& node);
base::Status InferConcat(NodeContext& node);
base::Status InferConstant(NodeContext& node);
base::Status InferConv(NodeContext& node);
base::Status InferDropout(NodeContext& node);
base::Status InferFeatureVectorizer(NodeContext& node);
base::Status InferFlatten(NodeContext& node);
base::Status InferGather(NodeContext& node);
base::Status InferGemm(NodeContext& node);
base::Status InferGlobalPool(NodeContext& node);
base::Status InferImputer(NodeContext& node);
base::Status InferLabelEncoder(NodeContext& node);
base::Status InferLinearClassifier(NodeContext& node);
base::Status InferLinearRegressor(NodeContext& node);
base::Status InferIf(NodeContext& node);
base::Status InferLoop(NodeContext& node);
base::Status InferMatMul(NodeContext& node);
base::Status InferNormalizer(NodeContext& node);
base::Status InferOneHotEncoder(NodeContext& node);
base::Status InferPad(NodeContext& node);
base::Status InferPool(NodeContext& node);
base::Status InferReduce(NodeContext& node);
base::Status InferReshape(NodeContext& node);
base::Status InferSame(NodeContext& node);
base::Status InferScaler(NodeContext& node);
base::Status InferScan(NodeContext& node);
base::Status InferShapeOf(NodeContext& node);
base::Status InferSlice(NodeContext& node);
base::Status InferSoftmax(NodeContext& node);
base::Status InferSqueeze(NodeContext& node);
base::Status InferSvmClassifier(NodeContext& node);
base::Status InferSvmRegressor(NodeContext& node);
base::Status InferTranspose(NodeContext& node);
base::Status InferTreeEnsemble(NodeContext& node);
base::Status InferTreeEnsembleClassifier(NodeContext& node);
base::Status InferUnsqueeze(NodeContext& node);
base::Status InferWhere(NodeContext& node);
base::Status InferZipMap(NodeContext& node);

}  // namespace wf::onnx
