#include <charconv>
#include <cmath>
#include <cstring>

#include "runtime/base/half.h"
#include "runtime/base/load.h"
#include "runtime/protocol/json/number.h"

namespace wf::json {
namespace {

char* PutLiteral(char* at, const char* text) {
  const size_t count = std::strlen(text);
  std::memcpy(at, text, count);
  return at + count;
}

template <typename T>
char* PutInteger(char* at, const void* element) {
  return std::to_chars(at, at + kMaxElementText, base::Load<T>(element)).ptr;
}

template <typename T>
char* PutFloat(char* at, T value) {
  return std::isfinite(value) ? base::PutFloat(at, value) : nullptr;
}

template <typename T>
char* PutNarrow(char* at, const void* element, T (*value)(uint16_t), char* (*put)(char*, uint16_t)) {
  const auto bits = base::Load<uint16_t>(element);
  return std::isfinite(value(bits)) ? put(at, bits) : nullptr;
}

}  // namespace

char* PrintElement(uint32_t dtype, const void* element, char* at) {
  switch (dtype) {
    case WF_BOOL:
      return PutLiteral(at, base::Load<uint8_t>(element) != 0 ? "true" : "false");
    case WF_I8:
      return PutInteger<int8_t>(at, element);
    case WF_I16:
      return PutInteger<int16_t>(at, element);
    case WF_I32:
      return PutInteger<int32_t>(at, element);
    case WF_I64:
      return PutInteger<int64_t>(at, element);
    case WF_U8:
      return PutInteger<uint8_t>(at, element);
    case WF_U16:
      return PutInteger<uint16_t>(at, element);
    case WF_U32:
      return PutInteger<uint32_t>(at, element);
    case WF_U64:
      return PutInteger<uint64_t>(at, element);
    case WF_F16:
      return PutNarrow(at, element, base::DoubleFromHalf, base::PutHalf);
    case WF_BF16:
      return PutNarrow(at, element, base::FloatFromBfloat, base::PutBfloat);
    case WF_F32:
      return PutFloat(at, base::Load<float>(element));
    case WF_F64:
      return PutFloat(at, base::Load<double>(element));
    default:
      return PutLiteral(at, "null");
  }
}

char* PrintElementText(uint32_t dtype, const void* element, char* at) {
  if (char* end = PrintElement(dtype, element, at)) return end;
  double value = 0;
  switch (dtype) {
    case WF_F16:
      value = base::DoubleFromHalf(base::Load<uint16_t>(element));
      break;
    case WF_BF16:
      value = base::FloatFromBfloat(base::Load<uint16_t>(element));
      break;
    case WF_F32:
      value = base::Load<float>(element);
      break;
    default:
      value = base::Load<double>(element);
      break;
  }
  if (std::isnan(value)) return PutLiteral(at, "nan");
  return PutLiteral(at, value < 0 ? "-inf" : "inf");
}

}  // namespace wf::json
