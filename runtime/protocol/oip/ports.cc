#include "runtime/protocol/oip/ports.h"

namespace wf::oip {

std::string_view Datatype(uint8_t dtype) {
  constexpr std::string_view kNames[WF_DTYPE_COUNT] = {"BYTES",  "BOOL",   "INT8",   "INT16", "INT32", "INT64", "UINT8",
                                                       "UINT16", "UINT32", "UINT64", "FP16",  "BF16",  "FP32",  "FP64"};
  return kNames[dtype < WF_DTYPE_COUNT ? dtype : 0];
}

namespace {

// Lists of records, lists and optionals stay JSON.
void UseList(const wf_type& element, Shape* shape) {
  if (element.kind == WF_T_SCALAR) {
    shape->form = Form::kScalars;
    shape->dtype = element.dtype;
    shape->datatype = Datatype(element.dtype);
  } else if (element.kind == WF_T_STRING) {
    shape->form = Form::kStrings;
  } else if (element.kind == WF_T_BYTES) {
    shape->form = Form::kByteses;
  } else {
    return;
  }
  shape->rank = 1;
}

}  // namespace

Shape ShapeOf(const wf_plan& plan, const wf_port& port) {
  Shape shape;
  shape.type = &plan.types[port.type];
  shape.datatype = "BYTES";
  if (shape.type->kind == WF_T_OPTIONAL) {
    shape.optional = true;
    shape.type = &plan.types[shape.type->element];
  }
  switch (shape.type->kind) {
    case WF_T_SCALAR:
    case WF_T_TENSOR:
      shape.form = Form::kTensor;
      shape.dtype = shape.type->dtype;
      shape.rank = shape.type->kind == WF_T_TENSOR ? shape.type->rank : uint8_t{0};
      shape.dim = shape.type->dim;
      shape.datatype = Datatype(shape.dtype);
      break;
    case WF_T_STRING:
      shape.form = Form::kString;
      break;
    case WF_T_BYTES:
      shape.form = Form::kBytes;
      break;
    case WF_T_LIST:
      UseList(plan.types[shape.type->element], &shape);
      break;
    default:
      break;
  }
  return shape;
}

Shape ResultShapeOf(const wf_plan& plan, const wf_port& result) {
  const Shape shape = ShapeOf(plan, result);
  if (!shape.optional) return shape;
  Shape json;
  json.datatype = "BYTES";
  json.type = &plan.types[result.type];
  return json;
}

}  // namespace wf::oip
