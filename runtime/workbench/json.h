#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/workbench/tensor.h"

namespace wf::workbench {

// Tensors as JSON: `{"x": [[1, 2], [3, 4]], "n": 7}`, an array for each axis. NaN and the infinities, which JSON has not, are the strings
// "nan", "inf" and "-inf".

// Values of a document that is such an object, as text, by name; or, of one that is no object, of the name "". Errors: kInvalidArgument
// with the byte; a name that stands twice.   Bounds: arrays and objects are at most 32 deep.
base::Result<std::map<std::string, std::string_view>> MembersOf(std::string_view document);

// The tensor that a value says, of the element type and rank of `port`. Extents are those of the arrays, which have to be even; an array
// that is empty leaves those behind it to the port, and to 0 where that says nothing. Errors: kInvalidArgument, where the element type
// does not hold a number; the text says which element.
base::Result<Tensor> TensorOfJson(std::string_view value, const onnx::Port& port);

std::string JsonOf(const Tensor& tensor);

}  // namespace wf::workbench
