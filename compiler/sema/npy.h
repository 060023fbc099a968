#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/ir/type.h"
#include "runtime/base/status.h"

namespace wf::sema {

struct NpyArray {
  ir::DType dtype = ir::DType::kNone;
  std::vector<int64_t> dims;
  std::string_view elements;  // of the text that was read
};

// Reads a file of numpy.save: format 1 to 3, row by row, little-endian, numbers and bools. Errors: kInvalidArgument with what is wrong.
// Cost: the header; bools are looked at.
base::Result<NpyArray> ReadNpy(std::string_view content);

}  // namespace wf::sema
