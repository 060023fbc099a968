#pragma once

#include <optional>
#include <vector>

#include "runtime/model/program.h"
#include "runtime/onnx/infer_context.h"

// How nodes become kernels: a function for each name in the last column of operators.def, in the lower_*.cc of its family.
namespace wf::model {

// One node that is being lowered. Inference has accepted it, so its attributes and constant inputs have the right lengths and ranges.
// Thread: confined.   Borrows: all that it is made of.
struct Lowering {
  Lowering(const Program& program, size_t index, std::vector<onnx::Known>& known)
      : node(program.graph.nodes[index]), context(program.graph, node, known), then(program.then[index]), known_(known) {
    lowered.in = node.in;
  }

  const onnx::Known& known_out(size_t i) const { return known_[static_cast<size_t>(node.out[i])]; }  // REQUIRES: node has it

  void KeepInputs(size_t count) { lowered.in.resize(count); }  // the others are in the parameters

  const onnx::Node& node;
  const onnx::NodeContext context;
  const kernels::Unary then;
  Lowered lowered;

 private:
  const std::vector<onnx::Known>& known_;
};

// An axis counted from either end.
inline size_t FromEnd(int64_t axis, size_t rank) { return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis); }
// The extents of a shape of numbers, from axis `begin` on.
std::vector<int64_t> Extents(const onnx::Shape& shape, size_t begin);

