#pragma once

#include <span>
#include <string_view>

#include "runtime/abi/defaults.h"
#include "runtime/abi/plan.h"
#include "runtime/abi/view.h"
#include "runtime/base/text.h"
#include "runtime/protocol/json/number.h"

// What the files of this folder share; protocols use it to read what no port table describes.
namespace wf::json {

inline constexpr uint32_t kMaxDepth = 32;  // of objects and arrays in which the reader keeps its place, a bit each
static_assert(abi::kValueLevels + 3 < kMaxDepth, "a value may stand in the body's object, or in an input and a sample");
inline constexpr uint32_t kPathLevels = sizeof(wf_json::path) / sizeof(wf_bytes);
inline constexpr uint32_t kMaxSkippedDepth = 64;  // of a value that nobody reads

using abi::View;
inline wf_bytes Bytes(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

inline bool IsSpace(uint8_t c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
inline void SkipSpace(wf_json* in) {
  while (in->at < in->end && IsSpace(*in->at)) ++in->at;
}
// The next byte that is not white space, 0 at the end.
inline uint8_t Peek(wf_json* in) {
  SkipSpace(in);
  return in->at < in->end ? *in->at : 0;
}
inline bool Take(wf_json* in, uint8_t byte) {
  if (Peek(in) != byte || in->at == in->end) return false;
  ++in->at;
  return true;
}

// "`lines[3].text`: " of the place where the cursor stands, or of the element `index` of a tensor there; levels >= `depth` are left out.
void PutPath(const wf_json* in, uint32_t depth, base::TextBuilder* message, std::span<const int64_t> index = {});
void PutFound(wf_json* in, base::TextBuilder* message);  // what stands where reading is, in a word
// ", at byte 12" of the text that the client sent; nothing where `begin` is null, because what is read stands there in another form.
void PutPlace(const wf_json* in, const uint8_t* place, base::TextBuilder* message);
// Why a number of the text is none of this dtype.
void PutUnfit(const Number& number, uint32_t dtype, Stored why, base::TextBuilder* message);
// Records kInputParams with path, what was found and the byte; returns WF_FAILED.
wf_code Expected(wf_json* in, std::string_view what);
// The same where a number may stand: one that is written wrongly is told how.
wf_code ExpectedNumber(wf_json* in, std::string_view what);
// Records kInputParams with path and byte for anything else; returns WF_FAILED.
wf_code Refuse(wf_json* in, std::string_view what);
wf_code Record(wf_ctx* ctx, wf_code code, const base::TextBuilder& message);
// Whether the job that a program's text is of is told to end.
inline bool IsStopped(const wf_ctx* ctx) { return __atomic_load_n(ctx->stop, __ATOMIC_RELAXED) != 0; }

// Arrays, as wf_json_object and wf_json_member for objects: enter, then Next until 0.
wf_code EnterArray(wf_json* in);
int32_t NextElement(wf_json* in, uint64_t index);

// One token or value that nobody reads; checks its grammar without recursion.
wf_code SkipValue(wf_json* in);
bool TakeWord(wf_json* in, std::string_view word);  // true, false, null
bool TakeNull(wf_json* in);

// What a text of elements has to be: nested arrays exactly as `extents` say, or one flat array of `count`, their product.
struct ShapedText {
  std::span<const int64_t> extents;
  uint64_t count = 0;
  uint8_t* nulls = nullptr;  // an element may be `null`: it is zero, and its byte here 1. Null: none may
};

// Copies numbers in row-major order into `out`, which has room for them.
wf_code ReadShaped(wf_json* in, uint32_t dtype, const ShapedText& text, void* out);
// The same for strings (BYTES): views of the text or of the job's memory.
wf_code ReadShapedStrings(wf_json* in, const ShapedText& text, wf_bytes* out);

// Writes a text as a JSON string; what is not UTF-8 becomes U+FFFD.
bool PutString(wf_sink* out, std::string_view text);
bool PutBase64(wf_sink* out, const uint8_t* bytes, uint64_t count);

}  // namespace wf::json
