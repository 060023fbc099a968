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
      : node(program.graph.nodes[index]), context(program.graph, node, known), then(program.then[index]) {
    lowered.in = node.in;
  }

  void KeepInputs(size_t count) { lowered.in.resize(count); }  // the others are in the parameters

  const onnx::Node& node;
  const onnx::NodeContext context;
  const kernels::Unary then;
  Lowered lowered;
};

// An axis counted from either end.
inline size_t FromEnd(int64_t axis, size_t rank) { return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis); }
// The extents of a shape of numbers, from axis `begin` on.
std::vector<int64_t> Extents(const onnx::Shape& shape, size_t begin);

// Errors of all: kUnimplemented where a parameter is computed from data.
base::Status LowerAlias(Lowering& of);
base::Status LowerArrayFeatureExtractor(Lowering& of);
base::Status LowerBatchNormalization(Lowering& of);
base::Status LowerBinarizer(Lowering& of);
base::Status LowerBinary(Lowering& of);
base::Status LowerCast(Lowering& of);
base::Status LowerCategoryMapper(Lowering& of);
base::Status LowerClip(Lowering& of);
base::Status LowerConcat(Lowering& of);
base::Status LowerConv(Lowering& of);
base::Status LowerFeatureVectorizer(Lowering& of);
base::Status LowerGather(Lowering& of);
base::Status LowerGemm(Lowering& of);
base::Status LowerGlobalPool(Lowering& of);
base::Status LowerImputer(Lowering& of);
base::Status LowerLabelEncoder(Lowering& of);
base::Status LowerLinearClassifier(Lowering& of);
base::Status LowerLinearRegressor(Lowering& of);
base::Status LowerMatMul(Lowering& of);
base::Status LowerNormalizer(Lowering& of);
base::Status LowerOneHotEncoder(Lowering& of);
base::Status LowerPad(Lowering& of);
base::Status LowerPool(Lowering& of);
base::Status LowerReduce(Lowering& of);
base::Status LowerScaler(Lowering& of);
base::Status LowerSlice(Lowering& of);
base::Status LowerSoftmax(Lowering& of);
base::Status LowerSvm(Lowering& of);
base::Status LowerTranspose(Lowering& of);
base::Status LowerTreeEnsemble(Lowering& of);
base::Status LowerUnary(Lowering& of);
base::Status LowerWhere(Lowering& of);
base::Status LowerNever(Lowering& of);  // of what is known from shapes, or is a weight

}  // namespace wf::model
