// Metadata of a request that a program reads as a number or a bool.

#include <cstring>

#include "runtime/base/error_codes.h"
#include "runtime/protocol/json/number.h"
#include "runtime/protocol/json/reader.h"

namespace wf::json {
namespace {

constexpr size_t kMostBytes = 192, kPadding = 64;  // of a number; readable behind it

bool ReadScalar(wf_bytes text, uint32_t dtype, void* out) {
  if (dtype == WF_BOOL) {
    *static_cast<uint8_t*>(out) = View(text) == "true" ? 1 : 0;
    return View(text) == "true" || View(text) == "false";
  }
  if (text.len == 0 || text.len > kMostBytes) return false;
  uint8_t copy[kMostBytes + kPadding] = {};
  std::memcpy(copy, text.ptr, text.len);
  Number number;
  return ScanNumber(copy, copy + text.len, &number) && number.end == copy + text.len && StoreNumber(number, dtype, out) == Stored::kOk;
}

}  // namespace
}  // namespace wf::json

extern "C" wf_code wf_json_meta(wf_ctx* ctx, wf_bytes key, wf_bytes text, uint32_t dtype, void* out) noexcept {
  if (wf::json::ReadScalar(text, dtype, out)) return 0;
  wf::base::TextBuilder message;
  message << "metadata `";
  message.Quote(wf::json::View(key)) << "` is not a value of type " << wf::json::DtypeName(dtype);
  return wf::json::Record(ctx, wf::code::kInputParams, message);
}
