#pragma once

#include <span>
#include <string>

#include "runtime/onnx/graph.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/onnx/reader.h"
#include "runtime/onnx/texts.h"
#include "runtime/onnx/wire.h"

// Inside the reader: tensors of the file to weights.
namespace wf::onnx {

// Of a pb::TensorType: WF_*, kStringType, one of kNarrowTypes, or 0 for what is not built (complex, 2 bits, ...).
uint8_t DTypeOf(int tensor_type);
std::string TensorTypeName(int64_t tensor_type);  // as in the ONNX documents: "FLOAT16"

// Bytes of the file as text for messages: what is not printable ASCII or sound UTF-8 becomes `?`, and it is cut at 200 bytes.
std::string Printable(const std::string& text);
bool IsPlainName(const std::string& text);  // sound UTF-8 without control characters, not empty

// A weight of `tensor`, of strings the numbers in `texts`, whose large elements were left in file 0 at `pieces`. External data opens (once)
// and adds to model.files. Errors: text without file and node, the caller adds both.
base::Result<Weight> ReadTensor(const pb::TensorProto& tensor, std::span<const Piece> pieces, Model& model, Texts& texts,
                                const ReadOptions& options);

// Bytes that what a file stores sparse may have in memory.
int64_t MostSparseBytes(const Model& model);

// A weight of the elements that are stored, and zeros, as it lies in memory; left_bytes of what may still be is less by that. Errors: the
// same.
base::Result<Weight> ReadSparseTensor(const pb::SparseTensorProto& sparse, Model& model, Texts& texts, const ReadOptions& options,
                                      int64_t& left_bytes);

}  // namespace wf::onnx
