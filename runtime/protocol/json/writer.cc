#include <algorithm>
#include <cstring>

#include "runtime/base/base64.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/json_plain.h"
#include "runtime/base/load.h"
#include "runtime/base/sink.h"
#include "runtime/protocol/json/number.h"
#include "runtime/protocol/json/reader.h"

namespace wf::json {
namespace {

bool Put(wf_sink* out, std::string_view text) { return out->Put(text.data(), text.size()); }

std::string_view NameOf(const wf_sink& out) { return out.is_reply() ? "reply" : "text"; }

wf_code TooLong(wf_ctx* ctx, const wf_sink& out) {
  base::TextBuilder message;
  message << "the " << NameOf(out) << " is larger than the " << static_cast<uint64_t>(wf_sink::kMaxBytes >> 20) << " MiB that a "
          << NameOf(out) << " may be";
  return Record(ctx, code::kMemoryCap, message);
}

// A program's own text lacks memory of its request, and who gives none has recorded why.
wf_code Full(wf_ctx* ctx, const wf_sink& out) {
  if (!out.is_reply() && IsStopped(ctx)) return WF_FAILED;
  if (out.failure() != base::SinkFailure::kNoMemory) return TooLong(ctx, out);
  base::TextBuilder message;
  message << "there is no memory for the " << NameOf(out) << " now: other requests have it, or the system has none";
  return Record(ctx, code::kRefused, message);
}
wf_code Written(wf_ctx* ctx, const wf_sink& out, bool fits) { return fits ? 0 : Full(ctx, out); }

wf_code NotANumber(wf_ctx* ctx, const wf_sink& out, uint32_t dtype) {
  base::TextBuilder message;
  message << "a value of type " << DtypeName(dtype) << " in the " << NameOf(out) << " is NaN or infinite; JSON has no text for it";
  return Record(ctx, code::kInference, message);
}

template <size_t n>
uint8_t* PutMark(const char (&mark)[n], uint8_t* to) {
  std::memcpy(to, mark, n - 1);
  return to + n - 1;
}

// Text that is known to be UTF-8, between literals of a few characters; in one piece where it is short.
template <size_t n_open, size_t n_close>
bool PutEscaped(wf_sink* out, const char (&open)[n_open], std::string_view text, const char (&close)[n_close]) {
  constexpr size_t kChunk = 64, kMarks = n_open + n_close;
  const auto* at = reinterpret_cast<const uint8_t*>(text.data());
  const uint8_t* const end = at + text.size();
  uint8_t* to = out->Reserve(kMarks + base::MostEscapedJson(std::min(kChunk, text.size())));
  if (to == nullptr) return false;
  to = PutMark(open, to);
  while (true) {
    const auto count = std::min(kChunk, static_cast<size_t>(end - at));
    to = base::CopyEscapedJson(at, at + count, to);
    at += count;
    if (at == end) break;
    out->Commit(to);
    to = out->Reserve(kMarks + base::MostEscapedJson(kChunk));
    if (to == nullptr) return false;
  }
  out->Commit(PutMark(close, to));
  return true;
}

// An array takes two brackets, an element a digit and a comma: an extent of 2^62 whose rows are empty is told before it is written.
bool IsLargerThanReply(const wf_tensor& tensor) {
  uint64_t count = 1;
  for (uint32_t axis = 0; axis < tensor.rank; ++axis) {
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(tensor.dim[axis]), &count) || count > wf_sink::kMaxBytes / 2) return true;
  }
  return false;
}

struct TensorWriter {
  wf_ctx* ctx;
  wf_sink* out;
  const wf_tensor& tensor;
  size_t element_bytes;

  wf_code PutAxis(uint32_t axis, const uint8_t* data) {
    if (axis == tensor.rank) return wf_json_put_scalar(ctx, out, tensor.dtype, data);
    if (axis + 1 == tensor.rank) return PutRow(data);
    if (!Put(out, "[")) return Full(ctx, *out);
    for (int64_t i = 0; i < tensor.dim[axis]; ++i) {
      if (i != 0 && !Put(out, ",")) return Full(ctx, *out);
      const wf_code code = PutAxis(axis + 1, data + i * tensor.stride[axis] * static_cast<int64_t>(element_bytes));
      if (code != 0) return code;
    }
    return Written(ctx, *out, Put(out, "]"));
  }

