#pragma once

#include "runtime/model/part.h"

namespace wf::model {

// Whether it is a StringSplit, a Tokenizer or a StringNormalizer, whose strings tell how many results there are.
bool IsOfTexts(const onnx::Node& node);

// The part that is one of these.
// Bounds: those of the budget and of kernels::Texts; a result has limits.max_bytes.
base::Result<std::unique_ptr<Part>> MakeTextPart(const Program& program, size_t index, const PartLimits& limits);

}  // namespace wf::model
