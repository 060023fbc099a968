#pragma once

#include <cstdint>
#include <string_view>

namespace wf::oip {

// The field of InferTensorContents that holds elements of a datatype; 0 is BYTES. FP16 and BF16 have none.
struct TypedField {
  uint32_t number;
  std::string_view name;
};
TypedField TypedFieldOf(uint8_t dtype);

}  // namespace wf::oip