  wf_code PutRow(const uint8_t* data) {
    const int64_t count = tensor.dim[tensor.rank - 1];
    const int64_t step = tensor.stride[tensor.rank - 1] * static_cast<int64_t>(element_bytes);
    if (!Put(out, "[")) return Full(ctx, *out);
    for (int64_t i = 0; i < count; ++i) {
      auto* at = reinterpret_cast<char*>(out->Reserve(kMaxElementText + 1));
      if (at == nullptr) return Full(ctx, *out);
      if (i != 0) *at++ = ',';
      at = PrintElement(tensor.dtype, data + i * step, at);
      if (at == nullptr) return NotANumber(ctx, *out, tensor.dtype);
      out->Commit(reinterpret_cast<uint8_t*>(at));
    }
    return Written(ctx, *out, Put(out, "]"));
  }
};

wf_code PutRecord(wf_ctx* ctx, wf_sink* out, const wf_type* types, const wf_type& type, const uint8_t* value) {
  if (!Put(out, "{")) return Full(ctx, *out);
  for (uint32_t i = 0; i < type.n_fields; ++i) {
    const wf_field& field = type.fields[i];
    if (!Put(out, View(field.text).substr(i == 0 ? 1 : 0))) return Full(ctx, *out);
    const wf_code code = wf_json_put_value(ctx, out, types, field.type, value + field.offset);
    if (code != 0) return code;
  }
  return Written(ctx, *out, Put(out, "}"));
}

wf_code PutSequence(wf_ctx* ctx, wf_sink* out, const wf_type* types, const wf_type& type, const wf_list& list) {
  const bool map = type.kind == WF_T_MAP;
  const size_t step = map ? type.map_entry_size : types[type.element].size;
  const auto* at = static_cast<const uint8_t*>(list.ptr);
  if (!Put(out, map ? "{" : "[")) return Full(ctx, *out);
  for (uint64_t i = 0; i < list.len; ++i, at += step) {
    if (i != 0 && !Put(out, ",")) return Full(ctx, *out);
    if (map) {
      wf_bytes key;
      std::memcpy(&key, at, sizeof key);
      if (!PutString(out, View(key)) || !Put(out, ":")) return Full(ctx, *out);
    }
    const wf_code code = wf_json_put_value(ctx, out, types, type.element, map ? at + type.map_value_offset : at);
    if (code != 0) return code;
  }
  return Written(ctx, *out, Put(out, map ? "}" : "]"));
}

// What one hole of an interpolation prints.
std::string_view HoleText(const wf_type& type, const void* value, char (&number)[kMaxElementText]) {
  if (type.kind == WF_T_STRING) return View(base::Load<wf_bytes>(value));
  if (type.kind != WF_T_SCALAR) return "?";
  return {number, static_cast<size_t>(PrintElementText(type.dtype, value, number) - number)};
}

// Calls `piece` for each stretch of the result, in order.
template <typename Piece>
void WalkFormat(std::string_view format, const wf_type* const* types, const void* const* args, Piece&& piece) {
  size_t arg = 0, from = 0;
  for (size_t hole = format.find("{}"); hole != std::string_view::npos; hole = format.find("{}", from)) {
    piece(format.substr(from, hole - from));
    char number[kMaxElementText];
    piece(HoleText(*types[arg], args[arg], number));
    ++arg;
    from = hole + 2;
  }
  piece(format.substr(from));
}

}  // namespace

bool PutBase64(wf_sink* out, const uint8_t* bytes, uint64_t count) {
  constexpr uint64_t kPerTurn = 3'000;  // 4,000 characters, under wf_sink::kMaxReserve
  while (count != 0) {
    const uint64_t turn = std::min(count, kPerTurn);
    uint8_t* at = out->Reserve(base::Base64Bytes(turn));
    if (at == nullptr) return false;
    out->Commit(base::EncodeBase64(bytes, turn, at));
    bytes += turn;
    count -= turn;
  }
  return true;
}

bool PutString(wf_sink* out, std::string_view text) {
  const auto* at = reinterpret_cast<const uint8_t*>(text.data());
  const uint8_t* const end = at + text.size();
  const auto until = [&at](const uint8_t* stop) {
    return std::string_view(reinterpret_cast<const char*>(at), static_cast<size_t>(stop - at));
  };
  const uint8_t* bad = base::FindBadUtf8(at, end);
  if (bad == end) return PutEscaped(out, "\"", text, "\"");
  if (!Put(out, "\"")) return false;
  for (; bad < end; bad = base::FindBadUtf8(at, end)) {
    if (!PutEscaped(out, "", until(bad), "\xef\xbf\xbd")) return false;
    at = bad + 1;
  }
  return PutEscaped(out, "", until(end), "\"");
}

}  // namespace wf::json

