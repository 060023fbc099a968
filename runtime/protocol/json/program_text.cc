// std.json: the texts that a program reads and writes itself, by the rules of requests and answers.

#include <algorithm>
#include <cstring>

#include "runtime/base/sink.h"
#include "runtime/protocol/json/reader.h"
#include "runtime/protocol/json/size.h"

namespace {

constexpr uint64_t kPadding = 64;  // readable behind what the reader is given

constexpr uint64_t kLeastText = 64, kMostGuessed = 16 << 10;  // of the first memory of a text

// Null, too, once the job is stopped.
uint8_t* GrowText(void* job, const uint8_t* begin, size_t bytes, size_t more) {
  auto* const ctx = static_cast<wf_ctx*>(job);
  return wf::json::IsStopped(ctx) ? nullptr : static_cast<uint8_t*>(wf_grow(ctx, begin, bytes, more));
}

}  // namespace

extern "C" {

// A copy: what stands behind a text of the program may be another's, or nothing.
wf_code wf_n_json_parse(wf_ctx* ctx, const wf_bytes* text, const wf_type* types, uint32_t type, void* value) noexcept {
  auto* const copy = static_cast<uint8_t*>(wf_alloc(ctx, text->len + kPadding, 1));
  if (copy == nullptr) return WF_FAILED;
  if (text->len != 0) std::memcpy(copy, text->ptr, text->len);
  std::memset(copy + text->len, 0, kPadding);
  wf_json in = {.ctx = ctx, .begin = copy, .at = copy, .end = copy + text->len, .depth = 0, .member = 0, .path = {}};
  return wf_json_value(&in, types, type, value) != 0 ? WF_FAILED : wf_json_close(&in);
}

wf_code wf_n_json_build(wf_ctx* ctx, const void* value, const wf_type* types, uint32_t type, wf_bytes* text) noexcept {
  const uint64_t guessed = std::clamp(wf::json::TextBytes(types, type, value, kMostGuessed), kLeastText, kMostGuessed);
  auto* const memory = static_cast<uint8_t*>(wf_alloc(ctx, guessed, 1));
  if (memory == nullptr) return WF_FAILED;
  wf_sink out({.begin = memory, .bytes = guessed, .grow = GrowText, .owner = ctx});
  if (wf_json_put_value(ctx, &out, types, type, value) != 0) return WF_FAILED;
  *text = wf::json::Bytes(out.Whole());
  return 0;
}

}  // extern "C"