// Errors of all: kUnimplemented where a parameter is computed from data.
base::Status LowerAffineGrid(Lowering& of);
base::Status LowerAlias(Lowering& of);
base::Status LowerArgExtreme(Lowering& of);
base::Status LowerAttention(Lowering& of);
base::Status LowerBatchNormalization(Lowering& of);
base::Status LowerBiasGelu(Lowering& of);
base::Status LowerBinary(Lowering& of);
base::Status LowerCast(Lowering& of);
base::Status LowerCenterCropPad(Lowering& of);
base::Status LowerClassLoss(Lowering& of);
base::Status LowerArrayFeatureExtractor(Lowering& of);
base::Status LowerBatchNormalization(Lowering& of);
base::Status LowerBinarizer(Lowering& of);
base::Status LowerBinary(Lowering& of);
base::Status LowerCast(Lowering& of);
base::Status LowerCategoryMapper(Lowering& of);
base::Status LowerClip(Lowering& of);
base::Status LowerCol2Im(Lowering& of);
base::Status LowerCompress(Lowering& of);
base::Status LowerConcat(Lowering& of);
base::Status LowerConstantOfShape(Lowering& of);
base::Status LowerConv(Lowering& of);
base::Status LowerConvInteger(Lowering& of);
base::Status LowerDequantizeLinear(Lowering& of);
base::Status LowerDropout(Lowering& of);
base::Status LowerDynamicQuantizeLinear(Lowering& of);
base::Status LowerCumSum(Lowering& of);
base::Status LowerDepthToSpace(Lowering& of);
base::Status LowerExpand(Lowering& of);
base::Status LowerEyeLike(Lowering& of);
base::Status LowerConvTranspose(Lowering& of);
base::Status LowerDeformConv(Lowering& of);
base::Status LowerDet(Lowering& of);
base::Status LowerDft(Lowering& of);
base::Status LowerEinsum(Lowering& of);
base::Status LowerEmbedLayerNormalization(Lowering& of);
base::Status LowerFusedMatMul(Lowering& of);
base::Status LowerFeatureVectorizer(Lowering& of);
base::Status LowerGather(Lowering& of);
base::Status LowerGatherBlockQuantized(Lowering& of);
base::Status LowerGatherElements(Lowering& of);
base::Status LowerGatherND(Lowering& of);
base::Status LowerGemm(Lowering& of);
base::Status LowerGlobalPool(Lowering& of);
base::Status LowerGridSample(Lowering& of);
base::Status LowerHardmax(Lowering& of);
base::Status LowerMatMul(Lowering& of);
base::Status LowerMatMulInteger(Lowering& of);
base::Status LowerMatMulIntegerToFloat(Lowering& of);
base::Status LowerImputer(Lowering& of);
base::Status LowerLabelEncoder(Lowering& of);
base::Status LowerLinearClassifier(Lowering& of);
base::Status LowerLinearRegressor(Lowering& of);
base::Status LowerMatMul(Lowering& of);
base::Status LowerNormalizer(Lowering& of);
base::Status LowerOneHotEncoder(Lowering& of);
base::Status LowerPad(Lowering& of);
base::Status LowerPool(Lowering& of);
base::Status LowerQLinearBinary(Lowering& of);
base::Status LowerQLinearConv(Lowering& of);
base::Status LowerQLinearMatMul(Lowering& of);
base::Status LowerQuantizeLinear(Lowering& of);
base::Status LowerRandom(Lowering& of);
base::Status LowerMaxUnpool(Lowering& of);
base::Status LowerNonMaxSuppression(Lowering& of);
base::Status LowerNonZero(Lowering& of);
base::Status LowerOneHot(Lowering& of);
base::Status LowerPad(Lowering& of);
base::Status LowerPool(Lowering& of);
base::Status LowerRange(Lowering& of);
base::Status LowerReduce(Lowering& of);
base::Status LowerResize(Lowering& of);
base::Status LowerReverseSequence(Lowering& of);
base::Status LowerRoiAlign(Lowering& of);
base::Status LowerScatter(Lowering& of);
base::Status LowerScatterND(Lowering& of);
base::Status LowerSlice(Lowering& of);
base::Status LowerSoftmax(Lowering& of);
base::Status LowerSpaceToDepth(Lowering& of);
base::Status LowerSplit(Lowering& of);
base::Status LowerTile(Lowering& of);
base::Status LowerTopK(Lowering& of);
base::Status LowerGroupNormalization(Lowering& of);
base::Status LowerGroupQueryAttention(Lowering& of);
base::Status LowerInverse(Lowering& of);
base::Status LowerInstanceNormalization(Lowering& of);
base::Status LowerLayerNormalization(Lowering& of);
base::Status LowerLpNormalization(Lowering& of);
base::Status LowerLrn(Lowering& of);
base::Status LowerMatMul(Lowering& of);
base::Status LowerMatMulBnb4(Lowering& of);
base::Status LowerMatMulNBits(Lowering& of);
base::Status LowerMeanVarianceNormalization(Lowering& of);
base::Status LowerMelWeightMatrix(Lowering& of);
base::Status LowerMultiHeadAttention(Lowering& of);
base::Status LowerPad(Lowering& of);
base::Status LowerPool(Lowering& of);
base::Status LowerRecurrent(Lowering& of);
base::Status LowerReduce(Lowering& of);
base::Status LowerRotaryEmbedding(Lowering& of);
base::Status LowerSignalWindow(Lowering& of);
base::Status LowerSkipLayerNormalization(Lowering& of);
base::Status LowerSlice(Lowering& of);
base::Status LowerSoftmax(Lowering& of);
base::Status LowerStft(Lowering& of);
base::Status LowerTranspose(Lowering& of);
base::Status LowerTrilu(Lowering& of);
base::Status LowerScaler(Lowering& of);
base::Status LowerSlice(Lowering& of);
base::Status LowerSoftmax(Lowering& of);
base::Status LowerSvm(Lowering& of);
base::Status LowerText(Lowering& of);
base::Status LowerTfIdfVectorizer(Lowering& of);
base::Status LowerTrainStep(Lowering& of);
base::Status LowerTranspose(Lowering& of);
base::Status LowerTreeEnsemble(Lowering& of);
base::Status LowerUnary(Lowering& of);
base::Status LowerVariadic(Lowering& of);
base::Status LowerUnique(Lowering& of);
base::Status LowerWhere(Lowering& of);
base::Status LowerNever(Lowering& of);  // of what is known from shapes, or is a weight

}  // namespace wf::model
