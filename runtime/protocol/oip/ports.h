#pragma once

#include <string_view>

#include "runtime/abi/plan.h"

namespace wf::oip {

// How a parameter or result travels.
enum class Form : uint8_t {
  kTensor,   // of a numeric datatype; scalars are tensors of rank 0
  kScalars,  // list of scalars: a numeric datatype, [n]
  kString,   // one BYTES element
  kBytes,    // one BYTES element, perhaps as base64
  kStrings,  // list<string>: BYTES [n]
  kByteses,  // list<bytes>
  kJson,     // one BYTES element that holds the JSON of the value
};

struct Shape {
  Form form = Form::kJson;
  std::string_view datatype;  // "FP32"
  uint8_t dtype = 0;          // of numeric datatypes
  uint8_t rank = 0;           // without the axis of samples
  bool optional = false;
  const wf_type* type = nullptr;  // without `?`
  const int64_t* dim = nullptr;   // kTensor; null: all free

  bool is_one() const { return dtype != 0 ? type->kind == WF_T_SCALAR : form == Form::kString || form == Form::kBytes; }
  bool raw_only() const { return dtype == WF_F16 || dtype == WF_BF16; }  // the protocol has no JSON text for it
};

Shape ShapeOf(const wf_plan& plan, const wf_port& parameter);
// An optional result may be absent, which no tensor can say: it travels as JSON.
Shape ResultShapeOf(const wf_plan& plan, const wf_port& result);
std::string_view Datatype(uint8_t dtype);  // "FP32"

}  // namespace wf::oip
