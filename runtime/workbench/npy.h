#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/workbench/tensor.h"

namespace wf::workbench {

// NumPy's file of one array, versions 1 to 3: bools, integers and floats of 16 to 64 bits, strings, either byte order, either order of
// axes. Two bytes without a meaning (`|V2`) are what NumPy makes of bf16. `name` stands for the file in messages. Errors: kInvalidArgument
// for bytes that are no such file, kUnimplemented for other elements.   Bounds: memory is at most twice that of the bytes, and 64 bytes for
// each string.
base::Result<Tensor> ReadNpy(std::span<const uint8_t> bytes, const std::string& name);

// Version 1; bf16, which NumPy has not, as f32. Errors: kOutOfRange for strings of which one is so long that all as long are too many
// bytes.
base::Result<std::vector<uint8_t>> WriteNpy(const Tensor& tensor);

}  // namespace wf::workbench
