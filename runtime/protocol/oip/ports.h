#pragma once

#include <string_view>

#include "runtime/abi/plan.h"

namespace wf::oip {

// How a parameter or result travels.
enum class Form : uint8_t {
  kTensor,   // of a numeric datatype; scalars are tensors of rank 0
  kString,   // one BYTES element
  kBytes,    // one BYTES element, perhaps as base64
  kStrings,  // list<string>: BYTES [n]
  kByteses,  // list<bytes>
  kJson,     // one BYTES element that holds the JSON of the value
};

struct Shape {
  Form form = Form::kJson;
  std::string_view datatype;  // "FP32"
  uint8_t dtype = 0;          // kTensor
  uint8_t rank = 0;           // without the axis of samples
  bool optional = false;
  const wf_type* type = nullptr;  // without `?`
  uint32_t type_index = 0;
  const int64_t* dim = nullptr;  // kTensor
};

Shape ShapeOf(const wf_plan& plan, const wf_port& port);
std::string_view Datatype(uint8_t dtype);  // "FP32"

}  // namespace wf::oip