extern "C" {

wf_code wf_text(wf_ctx* ctx, wf_bytes format, const wf_type* const* types, const void* const* args, wf_bytes* text) noexcept {
  std::string_view rest = wf::json::View(format);
  wf_bytes first{};
  if (rest.starts_with("{}") && types[0]->kind == WF_T_STRING) {  // a text that grows
    first = wf::base::Load<wf_bytes>(args[0]);
    rest.remove_prefix(2);
    ++types;
    ++args;
  }
  uint64_t size = first.len;
  wf::json::WalkFormat(rest, types, args, [&size](std::string_view piece) { size += piece.size(); });
  auto* out = static_cast<uint8_t*>(first.len == 0 ? wf_alloc(ctx, size + 64, 1) : wf_grow(ctx, first.ptr, first.len, size));
  if (out == nullptr) return WF_FAILED;
  uint8_t* at = out + first.len;
  wf::json::WalkFormat(rest, types, args, [&at](std::string_view piece) {
    if (!piece.empty()) std::memcpy(at, piece.data(), piece.size());
    at += piece.size();
  });
  *text = {out, size};
  return 0;
}

wf_code wf_put(wf_sink* out, wf_bytes text) noexcept {
  if (out->Put(text.ptr, text.len)) return 0;
  return out->failure() == wf::base::SinkFailure::kNoMemory ? wf::code::kRefused : wf::code::kMemoryCap;
}

wf_code wf_json_put_scalar(wf_ctx* ctx, wf_sink* out, uint32_t dtype, const void* value) noexcept {
  auto* at = reinterpret_cast<char*>(out->Reserve(wf::json::kMaxElementText));
  if (at == nullptr) return wf::json::Full(ctx, *out);
  char* end = wf::json::PrintElement(dtype, value, at);
  if (end == nullptr) return wf::json::NotANumber(ctx, *out, dtype);
  out->Commit(reinterpret_cast<uint8_t*>(end));
  return 0;
}

wf_code wf_json_put_string(wf_ctx* ctx, wf_sink* out, const wf_bytes* text) noexcept {
  return wf::json::Written(ctx, *out, wf::json::PutEscaped(out, "\"", wf::json::View(*text), "\""));
}

wf_code wf_json_put_bytes(wf_ctx* ctx, wf_sink* out, const wf_bytes* bytes) noexcept {
  using wf::json::Put;
  return wf::json::Written(ctx, *out, Put(out, "{\"b64\":\"") && wf::json::PutBase64(out, bytes->ptr, bytes->len) && Put(out, "\"}"));
}

wf_code wf_json_put_tensor(wf_ctx* ctx, wf_sink* out, const wf_tensor* tensor) noexcept {
  if (wf::json::IsLargerThanReply(*tensor)) return wf::json::TooLong(ctx, *out);
  wf::json::TensorWriter writer{ctx, out, *tensor, wf::json::DtypeBytes(tensor->dtype)};
  return writer.PutAxis(0, static_cast<const uint8_t*>(tensor->data));
}

wf_code wf_json_put_value(wf_ctx* ctx, wf_sink* out, const wf_type* types, uint32_t index, const void* value) noexcept {
  using namespace wf::json;
  const wf_type& type = types[index];
  const auto* bytes = static_cast<const uint8_t*>(value);
  switch (type.kind) {
    case WF_T_SCALAR:
      return wf_json_put_scalar(ctx, out, type.dtype, value);
    case WF_T_STRING:
      return wf_json_put_string(ctx, out, static_cast<const wf_bytes*>(value));
    case WF_T_BYTES:
      return wf_json_put_bytes(ctx, out, static_cast<const wf_bytes*>(value));
    case WF_T_TENSOR:
      return wf_json_put_tensor(ctx, out, static_cast<const wf_tensor*>(value));
    case WF_T_RECORD:
      return PutRecord(ctx, out, types, type, bytes);
    case WF_T_LIST:
    case WF_T_MAP:
      return PutSequence(ctx, out, types, type, wf::base::Load<wf_list>(value));
    case WF_T_OPTIONAL:
      if (bytes[type.has_offset] == 0) return Written(ctx, *out, Put(out, "null"));
      return wf_json_put_value(ctx, out, types, type.element, value);
    default:
      return Written(ctx, *out, Put(out, "null"));
  }
}

}  // extern "C"
