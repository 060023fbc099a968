#include <algorithm>
#include <cmath>

#include "compiler/interface/describe.h"
#include "compiler/ir/scalar.h"
#include "runtime/base/base64.h"
#include "runtime/base/json_text.h"

namespace wf::interface {
namespace {

std::string ScalarJson(ir::DType dtype, uint64_t bits) {
  if (ir::IsFloat(dtype) && !std::isfinite(ir::F64Of(ir::ConvertScalar(dtype, ir::DType::kF64, bits)))) return "";
  return ir::ScalarText(dtype, bits);
}

std::string Base64(std::string_view bytes) {
  std::string text(base::Base64Bytes(bytes.size()), '\0');
  base::EncodeBase64(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), reinterpret_cast<uint8_t*>(text.data()));
  return text;
}

// Nested arrays; `at` counts elements.
std::string TensorJson(ir::DType dtype, const ir::Value& value, size_t axis, size_t* at) {
  if (axis == value.dims.size()) {
    const size_t bytes = ir::SizeOf(dtype);
    uint64_t bits = 0;
    value.text->copy(reinterpret_cast<char*>(&bits), bytes, bytes * (*at)++);
    return ScalarJson(dtype, bits);
  }
  std::string text = "[";
  for (int64_t i = 0; i < value.dims[axis]; ++i) {
    const std::string element = TensorJson(dtype, value, axis + 1, at);
    if (element.empty()) return "";
    text += (i == 0 ? "" : ",") + element;
  }
  return text + "]";
}

}  // namespace

std::string JsonOf(sema::TypeRef type, const ir::Value& value) {
  const auto inside = [&](sema::TypeRef element, size_t i) { return JsonOf(element, (*value.items)[i]); };
  const size_t count = value.items ? value.items->size() : 0;
  switch (type->kind) {
    case sema::TypeKind::kScalar:
      return ScalarJson(type->dtype, value.bits);
    case sema::TypeKind::kString:
      return base::QuoteJson(value.text ? *value.text : "");
    case sema::TypeKind::kBytes:
      return R"({"b64":")" + (value.text ? Base64(*value.text) : "") + R"("})";
    case sema::TypeKind::kTensor: {
      size_t at = 0;
      return TensorJson(type->dtype, value, 0, &at);
    }
    case sema::TypeKind::kOptional:
      return value.bits != 0 ? inside(type->element, 0) : "null";
    case sema::TypeKind::kRecord:
    case sema::TypeKind::kMap:
    case sema::TypeKind::kList: {
      const bool list = type->kind == sema::TypeKind::kList, map = type->kind == sema::TypeKind::kMap;
      std::string text;
      for (size_t i = 0; i < count; ++i) {
        const std::string element = inside(list || map ? type->element : type->fields[i].type, i);
        if (element.empty()) return "";
        const std::string name = list ? "" : base::QuoteJson(map ? (*value.keys)[i] : type->fields[i].name) + ":";
        text += (i == 0 ? "" : ",") + name + element;
      }
      return list ? "[" + text + "]" : "{" + text + "}";
    }
    case sema::TypeKind::kError:
    case sema::TypeKind::kNever:
    case sema::TypeKind::kNone:
    case sema::TypeKind::kVariable:
      break;
  }
  return "";
}

}  // namespace wf::interface
